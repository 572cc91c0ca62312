"""What a sweep may name: the protocols, tools, stores and payloads that there are, as far as a design needs them.

A design is made without protocols or hosts: whoever asks for one hands it a catalogue (:mod:`lab.run.case.catalogue`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.design.case import Case
from lab.design.workload import Workload


class Option(Protocol):
    """An option of a protocol's mount, of a tool, or of a store."""

    @property
    def level(self) -> Callable[[Any], str]:
        """Text of what a sweep gives as a level. Raises ValueError."""


class Owner(Protocol):
    """What has options of its own: a protocol, a tool or a store."""

    @property
    def name(self) -> str:
        """As in a sweep."""

    @property
    def options(self) -> Mapping[str, Option]:
        """Its options, by name."""


class SharingProtocol(Owner, Protocol):
    """A protocol: whether it mounts, what its server can promise of written data, which options its mount has."""

    @property
    def mounted(self) -> bool:
        """Whether it gives the client a mounted folder."""

    @property
    def server_syncs(self) -> tuple[str, ...]:
        """The levels of ``server_sync`` that its server can be given."""

    def conflict(self, options: Mapping[str, str]) -> str:
        """Why these levels of its options cannot go together; empty where they can."""


class Tool(Owner, Protocol):
    """A command that moves files, and which options of it a sweep may vary."""

    @property
    def needs_mount(self) -> bool:
        """Whether it copies between folders of one host only."""

    @property
    def copies_folders(self) -> bool:
        """Whether it copies a folder with all in it, too."""

    @property
    def moves_names(self) -> bool:
        """Whether it moves the names of files alone."""

    @property
    def reports(self) -> bool:
        """Whether it measures by itself."""

    def job(self, case: Case) -> str:
        """In a word, what it does of several things that nobody does in place of another; empty where it does one."""

    def conflict(self, case: Case) -> str:
        """Why it cannot do what a case wants of it; empty where it can."""


class Store(Owner, Protocol):
    """What the files lie on."""

    @property
    def is_made_anew(self) -> bool:
        """Whether the lab makes it anew for each trial, and starts the server on it."""

    def conflict(self, levels: Mapping[str, str]) -> str:
        """Why these levels of its options cannot go together; empty where they can."""


class Payload(Protocol):
    """What is moved."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files, and not one file."""

    def of(self, workload: Workload) -> Payload:
        """This payload as a sweep has it."""

    def files(self, size_bytes: int) -> int:
        """How many files one of this size has."""

    def moved(self, size_bytes: int) -> int:
        """Bytes of one of this size that have to move."""

    def name_chars(self) -> int:
        """Characters of the names of its files."""


@dataclass(frozen=True)
class Catalogue:
    """How to find each by its name; every function raises BadInput for an unknown name."""

    protocol: Callable[[str], SharingProtocol]
    tool: Callable[[str], Tool]
    payload: Callable[[str], Payload]
    store: Callable[[str], Store]
