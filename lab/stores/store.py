"""A store holds a case's files. Some stores are created anew for each case."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from lab.base.untrusted import count, first_line
from lab.design.option_levels import FILL, Option, fill_of, whole
from lab.hosts import Host
from lab.hosts.command import Command, script
from lab.hosts.mounts import FIND, in_table
from lab.settings.operation import Setting
from lab.settings.parameters import OWN_FOLDER
from lab.stores.operations import KernelModule

SOURCE = re.compile(rf"/dev/.+|{OWN_FOLDER}")  # a pool is named like the lab's folder
# $@ a file system and modules: the first that the kernel does not have. A module that is not loaded yet is no lack
LACKS = """
for name; do
    [ -e "/sys/module/$name" ] || grep -qw "$name" /proc/filesystems || modprobe -n -q "$name" ||
        { echo "$name"; exit; }
done
"""

ABOUT_COMPRESSION = (
    "What compresses the data. The lab's payload does not compress, so that this is the price of trying."
)
ABOUT_FILL = (
    "To how many percent it is filled with the lab's noise before the trial, in no measured time. By default 0."
)
FILLABLE = MappingProxyType({FILL: Option(whole(0, 95), ABOUT_FILL)})


class Store:
    """A store. ``about`` is a sentence for the reference. If it ``is_made_anew``, the lab makes it for each trial."""

    name: ClassVar[str]
    about: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    is_made_anew: ClassVar[bool] = False

    def conflict(self, levels: Mapping[str, str]) -> str:
        """Why these levels of its options cannot go together; empty if they can."""
        return ""


@dataclass(frozen=True)
class Facts:
    """What a mounted file system reports: a description, and the levels of its options."""

    description: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class DeviceBytes:
    """Bytes that the devices of a file system have read and written so far."""

    read: int
    written: int


def parse_device_bytes(text: str) -> DeviceBytes | None:
    """Sum up the lines ``read_bytes`` and ``write_bytes`` of all devices; None without any. Raises ValueError."""
    counted = [line.split("\t") for line in text.splitlines()]
    moved = {name: sum(count(value) for key, value in counted if key == name) for name in ("read_bytes", "write_bytes")}
    return DeviceBytes(moved["read_bytes"], moved["write_bytes"]) if counted else None


def parse_mounted(text: str) -> tuple[str, str]:
    """The device or pool, and the options, from a line of Linux's mount table. Raises ValueError."""
    fields = text.split(" ")
    if len(fields) < 4 or not SOURCE.fullmatch(fields[0]):
        raise ValueError("no device in the table of mounts")
    return first_line(fields[0], 100), first_line(fields[3], 1000)


@dataclass(frozen=True)
class Room:
    """The room for files in a file system: a ``share`` of its size, less ``fixed_bytes``."""

    share: float
    fixed_bytes: int = 0

    def most_in(self, size_bytes: int) -> int:
        """Bytes of files that a file system of this size holds."""
        return max(0, int(self.share * size_bytes) - self.fixed_bytes)

    def left(self, percent: int) -> Room:
        """The room that is left once this share of it is filled."""
        return Room(self.share * (1 - percent / 100), round(self.fixed_bytes * (1 - percent / 100)))

    def size_for(self, file_bytes: int) -> int:
        """The size of a file system that holds these bytes of files."""
        return round((file_bytes + self.fixed_bytes) / self.share)


@dataclass(frozen=True)
class Site:
    """A file system's place: the lab's folder or the user's ``devices``, mounted at ``path`` for ``uid``."""

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
        """The host's role."""
        return self.host.name


class FileSystem(Store, ABC):
    """A file system that the lab makes anew for each case; on Linux, unless a class says otherwise.

    ``programs`` are the programs that it needs, each with its Debian package. ``module`` is loaded for it and unloaded
    again; ``module_package`` is its package, if Debian's kernels lack it. ``lies_in`` says what it is made in.
    ``facts_script`` prints its facts: $1 is the mount point, $2 the source in the mount table.
    """

    is_made_anew = True
    platform: ClassVar[str] = "linux"
    programs: ClassVar[Mapping[str, str]]
    module: ClassVar[KernelModule | None]
    module_package: ClassVar[str] = ""
    lies_in: ClassVar[str]
    facts_script: ClassVar[str]

    def find_lack(self, levels: Mapping[str, str]) -> Command | None:
        """The command that prints, by name, what the host's kernel lacks for it; None if all have it."""
        return script(LACKS, self.name, *(module.name for module in self.modules(levels)))

    def find_row(self, path: str) -> Command:
        """The command that prints the folder's row in the mount table, for :meth:`read_row`."""
        return script(FIND, in_table(path))

    def read_row(self, printed: str) -> tuple[str, str]:
        """The source and the options of the mount, from that row. Raises ValueError."""
        return parse_mounted(printed)

    def caveat(self, levels: Mapping[str, str]) -> str:
        """What figures with these levels cannot tell, for a note below each; empty for nothing."""
        return ""

    def devices(self, levels: Mapping[str, str]) -> int:
        """How many of the user's devices it needs at these levels; 0 if it is made in the lab's own files."""
        return 0

    @abstractmethod
    def least_size(self, levels: Mapping[str, str]) -> int:
        """The least bytes that it needs at these levels."""

    def room(self, levels: Mapping[str, str]) -> Room:
        """The room for files once it is filled as these levels say."""
        return self.empty_room(levels).left(fill_of(levels))

    @abstractmethod
    def empty_room(self, levels: Mapping[str, str]) -> Room:
        """The room for files while it is empty; a careful estimate."""

    @abstractmethod
    def steps(self, site: Site, size_bytes: int, levels: Mapping[str, str]) -> Iterator[Setting]:
        """The settings that make and mount one of this size with these levels, in files or on the site's devices."""

    @abstractmethod
    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """Parse what ``facts_script`` printed; ``mounted_with`` is from the mount table. Raises ValueError."""

    def modules(self, levels: Mapping[str, str]) -> tuple[KernelModule, ...]:
        """The modules that are loaded for it at these levels."""
        return (self.module,) if self.module else ()

    def forget(self, site: Site, levels: Mapping[str, str]) -> Command | None:
        """The command that empties its own cache while nothing uses it; None if only the kernel caches."""

    def count(self, site: Site, levels: Mapping[str, str]) -> Command | None:
        """The command that flushes and prints the bytes moved, for :func:`parse_device_bytes`; None if uncounted."""

    def find_fault(self, site: Site) -> Command | None:
        """The command that prints, on one line, what is wrong with it, or nothing; None if nothing can tell."""
