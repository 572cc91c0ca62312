"""A payload makes, checks and removes what is moved; a tool is the command that moves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from lab.hosts import Host


class Payload(ABC):
    """What a trial moves."""

    name: ClassVar[str]

    @abstractmethod
    def files(self, size_bytes: int) -> int:
        """How many files a payload of this size has."""

    @abstractmethod
    def make(self, host: Host, path: str, size_bytes: int) -> None:
        """Make it at ``path``: fresh random content, which neither compresses nor stands in any cache."""

    @abstractmethod
    def fingerprint(self, host: Host, path: str, hasher: tuple[str, ...], size_bytes: int) -> str:
        """What the content at ``path`` comes to, equal on two hosts only where every byte is."""


class Tool(ABC):
    """A command that moves a payload from one path to another."""

    name: ClassVar[str]
    needs_mount: ClassVar[bool]
    programs: ClassVar[Mapping[str, str]]

    @abstractmethod
    def argv(self, platform: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """The command. ``remote_shell`` is empty where both paths are of this host."""
