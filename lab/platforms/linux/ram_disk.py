"""RAM disks of Linux: a tmpfs, or a file system on the block device of brd. Facts: docs/reference/platforms.md."""

import zlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, match_of
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import FIND, in_table
from lab.hosts.own_folder import new_name
from lab.platforms.linux.files import LinuxFiles, LinuxPrograms
from lab.platforms.ram_disk import FOLDER, MIB, RamDisks
from lab.settings.operation import MountedOnLinux, Operation, Setting

PAGE_KIB = 4
SHM, SHARED_MEMORY = "shm", "/dev/shm"  # a tmpfs that is there, and that every account may write into
# $1 the folder, $2 options. Memory by 2 MiB at a time is written and given back several times as fast; not every kernel
# has it, and for none is it a reason to fail.
TMPFS = """
mount -t tmpfs -o "$2,huge=within_size" lab "$1" 2>/dev/null || mount -t tmpfs -o "$2" lab "$1"
"""
# Why brd cannot be loaded: a word, or modprobe's message
OBSTACLE = """
[ ! -e /sys/module/brd ] || { echo loaded; exit; }
modprobe -n -q ext4 || grep -qw ext4 /proc/filesystems || { echo ext4; exit; }
modprobe -n brd 2>&1; :
"""
STATE = """
cd /sys/module/brd/parameters 2>/dev/null || { echo absent; exit; }
echo "rd_nr=$(cat rd_nr) rd_size=$(cat rd_size)"
"""
FORMAT = read_script(__file__, "format_ext4.sh")
MOUNT = 'mount -t ext4 -o noatime /dev/ram0 "$1" && chown "$2" "$1" && chmod "$3" "$1"'
# No lazy unmount: a busy file system would keep its memory without being in the table of mounts
UNMOUNT = 'for try in 1 2 3 4 5 6 7 8 9 10; do umount "$1" && exit; sleep 1; done'
# $1 the state of the lab's device. A device that was made later is not the lab's, and would go with the module
UNLOAD = f"""
state() {{ ( {STATE} ); }}
for try in 1 2 3 4 5; do
    [ "$(state)" = "$1" ] && [ "$(echo /sys/block/ram*)" = /sys/block/ram0 ] && modprobe -r brd && exit
    sleep 1
done
"""
PROGRAMS = {"mkfs.ext4": "e2fsprogs", "modprobe": "kmod", "wipefs": "util-linux"}


@dataclass(frozen=True)
class Tmpfs(MountedOnLinux):
    """A tmpfs, mounted at a folder of the lab's own."""

    kind = "tmpfs"
    label_format = "RAM disk {path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script('umount "$1" || { sleep 1; umount -l "$1"; }', self.path, root=True),)


@dataclass(frozen=True)
class Ext4(MountedOnLinux):
    """The file system of a RAM disk that is a block device, mounted at a folder of the lab's own."""

    kind = "block-ram-disk-mount"
    label_format = "RAM disk {path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, root=True, deadline_s=120),)


@dataclass(frozen=True)
class BlockRamDisk(Operation):
    """The kernel module brd with one RAM disk. Its size identifies it; only a module with this size is unloaded."""

    kind = "block-ram-disk"
    label = "module brd"
    values = "absent|rd_nr=1 rd_size=[0-9]{1,12}"

    size_kib: Annotated[int, Field(ge=1, le=2**40)]
    """The size of the RAM disk."""

    @property
    def state(self) -> str:
        """The module's state, which is also its parameters."""
        return f"rd_nr=1 rd_size={self.size_kib}"

    def read(self) -> Command:
        return script(STATE)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNLOAD, self.state, root=True, deadline_s=60),)


