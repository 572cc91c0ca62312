"""ditto(1): Apple publishes its manual, but not its source. Users report that it writes a hidden ``.BC.T_…`` beside the
target and renames it, unless told ``--nonAtomicCopies``. Nobody documents what it does if it cannot keep times or
permissions: here it goes on. By its manual it keeps resource forks, extended attributes and access control lists by
default. The manual does not mention flags; here they are kept.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

from .. import bsd_getopt, carried

USAGE = """\
Usage: ditto [ <options> ] src [ ... src ] dst

    <options> are any of:
    -h                         print full usage"""
# Options of the manual: first those without effect on a file that has only data, then the others
PLAIN = {"-v", "-V", "-X", "--rsrc", "--norsrc", "--extattr", "--noextattr", "--qtn", "--noqtn", "--acl", "--noacl",
         "--nocache", "--nonAtomicCopies", "--nohfsCompression", "--preserveHFSCompression",
         "--nopreserveHFSCompression"}  # fmt: skip
OTHERS = {"-c", "-x", "-z", "-j", "-k", "-h", "--help", "--keepParent", "--arch", "--bom", "--lang", "--hfsCompression",
          "--sequesterRsrc", "--zlibCompressionLevel", "--password", "--clone"}  # fmt: skip


def main(argv: list[str]) -> int:
    """Copy a file; 1 if it failed."""
    options, words = [], list(argv)
    while words and words[0].startswith("-"):
        options.append(words.pop(0))
    for option in options:
        if option in OTHERS:
            bsd_getopt.fail_as_not_emulated("ditto", option)
        if option not in PLAIN:
            print(f"ditto: unrecognized option `{option}'", file=sys.stderr)
            bsd_getopt.fail_with_usage(USAGE)
    if len(words) < 2:
        bsd_getopt.fail_with_usage(USAGE)
    if len(words) > 2:
        bsd_getopt.fail_as_not_emulated("ditto", "more than one source")
    if os.path.isdir(words[0]):  # noqa: PTH112
        return _copy_folder(words[0], words[1], options)
    try:
        written = _copy(words[0], words[1], in_place="--nonAtomicCopies" in options)
    except OSError as error:
        print(f"ditto: {error.filename or words[1]}: {error.strerror}", file=sys.stderr)
        return 1
    return _carry(words[0], written, options)


def _copy_folder(source: str, target: str, options: list[str]) -> int:
    """Copy a folder's content into another folder, which is created."""
    os.makedirs(target, exist_ok=True)  # noqa: PTH103
    kept = "--preserve=mode,ownership,timestamps,links"
    words = ["/linux/usr/bin/cp", "-R", kept, "--no-preserve=xattr", "-T", "--", source, target]
    done = subprocess.run(words, capture_output=True, text=True, errors="surrogateescape", check=False)
    errors = [line for line in done.stderr.splitlines() if ": preserving " not in line and ": setting " not in line]
    errors = [line for line in errors if "failed to preserve" not in line]
    for line in errors:
        print(f"ditto: {line.removeprefix('cp: ')}", file=sys.stderr)
    return _carry(source, target, options) or int(bool(errors))


def _carry(source: str, target: str, options: list[str]) -> int:
    """Carry over attributes, except those that an option excludes."""
    if {"--norsrc", "--noextattr"} & set(options):
        return 0
    kept = carried.Kept("ditto", acl="--noacl" not in options, flags=True)
    return carried.carry(source, target, kept)


def _copy(source: str, target: str, in_place: bool) -> str:
    """Copy the data, then time and permissions, under a temporary name unless ``in_place``. Returns the path."""
    if os.path.isdir(target):  # noqa: PTH112
        target = os.path.join(target, os.path.basename(source))  # noqa: PTH118, PTH119
    with open(source, "rb") as file:  # noqa: PTH123
        written = target
        if not in_place:
            handle, written = tempfile.mkstemp(prefix=".BC.T_", dir=os.path.dirname(target) or ".")  # noqa: PTH120
            os.close(handle)
        try:
            with open(written, "wb") as copy:  # noqa: PTH123
                shutil.copyfileobj(file, copy, 1 << 20)
            with contextlib.suppress(OSError):
                shutil.copystat(source, written)
            if not in_place:
                os.rename(written, target)  # noqa: PTH104
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(written)  # noqa: PTH108
            raise
    return target
