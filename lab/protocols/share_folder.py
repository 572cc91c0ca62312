"""The folder of a run in a share that was there before, made and removed through the client's mount."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnFolder

SOURCE = read_script(__file__, "share_folder.sh")
# $1 the folder. In no list of processes before it is there: its name comes from standard input
MAKE = 'path=$(cat) && umask 077 && { mkdir "$path" || { [ "$1" = again ] && [ -O "$path" ]; }; }'
READ_SOURCE = SOURCE + 'source_of "$1"'
FIXED_MODE = SOURCE + 'fixed_mode "$1" "$(cat)"'
STATE = SOURCE + 'state "$1" "$2" "$3"'
OUT_OF_REACH = SOURCE + 'is_there "$1" "$2" || echo yes'
REMOVE = SOURCE + 'remove "$1" "$2" "$3"'


@dataclass(frozen=True)
class ShareFolder(Operation):
    """The run's folder in a share, removed with its content as long as the same share is mounted there.

    If a mount of the lab's own is gone, the folder is out of reach for good; another mount may come back.
    """

    kind = "share-folder"
    label_format = "folder {path} in the share"
    values = "absent|present|unmounted"
    volatile = False
    stands_alone = True
    is_private = True
    if_it_hangs = "the share does not answer: once its server is back, or it is mounted again, `lab restore`"

    path: OwnFolder
    """Where it is on the client."""
    source: Annotated[str, Field(pattern=r"^[ -~]{0,500}$")]
    """What is mounted there, as df names it."""
    of_lab: bool
    """Whether the mount is the lab's own."""

    @property
    def may_stay(self) -> str:
        return f"the folder {self.path.rpartition('/')[2]} could not be removed and stays in the share: remove it there"

    def read(self) -> Command:
        return script(STATE, self.path, self.source, self._mounted_by, deadline_s=10)  # of a dead server it hangs

    def is_out_of_reach(self, host: Host) -> bool:
        """Whether the lab's own mount, through which alone it can be removed, is gone. Raises HostError."""
        return self.of_lab and script(OUT_OF_REACH, self.path, self.source, deadline_s=10).run(host) == "yes"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.path, self.source, self._mounted_by, deadline_s=120),)

    @property
    def _mounted_by(self) -> str:
        return "lab" if self.of_lab else "others"


def share_folder(role: str, path: str, source: str, of_lab: bool, again: bool = False) -> Setting:
    """Create a folder at ``path``, an unguessable name; with ``again`` it may exist from a mount before."""
    remedy = "can this account write into the share?"
    make = script(MAKE, "again" if again else "anew", given=path)
    return Setting(role, ShareFolder(path, source, of_lab), "present", (make,), remedy, before="absent")
