"""ditto(1), of one file to another: Apple publishes its manual, and not its source.

That it writes to a hidden file ``.BC.T_…`` beside the target, which it then renames, unless told ``--nonAtomicCopies``,
is what its users report. What it does where it cannot keep times or permissions is not known: here it goes on.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile

from .. import bsd_getopt

USAGE = """\
Usage: ditto [ <options> ] src [ ... src ] dst

    <options> are any of:
    -h                         print full usage"""
# Of the manual: those that change nothing of a file that has data alone, and the others
PLAIN = {"-v", "-V", "-X", "--rsrc", "--norsrc", "--extattr", "--noextattr", "--qtn", "--noqtn", "--acl", "--noacl",
         "--nocache", "--nonAtomicCopies", "--nohfsCompression", "--preserveHFSCompression",
         "--nopreserveHFSCompression"}  # fmt: skip
OTHERS = {"-c", "-x", "-z", "-j", "-k", "-h", "--help", "--keepParent", "--arch", "--bom", "--lang", "--hfsCompression",
          "--sequesterRsrc", "--zlibCompressionLevel", "--password", "--clone"}  # fmt: skip


def main(argv: list[str]) -> int:
    """Copy a file; 1 where that is not possible."""
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
    if len(words) > 2 or os.path.isdir(words[0]):  # noqa: PTH112
        bsd_getopt.fail_as_not_emulated("ditto", "anything but one file")
    try:
        _copy(words[0], words[1], in_place="--nonAtomicCopies" in options)
    except OSError as error:
        print(f"ditto: {error.filename or words[1]}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _copy(source: str, target: str, in_place: bool) -> None:
    """Copy the data, then the time and the permissions; under another name first unless ``in_place``."""
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
