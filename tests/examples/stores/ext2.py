"""ext2, which has no journal: shows what the journal of ext4 costs."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.design.option_levels import Option, one_of
from lab.design.payload_size import MIB
from lab.stores.image_file_system import OPTIONS, ImageFileSystem
from lab.stores.store import Facts


class Ext2(ImageFileSystem):
    """ext2 in an image file of the lab, or on a device that the user names."""

    name = "ext2"
    about = "ext2 in an image file of the lab's own, or on a disk or partition that you name."
    programs = MappingProxyType({"mkfs.ext2": "e2fsprogs", "tune2fs": "e2fsprogs"})
    least_bytes = 16 * MIB
    make_words = ("mkfs.ext2", "-q", "-m", "0")
    own_facts_script = 'tune2fs -l "$2"'
    options = MappingProxyType(
        {
            **OPTIONS,
            "errors": Option(one_of("continue", "remount-ro"), "What the kernel does where it finds the disk damaged."),
        }
    )

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        return (f"errors={levels['errors']}",) if "errors" in levels else ()

    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        return (*self.make_words, "-E", "nodiscard", device, f"{size_bytes // 1024}k")

    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """The table of mounts names a level only if it is not the default."""
        block = re.search(r"^Block size: +([0-9]{1,9})$", printed, re.MULTILINE)
        if not block:
            raise ValueError("no size of a block")
        return Facts(f"ext2, blocks of {block[1]} bytes", {"errors": mounted_with.get("errors", "continue")})


STORE = Ext2()
