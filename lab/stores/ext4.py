"""ext4 in an image file, or on a device."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lab.base.untrusted import count
from lab.design.option_levels import Option, one_of
from lab.design.payload_size import MIB
from lab.stores.image_file_system import OPTIONS, ImageFileSystem
from lab.stores.store import Facts

MKFS = ("mkfs.ext4", "-q", "-T", "default", "-m", "0")
AT_ONCE = "lazy_itable_init=0,lazy_journal_init=0"  # mkfs takes only the last -E
ABOUT_DATA = (
    "What goes through the journal: names and sizes, after the data (`ordered`) or in any order (`writeback`), or the "
    "data too (`journal`)."
)


class Ext4(ImageFileSystem):
    """ext4 with all tables written by mkfs; lazily, the kernel would write them in measured time.

    The mount table names the journal mode only if it is unusual; /proc/fs/ext4 always does.
    """

    name = "ext4"
    about = "ext4 in an image file of the lab's own, or on a disk or partition that you name."
    programs = MappingProxyType({"mkfs.ext4": "e2fsprogs", "tune2fs": "e2fsprogs"})
    least_bytes = 16 * MIB
    make_words = (*MKFS, "-E", AT_ONCE)
    own_facts_script = 'tune2fs -l "$2" && cat "/proc/fs/ext4/${device##*/}/options"'
    options = MappingProxyType({**OPTIONS, "data": Option(one_of("ordered", "journal", "writeback"), ABOUT_DATA)})

    def mount_options(self, levels: Mapping[str, str]) -> tuple[str, ...]:
        return (f"data={levels['data']}",) if "data" in levels else ()

    def words_on(self, device: str, size_bytes: int) -> tuple[str, ...]:
        return (*MKFS, "-E", f"{AT_ONCE},nodiscard", device, f"{size_bytes // 1024}k")

    def read_own_facts(self, printed: str, mounted_with: Mapping[str, str]) -> Facts:
        block_bytes, journal_mode = parse_ext4(printed)
        return Facts(f"ext4, blocks of {block_bytes} bytes", {"data": journal_mode})


def parse_ext4(text: str) -> tuple[int, str]:
    """Bytes of a block and the journal mode, from ``tune2fs -l`` and /proc/fs/ext4. Raises ValueError."""
    block = re.search(r"^Block size: +([0-9]+)$", text, re.MULTILINE)
    mode = re.search(r"^data=(ordered|journal|writeback)$", text, re.MULTILINE)
    if not block or not mode:
        raise ValueError("no size of a block, or no mode of the journal")
    return count(block[1]), mode[1]


STORE = Ext4()
