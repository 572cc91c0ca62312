"""newfs_hfs(8) (hfs: newfs_hfs.c). It writes to the device as the caller: a user can format only an own RAM image."""

from .. import bsd_getopt, profiles
from ..disk_names import binary_size, device_name
from ..kernel_client import call

USAGE = """\
usage: newfs_hfs [-h | -N] [hfsplus-options] special-device
  options:
\t-h create an HFS format filesystem (HFS Plus is the default)
\t-N do not create file system, just print out parameters
\t-s use case-sensitive filenames (default is case-insensitive)
  where hfsplus-options are:
\t-J [journal-size] make this HFS+ volume journaled
\t-D use separate journal device
\t-G group-id (for root directory)
\t-U user-id (for root directory)
\t-M octal access-mask (for root directory)
\t-b allocation block size (4096 optimal)
\t-c clump size list (comma separated)
\t\te=blocks (extents file)
\t\tc=blocks (catalog file)
\t\ta=blocks (attributes file)
\t\tb=blocks (bitmap file)
\t\td=blocks (user data fork)
\t\tr=blocks (user resource fork)
\t-i starting catalog node id
\t-n b-tree node size list (comma separated)
\t\te=size (extents b-tree)
\t\tc=size (catalog b-tree)
\t\ta=size (attributes b-tree)
\t-v volume name (in ascii or UTF-8)"""


def main(argv: list[str]) -> int:
    """Make HFS+ on a device."""
    words = ["-J" if word.startswith("-J") else word for word in argv]
    options, rest = bsd_getopt.parse("newfs_hfs", words, "JG:U:D:M:NPsb:c:i:n:v:", USAGE)
    values = dict(options)
    if len(rest) != 1:
        bsd_getopt.fail_with_usage(USAGE)
    if {"N", "D"} & set(values):
        bsd_getopt.fail_as_not_emulated("newfs_hfs", " ".join(argv))
    name = device_name(rest[0])
    try:
        made = call(
            "make_hfs",
            device=name, name=values.get("v", "untitled"), case_sensitive="s" in values, journaled="J" in values,
        )  # fmt: skip
    except OSError as error:
        message = "No such file or directory" if error.errno == 6 else error.strerror
        bsd_getopt.fail(f"newfs_hfs: cannot create filesystem on {rest[0]}: {message}")
    size, journaled = binary_size(made["size_bytes"]), " with a 8192k journal" if "J" in values else ""
    print(f"Initialized /dev/r{name} as a {size} {kind('s' in values)}{journaled}")
    return 0


def kind(case_sensitive: bool) -> str:
    """The name of the volume's type; since 10.9 it names case sensitivity."""
    if case_sensitive:
        return "case-sensitive HFS Plus volume"
    return "case-insensitive HFS Plus volume" if profiles.current().number >= (10, 9) else "HFS Plus volume"
