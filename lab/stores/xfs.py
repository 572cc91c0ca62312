"""XFS in an image file, or on a device."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.base.untrusted import count
from lab.design.payload_size import MIB
from lab.stores.image_file_system import OPTIONS, ImageFileSystem
from lab.stores.store import Facts, Room


class Xfs(ImageFileSystem):
    """XFS as mkfs makes it. mkfs.xfs of xfsprogs 5.19 and later refuses less than ``least_bytes``."""

    name = "xfs"
    about = "XFS in an image file of the lab's own, or on a disk or partition that you name."
    programs = MappingProxyType({"mkfs.xfs": "xfsprogs", "xfs_info": "xfsprogs"})
    least_bytes = 300 * MIB
    make_words = ("mkfs.xfs", "-q")
    own_facts_script = 'xfs_info "$1"'
    options = OPTIONS

    def empty_room(self, levels: Mapping[str, str]) -> Room:
        """See :meth:`FileSystem.empty_room`. Even the smallest one has a log of 64 MiB."""
        return Room(0.95, 80 * MIB)

    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        """See :meth:`ImageFileSystem.words_on`. Without ``-K`` it would discard the whole device."""
        return (*self.make_words, "-K", "-d", f"size={size_bytes}", device)

    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        block_bytes, groups = parse_xfs(printed)
        return Facts(f"xfs, blocks of {block_bytes} bytes, {groups} allocation groups", {})


def parse_xfs(text: str) -> tuple[int, int]:
    """Bytes of a data block and the number of allocation groups, from ``xfs_info``. Raises ValueError."""
    block = re.search(r"^data +=.* bsize=([0-9]+) ", text, re.MULTILINE)
    groups = re.search(r"^meta-data=.* agcount=([0-9]+),", text, re.MULTILINE)
    if not block or not groups:
        raise ValueError("no size of a block, or no allocation groups")
    return count(block[1]), count(groups[1])


STORE = Xfs()
