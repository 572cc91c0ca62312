"""mount(8) (diskdev_cmds: mount.c): prints the table, or calls mount_TYPE."""

from __future__ import annotations

import os
import pwd
import sys

from .. import bsd_getopt
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import MountRecord

USAGE = """\
usage: mount [-dfruvw] [-o options] [-t external_type] special mount_point
       mount [-adfruvw] [-t external_type]
       mount [-dfruvw] special | mount_point"""
# In the order in which they are printed
ORDER = (
    "sealed", "asynchronous", "NFS exported", "local", "nodev", "noexec", "nosuid", "with quotas", "read-only",
    "synchronous", "union", "automounted", "journaled", "defwrite", "noowners", "noatime", "quarantine", "nobrowse",
    "protect",
)  # fmt: skip


def main(argv: list[str]) -> int:
    """Print, or mount."""
    options, words = bsd_getopt.parse("mount", argv, "adfo:rt:uvw", USAGE)
    values, letters = dict(options), {letter for letter, _ in options}
    if letters & {"a", "u", "f"}:
        bsd_getopt.fail_as_not_emulated("mount", " ".join(argv))
    if not words and letters <= {"t", "v"}:
        for mount in call("mounts"):
            if values.get("t") in (None, mount["type"]):
                print(line(mount))
        return 0
    if len(words) != 2:
        bsd_getopt.fail_with_usage(USAGE)
    asked = [value for letter, value in options if letter == "o"] + ["rdonly"] * ("r" in letters)
    return _hand_over(values.get("t", _type(words[0])), asked, words)


def line(mount: MountRecord) -> str:
    """One line of the table; the user is left out if root mounted it (prmount)."""
    flags = sorted(mount["flags"], key=ORDER.index)
    if mount["uid"]:
        flags.append(f"mounted by {pwd.getpwuid(mount['uid']).pw_name}")
    return f"{mount['source']} on {mount['target']} ({', '.join([mount['type'], *flags])})"


def _type(source: str) -> str:
    """The type if none is given: HFS for a device, NFS for a source with a colon or an @."""
    return "nfs" if ":" in source or source.startswith("@") else "hfs"


def _hand_over(type_: str, asked: list[str], words: list[str]) -> int:
    program = f"/sbin/mount_{type_}"
    if not os.access(program, os.X_OK):
        bsd_getopt.fail(f"mount: exec {program} for {words[1]}: No such file or directory", 72)
    arguments = [word for value in asked for word in ("-o", value)]
    code = os.spawnv(os.P_WAIT, program, [program, *arguments, *words])
    if code:
        print(f"mount: {os.path.realpath(words[1])} failed with {code}", file=sys.stderr)
    return code
