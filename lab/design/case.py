"""One combination of levels: a design point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lab.design.factors import ABSENT, BY_CLIENT, COLUMNS, DEFAULT, LOCAL, OPTIONS, Direction, Level, owner_of

MOST_CASES = 1000  # of a sweep or a run: a block takes hours, and all cases are compared
MOST_LEVELS = 100  # of one factor
MOST_VARIED = 20  # factors with more than one level
NAMES_OF = "names of "  # the beginning of a workload that moves only names of files
MOST_PAIRED_LEVELS = 1100  # combinations of levels of two factors; all give at most MOST_CASES


def is_of_names(workload: str) -> bool:
    """Whether this workload moves only names of files."""
    return workload.startswith(NAMES_OF)


@dataclass(frozen=True)
class Case:
    """One combination of levels. ``tcp_space`` is in bytes; ``default`` leaves the hosts as they are."""

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
        """The case with these levels of all factors, and the size and files of each client's payload."""
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
        """How many clients move a payload at the same time, each its own."""
        return int(dict(self.options).get("clients", "1"))

    @property
    def is_laid_by_client(self) -> bool:
        """Whether a client wrote what a client reads, through its mount."""
        return self.option("read_from") in BY_CLIENT

    @property
    def is_of_names(self) -> bool:
        """Whether it moves only names of files."""
        return is_of_names(self.workload)

    @property
    def payload_direction(self) -> Direction:
        """The direction of the payload. Names always come from a list on the client."""
        return Direction.WRITE if self.is_of_names else self.direction

    @property
    def is_local(self) -> bool:
        """Whether it measures a store by itself, without a share."""
        return self.protocol == LOCAL

    @property
    def unusual(self) -> dict[str, str]:
        """The options that are not at the level that holds if a sweep does not name them."""
        return {name: level for name, level in self.options if level != OPTIONS.get(name, DEFAULT)}

    def level(self, name: str) -> Level:
        """The level of a factor; ABSENT for an option of another protocol, tool or store."""
        level: Level = getattr(self, name) if name in COLUMNS else self.option(name)
        return level

    def option(self, name: str) -> str:
        """The level of one of OPTIONS, or of an option of a mount, tool or store; ABSENT if the case lacks it."""
        return dict(self.options).get(name, ABSENT)

    def with_option(self, name: str, level: str) -> Case:
        """The same case with another level of one of its options."""
        return replace(self, options=tuple((dict(self.options) | {name: level}).items()))

    @property
    def mount_options(self) -> dict[str, str]:
        """The levels of the mount's options, without ``default``, by the names that the protocol gives them."""
        return self._options_of(self.protocol)

    @property
    def tool_options(self) -> dict[str, str]:
        """The levels of the tool's options, likewise."""
        return self._options_of(self.tool)

    @property
    def store_options(self) -> dict[str, str]:
        """The levels of the store's options, likewise."""
        return self._options_of(self.store)

    def _options_of(self, owner: str) -> dict[str, str]:
        options = [option for option in self.options if owner_of(option[0]) == owner and option[1] != DEFAULT]
        return {name.partition(".")[2]: level for name, level in options}
