"""btrfs in an image file, or on a device."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.design.option_levels import Option, one_of
from lab.design.payload_size import MIB
from lab.stores.image_file_system import OPTIONS, ImageFileSystem
from lab.stores.store import ABOUT_COMPRESSION, Facts

LEVEL = one_of("none", "lzo", "zlib", "zstd")
PROFILE = re.compile(r"^(Data|Metadata), ([A-Za-z0-9]{1,10}): ", re.MULTILINE)


class Btrfs(ImageFileSystem):
    """btrfs as mkfs makes it, with two copies of metadata (mkfs.btrfs of btrfs-progs 5.15 and later)."""

    name = "btrfs"
    about = "btrfs in an image file of the lab's own, or on a disk or partition that you name."
    programs = MappingProxyType({"mkfs.btrfs": "btrfs-progs", "btrfs": "btrfs-progs"})
    least_bytes = 128 * MIB  # mkfs.btrfs 6.2 refuses less than 114,294,784 bytes
    make_words = ("mkfs.btrfs", "-q")
    own_facts_script = 'btrfs filesystem df "$1"'
    options = MappingProxyType({**OPTIONS, "compress": Option(LEVEL, ABOUT_COMPRESSION)})

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        level = levels.get("compress", "none")
        return () if level == "none" else (f"compress={level}",)

    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        return (*self.make_words, "-K", "-b", str(size_bytes), device)

    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """See :meth:`ImageFileSystem.read_own_facts`. The mount table adds the strength: ``zstd:3``."""
        profiles = parse_btrfs(printed)
        compression = LEVEL(mounted_with.get("compress", "none").partition(":")[0])
        description = f"btrfs, data {profiles['Data']}, metadata {profiles['Metadata']}"
        return Facts(description, {"compress": compression})


def parse_btrfs(text: str) -> dict[str, str]:
    """The profiles of Data and Metadata (``single``, ``DUP``), from ``btrfs filesystem df``. Raises ValueError."""
    profiles = {match[1]: match[2] for match in PROFILE.finditer(text)}
    if len(profiles) < 2:
        raise ValueError("no profiles of data and metadata")
    return profiles


STORE = Btrfs()
