"""A payload makes, checks and removes what is moved; a tool is the command that moves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.workload import Workload
from lab.hosts import Host

if TYPE_CHECKING:
    from lab.results.observed import Observed  # a run folder's reader comes with it, and whoever plans needs none


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

    def names(self) -> str:
        """Its folders and files, a line each: ``d PATH`` or ``f BYTES PATH``; nothing of what has but one file."""
        return ""

    def name_chars(self) -> int:
        """Characters of the names of its files: a byte each, and more, is what crosses the wire of them."""
        return 0

    @abstractmethod
    def files(self, size_bytes: int) -> int:
        """How many files a payload of this size has."""

    @abstractmethod
    def make(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Make it at ``path``: noise that this seed alone has, which neither compresses nor stands in any cache."""

    @abstractmethod
    def check(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Compare every byte at ``path`` with what this seed makes. Raises TransferError where one differs."""


@dataclass(frozen=True)
class Option:
    """An option of a tool that a sweep may vary as a factor, such as ``dd.bs``.

    ``level`` makes text of what a sweep says, or raises ValueError. ``default`` is the level of a sweep that says
    nothing, or ``default``. ``about`` is a sentence for the reference.
    """

    level: Callable[[object], str]
    default: str
    about: str


@dataclass(frozen=True, kw_only=True)
class Move:
    """What a tool is to do: bring ``size_bytes`` from ``source`` to ``target``, two paths as the client names them.

    ``remote_shell`` is empty where both paths are of the client; else the one in the share begins with its host.
    ``options`` are the levels of the tool's own options that a sweep gives.
    """

    source: str
    target: str
    size_bytes: int
    direction: Direction = Direction.WRITE
    remote_shell: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


class Tool(ABC):
    """A command that moves a payload from one path to another.

    ``program`` is what it runs. Its platform says by which words that is called there, which the methods get as
    ``call``: ``("cp", "-X")``. ``programs`` are those that a host may lack, each with its package in Debian.
    ``only_on`` is the platform that alone has it; empty for any. ``payloads`` are those that it can move, empty for
    any, and ``directions`` those in which it can. ``options`` are what a sweep may vary of it. ``is_extra``: only who
    asks for it misses it. ``keeps_read``: what it reads lies at the target afterwards. ``moves_names``: nothing that
    files contain, but their names; its source is the list of these, and its target the tree in the share. ``reports``:
    it measures by itself, and :meth:`read_report` reads what.
    With ``folder_options`` it copies a folder and all in it, ``contents`` behind the name of which stands for what is
    in it; None where it copies single files only. With ``second_copy_options``, given both times, it leaves at the
    second what has not changed.
    """

    name: ClassVar[str]
    program: ClassVar[str]
    needs_mount: ClassVar[bool]
    programs: ClassVar[Mapping[str, str]]
    only_on: ClassVar[str] = ""
    payloads: ClassVar[tuple[str, ...]] = ()
    directions: ClassVar[tuple[Direction, ...]] = tuple(Direction)
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    is_extra: ClassVar[bool] = False
    keeps_read: ClassVar[bool] = True
    moves_names: ClassVar[bool] = False
    reports: ClassVar[bool] = False
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

    def conflict(self, case: Case) -> str:
        """Why it cannot do what a case wants of it, from what that is on; empty where it can."""
        if self.payloads and case.workload not in self.payloads:
            return f"workload {case.workload}: it moves {' or '.join(self.payloads)} only"
        if case.direction not in self.directions:
            return f"direction {case.direction}: it has {' and '.join(self.directions)} only"
        return ""

    def job(self, case: Case) -> str:
        """In a word, what it does of several things that nobody does in place of another; empty where it does one."""
        return ""

    def level(self, options: Mapping[str, str], name: str) -> str:
        """The level of one of its options, where a sweep gives these."""
        return options.get(name, self.options[name].default)

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """What the client runs before the measured time, for there to be a target that is written over; the share is
        then mounted anew. Empty for a tool that makes its target.
        """
        return ()

    def least_s(self, case: Case) -> float:
        """Seconds that a trial takes at least, by a pace of its own; 0 for a tool that is as fast as it can be."""
        return 0.0

    def check(self, host: Host, call: Sequence[str]) -> None:
        """Raise Unsupported for a program that is there and will not do."""
        return

    def check_ends(self, client: Host, call: Sequence[str], server: Host) -> None:
        """Raise Absent where it cannot copy between these two over a remote shell."""
        return

    def verification(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """What the client runs after the measured time, with the share mounted anew, to compare what lies at the
        target; it fails where that is wrong. Empty where the payload lies there, and is compared as such.
        """
        return ()

    def read_report(self, printed: str, move: Move) -> Observed | None:
        """What the command printed of its own measurements; None for a tool that makes none. Raises LabFailure where
        that cannot be true.
        """
        return None

    def elapsed_s(self, report: Observed, elapsed_s: float) -> float:
        """Seconds that a trial took, by its report and by the clock around the command, which counts for most tools.

        Raises LabFailure where the two contradict each other.
        """
        return elapsed_s

    def check_names(self, host: Host, names: str, files: int, move: Move, path: str) -> None:
        """Of one that moves names: have a host compare the tree at ``path`` with what is to be left of these names.

        Raises TransferError where it is another.
        """
        raise NotImplementedError

    @abstractmethod
    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """The command. ``version`` is as above.

        Of a folder ``call`` has the ``folder_options``, too, and the source ends with ``contents``.
        """
