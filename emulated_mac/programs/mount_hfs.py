"""mount_hfs(8) (hfs: mount_hfs.c)."""

import os
import sys

from .. import bsd_getopt
from ..disk_names import device_name
from ..kernel_client import call

USAGE = """\
usage: mount_hfs [-xw] [-u user] [-g group] [-m mask] [-e encoding] [-t tbuffer-size] [-j] [-c] [-o options] \
special-device filesystem-node
   -j disables journaling; -c disables group-commit for journaling"""
# Words after -o, and the words for them in the table
FLAGS = {
    "noatime": "noatime", "nobrowse": "nobrowse", "nodev": "nodev", "noexec": "noexec", "nosuid": "nosuid",
    "rdonly": "read-only", "ro": "read-only", "sync": "synchronous", "async": "asynchronous", "noowners": "noowners",
    "rw": "", "dev": "", "exec": "", "suid": "", "owners": "", "force": "", "update": "",
}  # fmt: skip


def main(argv: list[str], type_: str = "hfs") -> int:
    """Mount a device at a folder."""
    program = f"mount_{type_}"
    options, words = bsd_getopt.parse(program, argv, "xwu:g:m:e:o:t:jc", USAGE)
    if len(words) != 2:
        bsd_getopt.fail_with_usage(USAGE)
    asked = [word for letter, value in options if letter == "o" for word in value.split(",") if word]
    for word in asked:
        if word not in FLAGS:
            bsd_getopt.fail(f"{program}: -o {word}: option not supported", 1)
    folder = os.path.realpath(words[1])
    if not os.path.isdir(folder):  # noqa: PTH112
        bsd_getopt.fail(f"{program}: {words[1]}: No such file or directory")
    flags = [FLAGS[word] for word in asked if FLAGS[word]]
    try:
        call("mount_volume", device=device_name(words[0]), type=type_, target=folder, flags=flags)
    except OSError as error:
        text = "No such file or directory" if error.errno == 6 else error.strerror
        print(f"{program}: {text}", file=sys.stderr)
        return 1
    return 0
