"""Folders, files and programs on a host, and what its memory keeps of the files."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.base.untrusted import LARGEST, count, first_line, match_of
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.part import Part
from lab.settings import background
from lab.settings.operation import Operation, Setting
from lab.settings.parameters import OwnFolder

Above: TypeAlias = Literal["home", "us", "any"]
WAY_BACK = read_script(__file__, "way_back.sh")
MAKE = OWN_FOLDER + read_script(__file__, "own_folder_make.sh")
NEW = read_script(__file__, "own_folder_make.pl")
OPEN = OWN_FOLDER + read_script(__file__, "own_folder_open.sh")
LIST = read_script(__file__, "own_folder_list.sh")
CLOSE = OWN_FOLDER + LIST + read_script(__file__, "own_folder_close.sh")
REOPEN = OWN_FOLDER + LIST + 'go "$1" && [ -O . ] && drop_list && chmod 1777 .'
REMOVE = OWN_FOLDER + read_script(__file__, "own_folder_remove.sh")
EMPTY = read_script(__file__, "own_folder_empty.pl")
# A folder that somebody else put in its place is not the lab's, and is left alone
STATE = OWN_FOLDER + 'if go "$1" && [ -O . ]; then echo present; else echo absent; fi'

COPY = 'umask 022; exec cp -- "$1" "$2"'
NOT_TOLD = LARGEST  # more than any file system has: every file fits, as far as anybody knows
DF = 'df -Pk -- "$1" 2>/dev/null || df -k -- "$1"'  # an old BusyBox knows no -P
# Device, size and free space; a device may have spaces, and an old BusyBox breaks the row after it
DF_ROW = r"^(.+?)\s+([0-9]+|-)\s+(?:-?[0-9]+|-)\s+(-?[0-9]+|-)\s+(?:-?[0-9]+%|-)\s+/"
READ_ALL = 'find "$1" -type f -exec cat {} + > /dev/null'  # $1 is a file, or a folder of files


@dataclass(frozen=True)
class Folder(Operation):
    """A folder of the lab's own, which is removed with its content, but not beyond a mount point."""

    kind = "folder"
    label_format = "folder {path}"
    values = "absent|present"
    volatile = False
    holds = True
    is_private = True

    path: OwnFolder
    """Where it is."""

    def read(self) -> Command:
        return script(STATE, self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.path, EMPTY, root=True),)


class Files(Part, ABC):
    """The files of a host. ``forgets`` says whether :meth:`forget` does."""

    forgets: ClassVar[bool] = False

    @abstractmethod
    def drop_caches(self) -> None:
        """Forget file data that is cached in this host's memory, as far as the system can."""

    def check_cold_reads(self) -> None:
        """Raise Unsupported, with what to do, where :meth:`drop_caches` does not make this host read its disk again."""

    def folder(self, path: str, above: Above, account: str, through: str = "", mode: str = "") -> Setting:
        """A new folder of the lab's own, which is removed with its content, but not beyond a mount point.

        The folder must not exist: its name is unguessable (:func:`lab.hosts.own_folder.new_name`), and no list of
        processes shows the name before the folder exists. ``above`` says who may own the folders above: ``home`` is the
        lab's own, where root makes the folder for ``account``; ``us`` is root and the account; ``any`` is any account,
        if others cannot write there. Only the account ``through`` may pass it to what is below, as a server does;
        ``mode`` replaces these permissions.
        """
        others = () if mode or through in ("", account) else (script(OPEN, path, account, through, root=True),)
        mode = mode or ("711" if others else "700")
        is_home = above == "home"
        remedy = f"`chmod o-w,g-w` or `chmod +t` there, or give another folder than {path.rpartition('/')[0]}"
        remedy = "" if is_home else remedy
        make = script(MAKE, mode, above, account if is_home else "", NEW, root=is_home, given=path)
        return Setting(self.host.name, Folder(path), "present", (make, *others), remedy, before="absent")

    def open_folder(self, path: str) -> None:
        """Let everybody write into a folder of this account until :meth:`close_folder`."""
        self.host.shell(REOPEN, path)

    def close_folder(self, path: str, account: str, proof: str) -> str:
        """Let only ``account`` and the owner of the file ``proof`` write into an open folder.

        The file is in the folder, and is removed. An owner without a group of its own gets an access control list:
        returns ``list`` then, or ``open`` if the folder takes none.
        """
        return self.host.shell(CLOSE, path, account, root=True, given=proof).stdout.strip()

    def rehearse_the_end(self) -> None:
        """Do in a scratch folder what puts a host back. Raises Unsupported, with the message of the failed command."""
        words = (background.START, background.LEAD, background.STOP, REMOVE, EMPTY)
        result = self.host.shell(WAY_BACK, *words, check=False)
        if result.exit_code != 0:
            last = first_line(result.output.strip().rpartition("\n")[2])
            message = f"a process or a folder of a run could not be removed there: {last}"
            remedy = "the lab begins nothing that it cannot put back: it needs sh, perl, ps, awk, kill and rm there"
            raise Unsupported(message, remedy, host=self.host.name)

    def free_bytes(self, path: str) -> int:
        """Bytes that are free in the file system that holds ``path``, or NOT_TOLD. Raises LabFailure."""
        return self.parse(parse_df, self.host.shell(DF, path))

    def free_files(self, path: str) -> int | None:
        """How many more files the file system that holds ``path`` takes; None where nothing limits that."""
        return None

    def copy_uncached(self, source: str, target: str, deadline_s: float) -> None:
        """Copy a file past this host's file cache, if the system can. Every account may read the copy."""
        self.host.shell(COPY, source, target, deadline_s=deadline_s)

    def forget(self, path: str, deadline_s: float) -> None:
        """Write out one file and drop it from the file cache, if an account can."""

    def remove(self, *paths: str, root: bool = True) -> None:
        """Remove files that the lab made; a missing file is no error.

        On a server as ``root``, because the server may keep a client's files for any account. Through a mount as the
        account that made them.
        """
        self.host.run("rm", "-f", "--", *paths, root=root)

    def remove_folder(self, path: str, deadline_s: float, root: bool = True) -> None:
        """Remove a folder that the lab made, with all in it; as :meth:`remove` otherwise."""
        self.host.run("rm", "-rf", "--", path, root=root, deadline_s=deadline_s)


