"""What a trial moves (a payload), and the command that moves it (a tool)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Self

from lab.base.errors import TransferError
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.option_levels import Option
from lab.design.workload import Workload
from lab.hosts import Host
from lab.results.observed import Observed


class Payload(ABC):
    """What a trial moves: a file, or if ``is_folder`` a folder of files."""

    name: ClassVar[str]
    is_folder: ClassVar[bool] = False

    def of(self, workload: Workload) -> Self:
        """This payload for a sweep's workload. Only a tree needs more of it than the size."""
        return self

    def room(self, size_bytes: int) -> int:
        """Bytes that a payload of this size takes on a RAM disk."""
        return size_bytes

    def moved(self, size_bytes: int) -> int:
        """Bytes that have to move of a payload of this size."""
        return size_bytes

    @property
    def is_second_copy(self) -> bool:
        """Whether the target holds an earlier copy, of which parts have changed."""
        return False

    def change(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Change the files at ``path`` that a second copy has to bring along."""
        raise NotImplementedError

    def names(self) -> str:
        """A line for each folder and file, ``d PATH`` or ``f BYTES PATH``; empty for a single file."""
        return ""

    def name_chars(self) -> int:
        """Characters of the names of its files; at least a byte each crosses the wire."""
        return 0

    @abstractmethod
    def files(self, size_bytes: int) -> int:
        """The number of files in a payload of this size."""

    @abstractmethod
    def perform(self, mode: str, host: Host, path: str, size_bytes: int, seed: str) -> str:
        """Run the command that makes it (``make``) or compares it (``check``), which then prints ``as made``."""

    def make(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Make it at ``path``, as noise from this seed alone, which neither compresses nor is in any cache."""
        self.perform("make", host, path, size_bytes, seed)

    def check(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """Compare every byte at ``path`` with this seed's noise. Raises TransferError if one differs."""
        verdict = self.perform("check", host, path, size_bytes, seed)
        if verdict != "as made\n":
            raise TransferError(f"{path} does not hold what was sent: {first_line(verdict)}", host=host.name)


@dataclass(frozen=True, kw_only=True)
class Move:
    """What a tool has to do: bring ``size_bytes`` from ``source`` to ``target``, paths as the client names them.

    With a ``remote_shell``, the path in the share begins with its host. ``options`` are the levels of the tool's own
    options that the sweep gives.
    """

    source: str
    target: str
    size_bytes: int
    direction: Direction = Direction.WRITE
    remote_shell: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


class Tool(ABC):
    """A command that moves a payload from one path to another.

    ``program`` is what it runs. The platform says how to call it, such as ``("cp", "-X")``, which methods get as
    ``call``. ``programs`` are those that a host may lack, each with its Debian package. ``only_on`` is the one platform
    that has it, or empty. ``payloads`` are those that it can move, empty for any, and ``directions`` those in which it
    can. ``is_extra``: `lab check` does not miss it. ``keeps_read``: what it read is at the target afterwards.
    ``moves_names``: it moves only names of files; its source is their list, its target the tree in the share.
    ``reports``: it measures by itself, for :meth:`read_report`.

    ``folder_options`` make it copy a folder; None if it copies single files only. ``contents``, behind a folder's name,
    stands for all in it. ``second_copy_options``, given both times, make it skip unchanged files at the second.
    """

    name: ClassVar[str]
    program: ClassVar[str]
    needs_mount: ClassVar[bool]
    programs: ClassVar[Mapping[str, str]] = MappingProxyType({})
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
        """Which program of that name a host has, and its version; empty if it makes no difference."""
        return ""

    def conflict(self, case: Case) -> str:
        """Why it cannot do this case, beginning with the offending key; empty if it can."""
        if self.payloads and case.workload not in self.payloads:
            return f"workload {case.workload}: it moves {' or '.join(self.payloads)} only"
        if case.direction not in self.directions:
            return f"direction {case.direction}: it has {' and '.join(self.directions)} only"
        return ""

    def job(self, case: Case) -> str:
        """In a word, which of several incomparable jobs it does; empty if it has only one."""
        return ""

    def level(self, options: Mapping[str, str], name: str) -> str:
        """The level of one of its options: the sweep's, or its default."""
        return options.get(name, self.options[name].default)

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """The command that makes a target to overwrite, untimed, before a new mount; empty if the tool makes it."""
        return ()

    def least_s(self, case: Case) -> float:
        """The least seconds of a trial, for a tool with a pace of its own; else 0."""
        return 0.0

    def check(self, host: Host, call: Sequence[str]) -> None:
        """Raise Unsupported for an installed program that will not do."""
        return

    def check_ends(self, client: Host, call: Sequence[str], server: Host) -> None:
        """Raise Absent if it cannot copy between these two over a remote shell."""
        return

    def verification(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """The command that verifies the target, untimed, after a new mount; empty if the payload itself is compared."""
        return ()

    def read_report(self, printed: str, move: Move) -> Observed | None:
        """Parse the tool's own measurements; None if it makes none. Raises LabFailure if they cannot be true."""
        return None

    def elapsed_s(self, report: Observed, elapsed_s: float) -> float:
        """The seconds of a trial, mostly by the clock around the command. Raises LabFailure if the report denies it."""
        return elapsed_s

    def check_names(self, host: Host, names: str, files: int, move: Move, path: str) -> None:
        """Compare the tree at ``path`` with what these names should have become. Raises TransferError if it differs."""
        raise NotImplementedError

    @abstractmethod
    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """The command. For a folder, ``call`` includes ``folder_options``, and the source ends with ``contents``."""
