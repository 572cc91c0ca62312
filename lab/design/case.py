"""One combination of levels: a design point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lab.design.factors import ABSENT, BY_CLIENT, COLUMNS, DEFAULT, LOCAL, OPTIONS, Direction, Level, owner_of

# Of a sweep, and of a run that is looked at: hours a block, and all are compared with one another
MOST_CASES = 1000
MOST_LEVELS = 100  # of one factor
MOST_VARIED = 20  # factors with more than one level
NAMES_OF = "names of "  # in front of a workload of whose files only the names move
MOST_PAIRED_LEVELS = 1100  # combinations of two levels of two factors: with all of these, there are MOST_CASES at most


def is_of_names(workload: str) -> bool:
    """Whether only the names of files move in trials of a workload of this name."""
    return workload.startswith(NAMES_OF)


@dataclass(frozen=True)
class Case:
    """One combination of levels. ``tcp_space`` is in bytes, or ``default`` for leaving the hosts as they are."""

    protocol: str
    tool: str
    direction: Direction
    mtu: int
    tcp_space: int | str
    store: str
    workload: str
    size_bytes: int
    options: tuple[tuple[str, str], ...] = tuple(OPTIONS.items())
    files: int = 1

    @classmethod
    def of(cls, levels: Mapping[str, Level], workload: str, size_bytes: int, files: int = 1) -> Case:
        """The case with these levels of all factors, by name: those without a column are its options.

        The payload of each client has so many bytes in so many files.
        """
        columns: dict[str, Any] = {name: levels[name] for name in COLUMNS}
        options = tuple((name, str(level)) for name, level in levels.items() if name not in columns)
        return cls(**columns, workload=workload, size_bytes=size_bytes, options=options, files=files)

    @property
    def case_id(self) -> str:
        """A readable name, the same in every run."""
        plain = f"{self.protocol}-{self.tool}-{self.direction}-{self.store}-mtu{self.mtu}-tcp{self.tcp_space}"
        return "-".join([plain, *(f"{name}={level}" for name, level in self.unusual.items())])

    @property
    def clients(self) -> int:
        """How many clients move this payload at the same time, each its own."""
        return int(dict(self.options).get("clients", "1"))

    @property
    def is_laid_by_client(self) -> bool:
        """Whether what a client reads is written by a client before, through its mount."""
        return self.option("read_from") in BY_CLIENT

    @property
    def is_of_names(self) -> bool:
        """Whether only the names of files move, and nothing that is in them."""
        return is_of_names(self.workload)

    @property
    def payload_direction(self) -> Direction:
        """Which way the payload goes. Names are a list on the client, so they go to the server whatever is timed."""
        return Direction.WRITE if self.is_of_names else self.direction

    @property
    def is_local(self) -> bool:
        """Whether it is of a store by itself, without a share."""
        return self.protocol == LOCAL

    @property
    def unusual(self) -> dict[str, str]:
        """The options that are at another level than where a sweep does not say."""
        return {name: level for name, level in self.options if level != OPTIONS.get(name, DEFAULT)}

    def level(self, name: str) -> Level:
        """The level of a factor; ABSENT for an option that this case does not have."""
        level: Level = getattr(self, name) if name in COLUMNS else self.option(name)
        return level

    def option(self, name: str) -> str:
        """The level of one of OPTIONS, or of an option of a mount, tool or store; ABSENT for one that it has not."""
        return dict(self.options).get(name, ABSENT)

    def with_option(self, name: str, level: str) -> Case:
        """The same case with another level of one of its options."""
        return replace(self, options=tuple((dict(self.options) | {name: level}).items()))

    @property
    def mount_options(self) -> dict[str, str]:
        """The options of the protocol's mount that are not left to client and server, by their names there."""
        return self._options_of(self.protocol)

    @property
    def tool_options(self) -> dict[str, str]:
        """The options of the tool that are not left to it, by their names there."""
        return self._options_of(self.tool)

    @property
    def store_options(self) -> dict[str, str]:
        """The options of the store that are not left to it, by their names there."""
        return self._options_of(self.store)

    def _options_of(self, owner: str) -> dict[str, str]:
        own = ((name.partition(".")[2], level) for name, level in self.options if owner_of(name) == owner)
        return {name: level for name, level in own if level != DEFAULT}
