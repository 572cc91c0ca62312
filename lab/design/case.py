"""One combination of levels: a design point."""

from __future__ import annotations

from dataclasses import dataclass

from lab.design.factors import ABSENT, DEFAULT, OPTIONS, protocol_of


@dataclass(frozen=True)
class Case:
    """One combination of levels. ``tcp_space`` is in bytes, or ``default`` for leaving the hosts as they are."""

    protocol: str
    tool: str
    direction: str
    mtu: int
    tcp_space: int | str
    store: str
    workload: str
    size_bytes: int
    options: tuple[tuple[str, str], ...] = tuple(OPTIONS.items())

    @property
    def case_id(self) -> str:
        """A readable name, the same in every run."""
        plain = f"{self.protocol}-{self.tool}-{self.direction}-{self.store}-mtu{self.mtu}-tcp{self.tcp_space}"
        return "-".join([plain, *(f"{name}={level}" for name, level in self.unusual.items())])

    @property
    def unusual(self) -> dict[str, str]:
        """The options that are at another level than where a sweep does not say."""
        return {name: level for name, level in self.options if level != OPTIONS.get(name, DEFAULT)}

    def option(self, name: str) -> str:
        """The level of one of OPTIONS, or of an option of a mount; ABSENT for one that this case has not."""
        return dict(self.options).get(name, ABSENT)

    @property
    def mount_options(self) -> dict[str, str]:
        """What the client is to be told of the mount: the options of the protocol, by their names there."""
        told = ((name.partition(".")[2], level) for name, level in self.options if protocol_of(name))
        return {name: level for name, level in told if level != DEFAULT}
