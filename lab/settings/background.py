"""A background process on a host as a setting: started, checked for readiness, ended with all its children."""

from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.processes import ANY_OF, IS_ALIVE
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnPath, ProcessName

IS_RUNNING = IS_ALIVE + ANY_OF + read_script(__file__, "background_is_running.sh")
LEAD = read_script(__file__, "background_lead.pl")
START = read_script(__file__, "background_start.sh")
RUNNING = "running"  # printed by IS_RUNNING
STOP = IS_ALIVE + ANY_OF + read_script(__file__, "background_stop.sh")


@dataclass(frozen=True)
class Process(Operation):
    """A background process, which is ended with all its children."""

    kind = "process"
    label_format = "process {process}"
    is_private = True
    values = "absent|remains|running"

    directory: OwnPath
    """The folder that has its log, and the file with its number and when it started."""
    process: ProcessName
    """What these files are called."""
    root: bool
    """Whether root started it."""

    @property
    def identity(self) -> str:
        """The file that identifies it; not NAME.pid: some servers keep one of their own by that name."""
        return f"{self.directory}/{self.process}.process"

    def read(self) -> Command:
        return script(IS_RUNNING, self.identity, root=self.root)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(STOP, self.identity, root=self.root),)


def background_process(
    host: str, name: str, argv: tuple[str, ...], directory: str, ready: str = "true", root: bool = True
) -> Setting:
    """The setting of a process in the background.

    ``argv`` must stay in the foreground; its whole process group is ended. ``ready`` is a shell test for readiness, of
    the lab's own words only. The lab's ``directory`` gets the log and the file that identifies the process.
    """
    process = Process(directory, name, root)
    start = script(START, process.identity, f"{directory}/{name}.log", ready, LEAD, *argv, root=root)
    return Setting(host, process, RUNNING, (start,))
