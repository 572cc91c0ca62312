"""A file system of the lab's own on the server, made anew for a case, and what it says of itself once it is there."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from lab.base.errors import Absent, LabFailure, SettingRefused, Unsupported
from lab.base.units import size_label
from lab.base.untrusted import first_line
from lab.hosts.mounts import FIND, in_table
from lab.platforms import Platform
from lab.platforms.ram_disk import parse_source
from lab.settings.setting import Setting
from lab.stores import FileSystem
from lab.stores.image import MODULE_IS_THERE, image_file, image_mount, loop_module

USABLE = 0.85  # of an image: btrfs takes most for itself, and leaves 0.89 of 2 GiB (two copies of metadata)
# $1 the file system. What a kernel lacks for it, by name; modules that are not loaded yet are no lack
LACKS = """
for name in "$1" loop; do
    case $name in loop) [ -e /sys/module/loop ] ;; *) grep -qw "$name" /proc/filesystems ;; esac ||
        modprobe -n -q "$name" || { echo "$name"; exit; }
done
"""


@dataclass(frozen=True)
class MadeStore:
    """A store that stands: what it is, in words; the levels of its options by their names in a sweep; and how many
    bytes it had room for while it was empty.
    """

    description: str
    levels: Mapping[str, str]
    capacity_bytes: int


def folder_of(directory: str) -> str:
    """Where it is mounted, in the lab's own folder on the server."""
    return f"{directory}/store"


def check(platform: Platform, store: FileSystem) -> None:
    """Raise Absent where a server cannot have such a file system, Unsupported where somebody could correct that."""
    role = platform.host.role
    if platform.name != store.platform:
        raise Absent(f"{role}: store {store.name} is made on {store.platform}, and the {role} runs {platform.name}")
    if platform.host.lacks_root:
        raise Unsupported(
            f"{role}: store {store.name}: only root mounts an image", "log in as root, or with sudo, or leave it out"
        )
    if lacking := first_line(platform.host.shell(LACKS, store.name).stdout.strip(), 40):
        raise Absent(f"{role}: store {store.name}: its kernel has no {lacking}")


def make(
    platform: Platform, store: FileSystem, directory: str, size_bytes: int, levels: Mapping[str, str]
) -> Generator[Setting, None, MadeStore]:
    """A new file system of this kind in an image file in the lab's own folder ``directory``, with these levels.

    Raises LabFailure where the disk there has no room for the whole image, and SettingRefused where a level is not in
    effect.
    """
    path, image, role = folder_of(directory), f"{directory}/store.image", platform.host.role
    free_bytes = platform.files.free_bytes(directory)
    if free_bytes < size_bytes:
        raise LabFailure(
            f"an image of {size_label(size_bytes)} does not fit into {directory}: {free_bytes} bytes are free",
            "a smaller image_size in [share] of the hosts file, or mount_base in [server] on a larger disk",
            host=role,
        )
    if platform.host.shell(MODULE_IS_THERE).stdout.strip() == "no":
        yield loop_module(role)
    platform.host.run("mkdir", "-p", path)
    yield image_file(role, image, size_bytes, store.make_words)
    yield image_mount(role, path, image, store.name, store.mount_options(levels), platform.ram_disks.uid())
    return _read(platform, store, path, size_bytes, levels)


def _read(platform: Platform, store: FileSystem, path: str, size_bytes: int, levels: Mapping[str, str]) -> MadeStore:
    """What is mounted, by the table of mounts and by the file system's own programs."""
    device, options = platform.parse(parse_mounted, platform.host.shell(FIND, in_table(path)))
    printed = platform.host.shell(store.facts_script, path, device, root=True)
    mounted_with = dict(option.partition("=")[::2] for option in options.split(","))
    facts = platform.parse(lambda text: store.read_facts(text, mounted_with), printed)
    for name, level in levels.items():
        if facts.levels.get(name) != level:
            raise SettingRefused(
                f"{store.name}.{name} was set to {level} and reads back as {facts.levels.get(name, 'unknown')}",
                f"leave {level} out of the sweep",
                host=platform.host.role,
            )
    below = platform.read(parse_source, "df", "-P", path.rpartition("/")[0])
    return MadeStore(
        f"{facts.description}, {options}; in an image of {size_label(size_bytes)} on {below}",
        {f"{store.name}.{name}": level for name, level in facts.levels.items()},
        platform.files.free_bytes(path),
    )


def parse_mounted(text: str) -> tuple[str, str]:
    """The device and the options, of a line of the table of mounts. Raises ValueError."""
    fields = text.split(" ")
    if len(fields) < 4 or not fields[0].startswith("/dev/"):
        raise ValueError("no device in the table of mounts")
    return first_line(fields[0], 100), first_line(fields[3], 1000)