def parse_df(text: str) -> int:
    """Bytes that are free, of ``df -k``, or NOT_TOLD. Raises ValueError."""
    free = parse_free_units(text)
    return NOT_TOLD if free is None else free * 1024


def parse_free_units(text: str) -> int | None:
    """Units or inodes that are free, of df; None if the file system tells no size. Raises ValueError.

    GVfs and FUSE may tell 0 of 0, -, or more free than there is. What is kept for root makes a number negative.
    """
    _, size, free = match_of(DF_ROW, text, "no line with the free space").groups()
    if "-" in (size, free) or count(size) == 0:
        return None
    units = 0 if free.startswith("-") else count(free)
    return units if units <= count(size) else None


def parse_source(text: str) -> str:
    """What is mounted where a folder lies, of ``df -P``. Raises ValueError."""
    return first_line(match_of(DF_ROW, text, "no line with what is mounted")[1], 200)


MISSING = 'for name in "$@"; do command -v "$name" >/dev/null || echo "$name"; done; :'
TRY = read_script(__file__, "try_programs.sh")


class Programs(Part):
    """The programs of a host.

    ``calls`` are the first words of a command, if the plain name would not do what the lab measures. ``other_names``
    are the names that the system itself may have for a program.
    """

    calls: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    other_names: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def call(self, program: str) -> tuple[str, ...]:
        """The words that begin a command: ``("cp", "-X")``, or just the program's name there. Raises HostError."""
        return self.calls.get(program) or (self._name(program),)

    def _name(self, program: str) -> str:
        other = self.other_names.get(program)
        return other if other and self._absent([program, other]) == {program} else program

    def missing(self, programs: Iterable[str]) -> list[str]:
        asked = list(programs)
        absent = self._absent([*asked, *(self.other_names[name] for name in asked if name in self.other_names)])
        return [name for name in asked if {name, self.other_names.get(name, name)} <= absent]

    def _absent(self, names: Iterable[str]) -> set[str]:
        return set(self.host.shell(MISSING, *names).stdout.split())

    def attempt(self, attempts: Iterable[tuple[str, str, str]], seconds: int) -> list[tuple[bool, str]]:
        """Run programs, each with two words, side by side: whether each ended in time, and a line of its output."""
        words = [word for program, *options in attempts for word in (self._name(program), *options)]
        lines = self.host.shell(TRY, str(seconds), *words, deadline_s=seconds + 30).stdout.splitlines()
        answers = [line.partition(" ") for line in lines]
        return [(state == "ended", first_line(printed)) for state, _, printed in answers]

    def how_to_install(self, packages: str, or_else: str = "") -> str:
        """What to do to get packages there, or else; they have the names that Debian gives them."""
        return f"{self._installation(packages)}, or {or_else}" if or_else else self._installation(packages)

    def _installation(self, packages: str) -> str:
        return f"install what Debian calls {packages} there"
