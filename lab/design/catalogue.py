"""The protocols, tools, stores and payloads that a sweep may name, as far as a design needs them.

The design package knows none of them: its callers give it a catalogue (:mod:`lab.run.case.catalogue`).
Members are described in :mod:`lab.protocols.driver`, :mod:`lab.workloads.workload` and :mod:`lab.stores.store`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lab.design.case import Case
from lab.design.workload import Workload


class Option(Protocol):
    """An option of a protocol's mount, of a tool, or of a store."""

    @property
    def level(self) -> Callable[[object], str]: ...


class Owner(Protocol):
    """A protocol, a tool or a store, which has its own options."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Option]: ...


class SharingProtocol(Owner, Protocol):
    """A protocol by which a share is served."""

    @property
    def mounted(self) -> bool: ...
    @property
    def server_syncs(self) -> tuple[str, ...]: ...
    def conflict(self, options: Mapping[str, str]) -> str: ...


class Tool(Owner, Protocol):
    """A command that moves files."""

    @property
    def needs_mount(self) -> bool: ...
    @property
    def copies_folders(self) -> bool: ...
    @property
    def moves_names(self) -> bool: ...
    @property
    def reports(self) -> bool: ...
    def job(self, case: Case) -> str: ...
    def conflict(self, case: Case) -> str: ...


class Store(Owner, Protocol):
    """What the files are on."""

    @property
    def is_made_anew(self) -> bool: ...
    def conflict(self, levels: Mapping[str, str]) -> str: ...


class Payload(Protocol):
    """What is moved."""

    @property
    def is_folder(self) -> bool: ...
    def of(self, workload: Workload) -> Payload: ...
    def files(self, size_bytes: int) -> int: ...
    def moved(self, size_bytes: int) -> int: ...
    def name_chars(self) -> int: ...


@dataclass(frozen=True)
class Catalogue:
    """The functions that find each by its name. They raise BadInput for an unknown name."""

    protocol: Callable[[str], SharingProtocol]
    tool: Callable[[str], Tool]
    payload: Callable[[str], Payload]
    store: Callable[[str], Store]
