"""A background process on a host as a setting: started, proven ready, ended with all its children."""

from __future__ import annotations

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.processes import ANY_OF, IS_ALIVE
from lab.settings.setting import Setting

IS_RUNNING = IS_ALIVE + ANY_OF + read_script(__file__, "background_is_running.sh")
LEAD = read_script(__file__, "background_lead.pl")
START = read_script(__file__, "background_start.sh")
STOP = ANY_OF + read_script(__file__, "background_stop.sh")


def background_process(
    host: str, name: str, argv: tuple[str, ...], directory: str, ready: str = "true", root: bool = True
) -> Setting:
    """The setting of a process that runs in the background from here on.

    ``argv`` must stay in the foreground; it becomes the leader of a process group, and the whole group is ended.
    ``ready`` is a shell test that holds once it serves; nothing of it may come from elsewhere than the lab.
    ``directory`` takes the log and the file that identifies the process (not NAME.pid: some servers keep one of their
    own by that name).
    """
    identity, log = f"{directory}/{name}.process", f"{directory}/{name}.log"

    def undo(_: str) -> tuple[Command, ...]:
        return (script(STOP, identity, root=root),)

    return Setting(
        host=host,
        name=f"process {name}",
        read=script(IS_RUNNING, identity, root=root),
        wanted="running",
        apply=(script(START, identity, log, ready, LEAD, *argv, root=root),),
        undo=undo,
    )
