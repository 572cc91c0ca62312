"""One host as the check sees it: connected, its platform known, its facts read as far as they can be."""

from __future__ import annotations

from dataclasses import dataclass

from lab.config import HostConfig
from lab.hosts import Host
from lab.platforms import Facts, Platform
from lab.protocols import Side


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
        """The host as a dialect needs to know it; it has no folder of the lab's own yet."""
        user = self.facts.user if self.facts else ""
        return Side(self.host, self.platform.name, self.config.data_address, "", user)
