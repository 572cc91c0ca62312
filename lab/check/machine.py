"""One host as the check sees it: connected, its platform known, its facts read as far as they can be."""

from dataclasses import dataclass

from lab.hosts import Host
from lab.hosts.host_config import HostConfig
from lab.platforms import Facts, Platform
from lab.protocols import Side
from lab.run.case.pair import at_home


@dataclass(frozen=True)
class Machine:
    """A connected host. ``facts`` is None where they cannot be read, which is a finding of its own.

    ``no_root`` holds once root commands have failed: another wrong password may lock the account.
    """

    role: str
    config: HostConfig
    host: Host
    platform: Platform
    facts: Facts | None
    no_root: bool = False

    @property
    def side(self) -> Side:
        """The host as a driver needs to know it. The folder is one that a run might have: there is none yet."""
        user, home = (self.facts.user, self.facts.home) if self.facts else ("", "/")
        base = at_home(self.config.mount_base or "/var/lib/file-share-lab", home)
        folder = f"{base.rstrip('/')}/file-share-lab-0123456789abcdef"
        platform = self.platform
        return Side(self.host, platform.name, self.config.data_address, folder, user, platform.network.listening)
