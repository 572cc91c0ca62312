"""ext2, which has no journal: what that of ext4 costs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.design.option_levels import one_of
from lab.design.payload_size import MIB
from lab.stores.image_file_system import ImageFileSystem
from lab.stores.store import Facts, Option


class Ext2(ImageFileSystem):
    """ext2 in an image file of the lab's own."""

    name = "ext2"
    about = "ext2 in an image file of the lab's own."
    programs = MappingProxyType({"mkfs.ext2": "e2fsprogs", "tune2fs": "e2fsprogs"})
    least_bytes = 16 * MIB
    make_words = ("mkfs.ext2", "-q", "-m", "0")
    facts_script = 'tune2fs -l "$2"'
    options = MappingProxyType(
        {"errors": Option(one_of("continue", "remount-ro"), "What the kernel does where it finds the disk damaged.")}
    )

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        """See :meth:`ImageFileSystem.mount_options`."""
        return (f"errors={levels['errors']}",) if "errors" in levels else ()

    def read_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        """See :meth:`FileSystem.read_facts`. The table of mounts names what is not the usual level."""
        block = re.search(r"^Block size: +([0-9]{1,9})$", printed, re.MULTILINE)
        if not block:
            raise ValueError("no size of a block")
        return Facts(f"ext2, blocks of {block[1]} bytes", {"errors": mounted_with.get("errors", "continue")})


STORE = Ext2()
