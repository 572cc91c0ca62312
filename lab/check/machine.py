"""A host as the check sees it: connected, with its platform, and its facts if they can be read."""

from dataclasses import dataclass

from lab.base.addresses import seen_from
from lab.base.errors import LabFailure
from lab.hosts import Host
from lab.hosts.host_config import HostConfig
from lab.platforms import Facts, Platform
from lab.protocols import Side
from lab.run.case.pair import at_home


@dataclass(frozen=True)
class Machine:
    """A connected host. ``facts`` is None if they cannot be read; ``watched`` says why a run changes nothing there.

    With ``no_root`` no more root commands are tried, because another wrong password may lock the account.
    """

    role: str
    config: HostConfig
    host: Host
    platform: Platform
    facts: Facts | None
    no_root: bool = False
    watched: LabFailure | None = None

    def way_to(self, address: str) -> str:
        """The address of another host as this one reaches it."""
        return seen_from(self.platform.network.own_address(self.config.data_address), address)

    @property
    def side(self) -> Side:
        """The host for a driver. Its folder is made up, because only a run has one."""
        user, home = (self.facts.user, self.facts.home) if self.facts else ("", "/")
        base = at_home(self.config.mount_base or "/var/lib/file-share-lab", home)
        folder = f"{base.rstrip('/')}/file-share-lab-0123456789abcdef"
        platform = self.platform
        return Side(self.host, platform.name, self.config.data_address, folder, user, platform.network.listening)
