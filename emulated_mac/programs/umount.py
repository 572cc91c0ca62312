"""umount(8) (diskdev_cmds: umount.c)."""

import errno
import os
import sys

from .. import bsd_getopt, profiles
from ..kernel_client import call

USAGE = "usage: umount [-fv] special | node\n       umount -a[fv] [-h host] [-t type]"


def main(argv: list[str]) -> int:
    """Unmount each; 1 if one failed."""
    options, words = bsd_getopt.parse("umount", argv, "Aafh:t:v", USAGE)
    letters = {letter for letter, _ in options}
    if letters & {"A", "a", "h", "t"}:
        bsd_getopt.fail_as_not_emulated("umount", " ".join(argv))
    if not words:
        bsd_getopt.fail_with_usage(USAGE)
    failed = [word for word in words if not _unmount(word, "f" in letters, "v" in letters)]
    return 1 if failed else 0


def _unmount(word: str, force: bool, verbose: bool) -> bool:
    """Unmount by mount point or source. Only the table is read, because the mount may be dead."""
    target = word.rstrip("/") or "/"
    table = call("mounts")
    if target not in {mount["target"] for mount in table}:
        by_source = [mount["target"] for mount in table if mount["source"] == word]
        target = by_source[-1] if by_source else os.path.realpath(target)
    if target not in {mount["target"] for mount in table}:
        print(f"umount: {target}: not currently mounted", file=sys.stderr)
        return False
    try:
        call("unmount", target=target, force=force)
    except OSError as error:
        print(_refusal(target, error), file=sys.stderr)
        return False
    if verbose:
        print(f"{target} unmounted")
    return True


def _refusal(target: str, error: OSError) -> str:
    """The refusal. The typo is in 10.6; the hint came with 10.7."""
    if profiles.current().number < (10, 7):
        return f"unount({target}): {error.strerror}"
    return f"umount({target}): {error.strerror}" + (" -- try 'diskutil unmount'" if error.errno == errno.EBUSY else "")
