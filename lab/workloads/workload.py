"""A payload makes, checks and removes what is moved; a tool is the command that moves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from lab.design.sweep_file import Workload
from lab.hosts import Host


class Payload(ABC):
    """What a trial moves. ``is_folder``: not one file, but a folder with files in it."""

    name: ClassVar[str]
    is_folder: ClassVar[bool] = False

    def of(self, workload: Workload) -> Self:
        """This payload as a sweep has it; only a tree is told more by one than its size."""
        return self

    def room(self, size_bytes: int) -> int:
        """Bytes that one of this size takes on a RAM disk."""
        return size_bytes

    def moved(self, size_bytes: int) -> int:
        """Bytes of one of this size that have to move."""
        return size_bytes

    @property
    def is_second_copy(self) -> bool:
        """Whether an earlier copy lies at the target, and parts of it have changed since."""
        return False

    def change(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Change at ``path``, where it was made, the parts that a second copy is to bring along."""
        raise NotImplementedError

    @abstractmethod
    def files(self, size_bytes: int) -> int:
        """How many files a payload of this size has."""

    @abstractmethod
    def make(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Make it at ``path``: noise that this seed alone has, which neither compresses nor stands in any cache."""

    @abstractmethod
    def check(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Compare every byte at ``path`` with what this seed makes. Raises TransferError where one differs."""


class Tool(ABC):
    """A command that moves a payload from one path to another.

    ``program`` is what it runs. Its platform says by which words that is called there, which the methods get as
    ``call``: ``("cp", "-X")``. ``programs`` are those that a host may lack, each with its package in Debian.
    ``only_on`` is the platform that alone has it; empty for any. With ``folder_options`` it copies a folder and all in
    it, ``contents`` behind the name of which stands for what is in it; None where it copies single files only.
    With ``second_copy_options``, given both times, it leaves at the second what has not changed.
    """

    name: ClassVar[str]
    program: ClassVar[str]
    needs_mount: ClassVar[bool]
    programs: ClassVar[Mapping[str, str]]
    only_on: ClassVar[str] = ""
    folder_options: ClassVar[tuple[str, ...] | None] = None
    contents: ClassVar[str] = "/"
    second_copy_options: ClassVar[tuple[str, ...]] = ()

    @property
    def copies_folders(self) -> bool:
        """Whether it can copy a folder."""
        return self.folder_options is not None

    def version(self, host: Host, call: Sequence[str]) -> str:
        """Which of several programs of that name a host has, and which version; empty where it makes no difference."""
        return ""

    @abstractmethod
    def argv(self, call: Sequence[str], version: str, source: str, target: str, remote_shell: str) -> tuple[str, ...]:
        """The command. ``version`` is as above; ``remote_shell`` is empty where both paths are of this host.

        Of a folder ``call`` has the ``folder_options``, too, and ``source`` ends with ``contents``.
        """