class LinuxRamDisks(RamDisks):
    """Makes RAM disks on a Linux host."""

    formats = ("tmpfs", "ext4", SHM, FOLDER)

    def check(self, layout: str | None) -> None:
        """A device needs brd, which nobody else may use: it can be loaded once."""
        super().check(layout)
        if layout == "ext4" and (problem := self._no_device()):
            message, remedy = problem
            message = f"ram_disk_format = ext4: {message}"
            raise Unsupported(message, f"{remedy}, or give tmpfs in the hosts file", host=self.host.name)

    def _no_device(self) -> tuple[str, str] | None:
        """Why there can be no device for ext4, and what to do about it; None where there can."""
        programs = LinuxPrograms(self.host)
        for program in programs.missing(PROGRAMS):
            return f"there is no {program}", programs.how_to_install(PROGRAMS[program])
        obstacle = first_line(self.host.shell(OBSTACLE).stdout.strip())
        return {
            "": None,
            "loaded": (
                "its kernel has brd loaded already, so RAM disks there are somebody else's",
                "`modprobe -r brd` if nobody needs them",
            ),
            "ext4": ("its kernel has no ext4", "take another kernel"),
        }.get(obstacle, (f"its kernel has no module brd ({obstacle})", "install it"))

    def make(
        self, path: str, size_bytes: int, layout: str | None = None, private: bool = False
    ) -> Generator[Setting, None, str]:
        """A tmpfs, ext4 on a device, or a folder. Memory is taken as the disk fills, so it is checked first."""
        self.check(layout)
        if layout == FOLDER:
            return self.describe_folder(path)
        if layout == SHM:
            self.check_fits(size_bytes, self._free_bytes())
            folder = f"{SHARED_MEMORY}/{new_name()}"
            yield LinuxFiles(self.host).folder(folder, "any", "")
            self.host.shell('rmdir "$1" && ln -s "$2" "$1"', path, folder)
            return f"a folder in {SHARED_MEMORY}"
        mode, uid = "700" if private else "1777", self.uid()
        if layout == "ext4":
            size_kib = device_kib(size_bytes, path)
            self.check_fits(size_kib * 1024, self._free_bytes())
            device = BlockRamDisk(size_kib)
            load = command("modprobe", "brd", *device.state.split(), root=True)
            yield Setting(self.host.name, device, device.state, (load,))
            self.host.shell(FORMAT, str(size_kib), root=True, deadline_s=120)  # what is made there goes with the device
            mount = script(MOUNT, path, str(uid), mode, root=True)
            yield Setting(self.host.name, Ext4(path), "mounted", (mount,))
        else:
            self.check_fits(size_bytes, self._free_bytes())
            mount = script(TMPFS, path, f"size={size_bytes},mode={mode},uid={uid}", root=True)
            yield Setting(self.host.name, Tmpfs(path), "mounted", (mount,))
        return self.parse(parse_mount, self.host.shell(FIND, in_table(path)))

    def _free_bytes(self) -> int:
        return self.read(parse_free, "cat", "/proc/meminfo")


def device_kib(size_bytes: int, path: str) -> int:
    """How many KiB a device gets that has ``size_bytes`` free with ext4 on it.

    ext4 takes some 5 % for inodes and journal, and keeps up to 16 MiB back. brd has no other mark than its size, so up
    to 4 MiB more, depending on where it will be mounted, make it our own: `lab restore` removes no other.
    """
    pages = -(-(size_bytes * 17 // 16 + 24 * MIB) // (PAGE_KIB * 1024))
    return (pages + zlib.crc32(path.encode()) % 1024) * PAGE_KIB


def parse_free(text: str) -> int:
    """Bytes that programs can get without swapping, of /proc/meminfo. Raises ValueError."""
    return count(match_of(r"^MemAvailable: +([0-9]+) kB$", text, "no MemAvailable")[1]) * 1024


def parse_mount(text: str) -> str:
    """File system and options, of a line of the table of mounts. Raises ValueError."""
    fields = text.split(" ")
    if len(fields) < 4:
        raise ValueError("no line of the table of mounts")
    return first_line(f"{fields[2]} {fields[3]}", 1000)
