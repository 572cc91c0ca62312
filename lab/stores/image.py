"""An image file with a file system in it, and its mount over a loop device: what is changed for one, and put back.

Only a file is ever formatted, one that the lab has just made itself. The loop is the kernel's, over that very file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, script
from lab.hosts.mounts import in_table
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath
from lab.settings.setting import Setting
from lab.stores.kernel_module import KernelModule
from lab.stores.store_files import DEADLINE_S, StoreFiles

FUNCTIONS = read_script(__file__, "image_functions.sh")
MAKE = read_script(__file__, "image_make.sh")
MOUNT = FUNCTIONS + read_script(__file__, "image_mount.sh")
UNMOUNT = FUNCTIONS + read_script(__file__, "image_unmount.sh")
STATE = FUNCTIONS + 'state "$1" "$2"'
MODULE_STATE = """
if [ -e /sys/module/loop ] && ! cat /sys/block/loop*/loop/backing_file >/dev/null 2>&1; then echo loaded
else echo absent; fi
"""


@dataclass(frozen=True)
class LoopModule(KernelModule):
    """The kernel's module of loop devices, where it was not loaded before."""

    kind = "loop-module"
    name = "loop"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(MODULE_STATE)


@dataclass(frozen=True)
class ImageFile(StoreFiles):
    """An image file in a folder of the lab's own; it stays for as long as it is mounted."""

    kind = "image-file"

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"image {self.path}"

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script('rm -f -- "$1"', self.path, root=True, deadline_s=DEADLINE_S),)


@dataclass(frozen=True)
class ImageMount(Operation):
    """The file system of an image, mounted at a folder of the lab's own over a loop device."""

    kind = "image-mount"
    values = "absent|mounted"

    path: OwnPath
    """Where it is mounted."""
    image: OwnPath
    """The file."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"mount of {self.image} at {self.path}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, in_table(self.path), self.image)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, self.image, in_table(self.path), root=True, deadline_s=DEADLINE_S),)


def image_file(role: str, path: str, size_bytes: int, make_words: Sequence[str]) -> Setting:
    """A new image file of this size, never one that is there, with a file system by the command that makes one."""
    make = script(MAKE, path, str(size_bytes), *make_words, root=True, deadline_s=DEADLINE_S)
    remedy = "give another image_size in [share] of the hosts file, or take the store out of the sweep"
    return Setting(role, ImageFile(path), "present", (make,), remedy, before="absent")


def image_mount(role: str, path: str, image: str, kind: str, options: Sequence[str], uid: int) -> Setting:
    """The image's file system of this ``kind``, mounted at ``path``, which exists, and given to an account."""
    all_options = ",".join(("noatime", "nosuid", "nodev", *options))
    mount = script(MOUNT, path, image, in_table(path), kind, all_options, str(uid), root=True, deadline_s=DEADLINE_S)
    remedy = "see what the kernel of that host says (`dmesg`), or take the store out of the sweep"
    return Setting(role, ImageMount(path, image), "mounted", (mount,), remedy)
