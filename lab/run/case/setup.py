"""What stands on the hosts for a case, as one of its clients has it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.hosts import Role
from lab.protocols import Attached, Share
from lab.run.case.made_store import MadeStore
from lab.run.case.sharing import Mount, Served


@dataclass(frozen=True)
class Setup:
    """What stands for a case, until the next one is stood up, as one of its clients has it.

    ``folder`` is where its files are on the server. ``used`` says that the mount served an earlier case already.
    ``ram_disks`` say what the RAM disk of server and client is, in words; ``store`` is the file system that was made
    for the case.
    """

    share: Share
    folder: str
    served: Served
    mount: Mount
    used: bool
    ram_disks: Mapping[Role, str]
    store: MadeStore | None = None

    @property
    def attached(self) -> Attached:
        """The share as the client sees it."""
        return self.mount.attached
