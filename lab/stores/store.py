"""A store is what the files of a case lie on; of some the lab makes a file system for each case."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from lab.base.untrusted import count, first_line
from lab.design.option_levels import FILL, fill_of, whole
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.hosts.mounts import FIND, in_table
from lab.settings.parameters import OWN_FOLDER
from lab.settings.setting import Setting
from lab.stores.kernel_module import KernelModule

SOURCE = re.compile(rf"/dev/.+|{OWN_FOLDER}")  # a pool has the name of the lab's folder
# A file system, then modules. What a kernel lacks of them, by name; modules that are not loaded yet are no lack
LACKS = """
for name; do
    [ -e "/sys/module/$name" ] || grep -qw "$name" /proc/filesystems || modprobe -n -q "$name" ||
        { echo "$name"; exit; }
done
"""


@dataclass(frozen=True)
class Option:
    """An option of a store that a sweep may vary as a factor, such as ``ext4.data``.

    ``level`` makes text of what a sweep says, or raises ValueError. ``about`` is a sentence for the reference.
    """

    level: Callable[[object], str]
    about: str


# The option of each file system that can be filled
FILLABLE = MappingProxyType(
    {
        FILL: Option(
            whole(0, 95),
            "To how many percent it is filled with the lab's noise before the trial, in no measured time. "
            "By default 0.",
        )
    }
)


class Store:
    """A store by its ``name`` in a sweep; ``about`` is a sentence for the reference, ``options`` what may be varied.

    One that ``is_made_anew`` the lab makes for each trial.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    is_made_anew: ClassVar[bool] = False

    def conflict(self, levels: Mapping[str, str]) -> str:
        """Why these levels of its options cannot go together; empty where they can."""
        return ""


@dataclass(frozen=True)
class Facts:
    """What a file system that is mounted says of itself: in words, and the levels of its options."""

    description: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class DeviceBytes:
    """What the devices of a file system have read and written so far."""

    read: int
    written: int


def parse_device_bytes(text: str) -> DeviceBytes | None:
    """What all devices moved together, of a line with ``read_bytes`` and one with ``write_bytes`` of each.

    None where nothing is counted. Raises ValueError.
    """
    counted = [line.split("\t") for line in text.splitlines()]
    moved = {name: sum(count(value) for key, value in counted if key == name) for name in ("read_bytes", "write_bytes")}
    return DeviceBytes(moved["read_bytes"], moved["write_bytes"]) if counted else None


def parse_mounted(text: str) -> tuple[str, str]:
    """The device or pool and the options, of a line of Linux's table of mounts. Raises ValueError."""
    fields = text.split(" ")
    if len(fields) < 4 or not SOURCE.fullmatch(fields[0]):
        raise ValueError("no device in the table of mounts")
    return first_line(fields[0], 100), first_line(fields[3], 1000)


@dataclass(frozen=True)
class Room:
    """What a file system leaves of the bytes that it is made in: a ``share`` of them, less ``fixed_bytes``."""

    share: float
    fixed_bytes: int = 0

    def most_in(self, size_bytes: int) -> int:
        """Bytes of files that one of this size holds."""
        return max(0, int(self.share * size_bytes) - self.fixed_bytes)

    def left(self, percent: int) -> Room:
        """What it leaves once it is filled so far."""
        return Room(self.share * (1 - percent / 100), round(self.fixed_bytes * (1 - percent / 100)))

    def size_for(self, file_bytes: int) -> int:
        """The size of one that holds so many bytes of files."""
        return round((file_bytes + self.fixed_bytes) / self.share)


@dataclass(frozen=True)
class Site:
    """Where a file system is made: on a host, in a folder ``directory`` of the lab's own.

    It is mounted at ``path``, for the account of this ``uid``. ``devices`` are those that it is made on, of the user's.
    """

    host: Host
    directory: str
    path: str
    uid: int
    devices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the lab's folder, which is random."""
        return self.directory.rpartition("/")[2]

    @property
    def role(self) -> str:
        """That of the host."""
        return self.host.name


class FileSystem(Store, ABC):
    """A file system that the lab makes anew for each case; of Linux, unless it says otherwise.

    ``programs`` are those that it takes, each with its package in Debian. ``module`` of the kernel is loaded for it and
    unloaded again; ``module_package`` is the package that has it, where Debian's kernels come without. ``lies_in`` says
    what it is made in. ``facts_script`` prints what it says of itself: its $1 is the mount point, $2 the source in the
    table of mounts.
    """

    is_made_anew = True
    platform: ClassVar[str] = "linux"
    programs: ClassVar[Mapping[str, str]]
    module: ClassVar[KernelModule | None]
    module_package: ClassVar[str] = ""
    lies_in: ClassVar[str]
    facts_script: ClassVar[str]

    def find_lack(self, levels: Mapping[str, str]) -> Command | None:
        """What prints, by name, what the kernel of a host lacks for it; None where every one of its platform has it."""
        return script(LACKS, self.name, *(module.name for module in self.modules(levels)))

    def find_row(self, path: str) -> Command:
        """What prints the row of a folder in the table of mounts, for :meth:`read_row`."""
        return script(FIND, in_table(path))

    def read_row(self, printed: str) -> tuple[str, str]:
        """What is mounted, and the options of the mount, of that row. Raises ValueError."""
        return parse_mounted(printed)

    def caveat(self, levels: Mapping[str, str]) -> str:
        """What figures with it at these levels cannot tell, which stands under each of them; empty for nothing."""
        return ""

    def devices(self, levels: Mapping[str, str]) -> int:
        """On how many devices that the user named it is made, at these levels; 0: in files of the lab's own."""
        return 0

    @abstractmethod
    def least_size(self, levels: Mapping[str, str]) -> int:
        """Bytes without which it cannot be made at these levels of its options."""

    def room(self, levels: Mapping[str, str]) -> Room:
        """What it leaves for files once it is filled as these levels say."""
        return self.empty_room(levels).left(fill_of(levels))

    @abstractmethod
    def empty_room(self, levels: Mapping[str, str]) -> Room:
        """What it leaves for files while it is empty; rather less than it does."""

    @abstractmethod
    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        """One of this size with these levels, made in new files or on the site's devices, and mounted."""

    @abstractmethod
    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """What ``facts_script`` printed, beside the options in the table of mounts. Raises ValueError."""

    def modules(self, levels: Mapping[str, str]) -> tuple[KernelModule, ...]:
        """Those that are loaded for it at these levels of its options."""
        return (self.module,) if self.module else ()

    def forget(self, site: Site, levels: Mapping[str, str]) -> Command | None:
        """What has it forget the files that it holds in a memory of its own, which dropping caches leaves alone.

        Nothing may use it meanwhile. None where it has no such memory.
        """
        return None

    def count(self, site: Site, levels: Mapping[str, str]) -> Command | None:
        """What writes out all that is left and prints the bytes that its devices moved so far, for
        :func:`parse_device_bytes`. None where nothing counts these.
        """
        return None

    def find_fault(self, site: Site) -> Command | None:
        """What prints, on one line, what is wrong with it; nothing where all is well. None where nobody can tell."""
        return None
