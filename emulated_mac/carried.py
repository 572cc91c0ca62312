"""What a Mac's copying programs carry over beside contents, once Linux's have copied those.

``cp`` has it from file_cmds (cp/cp.c, cp/utils.c), ``rsync -E`` from rsync (openrsync/platform.c), both of copyfile(3).
"""

import contextlib
import json
import os
import subprocess
import sys

from . import access_lists, attributes
from .apple_double import PREFIX
from .attributes import Attributes


class Kept:
    """What a program keeps: ``acl``, ``flags``; extended attributes always."""

    def __init__(self, program: str, acl: bool, flags: bool):
        self.program, self.acl, self.flags = program, acl, flags


CALLS = {
    "cp": Kept("cp", acl=False, flags=False),
    "cp-p": Kept("cp", acl=True, flags=True),
    "ditto": Kept("ditto", acl=True, flags=True),
    "rsync-E": Kept("rsync", acl=True, flags=False),
}


def main(argv: list[str]) -> int:
    """``CALL INTO TARGET SOURCE…``: carry over to the copies; INTO says whether the target was a folder before.

    ``cp`` and ``cp-p`` have a command of Linux's instead, which is run first. ``gather SOURCE`` prints what a tree has,
    and ``spread TARGET`` gives that to a copy of it, of standard input. 1 where something could not be carried over.
    """
    call, *words = argv
    if call == "gather":
        print(json.dumps(gather(words[0])))
        return 0
    if call == "spread":
        return spread(json.load(sys.stdin), words[0], CALLS["rsync-E"])
    code = 0
    if call.startswith("cp"):
        *sources, target = words[words.index("--") + 1 :] or [""]
        into = "into" if os.path.isdir(target) else ""  # noqa: PTH112
        done = subprocess.run(["cp", *words[1:]], executable=words[0], check=False)  # noqa: S607 – as it names itself
        code = int(done.returncode != 0)
    else:
        into, target, *sources = words
    return max([code, *(carry(source, copy_of(source, target, call, bool(into)), CALLS[call]) for source in sources)])


def copy_of(source: str, target: str, call: str, into: bool) -> str:
    """Where the copy of a source is. rsync's is in the target unless its source ends with a slash."""
    name = os.path.basename(source.rstrip("/"))  # noqa: PTH119
    if call.startswith("rsync"):
        into = not source.endswith("/") and (into or os.path.isdir(target))  # noqa: PTH112
    return os.path.join(target, name) if into else target  # noqa: PTH118


def carry(source: str, target: str, kept: Kept) -> int:
    """Carry over from one tree to a copy of it, of what is there in both; 1 where something could not be."""
    if not os.path.lexists(source) or not os.path.lexists(target):
        return 0  # of which the program that copied has told
    _drop_unpacked(source, target)
    return spread(gather(source), target, kept)


def gather(source: str) -> dict[str, dict[str, object]]:
    """What each object of a tree has, by its path from the tree's root; empty for what has nothing."""
    found = {"": attributes.read(source, follow=False).to_json()}
    if os.path.isdir(source) and not os.path.islink(source):  # noqa: PTH112, PTH114
        for folder, folders, files in os.walk(source):
            for name in (*folders, *files):
                path = os.path.join(folder, name)  # noqa: PTH118
                found[os.path.relpath(path, source)] = attributes.read(path, follow=False).to_json()
    return found


def spread(found: dict[str, dict[str, object]], target: str, kept: Kept) -> int:
    """Give what was gathered to a copy, folders last; 1 where something could not be given."""
    code = 0
    for name in sorted(found, reverse=True):
        path = os.path.join(target, name) if name else target  # noqa: PTH118
        if not os.path.lexists(path):
            continue
        try:
            give(path, Attributes.of(found[name]), kept)
        except OSError as error:
            print(f"{kept.program}: could not copy extended attributes to {path}: {error.strerror}", file=sys.stderr)
            code = 1
    return code


def give(path: str, found: Attributes, kept: Kept) -> None:
    """Give an object what was found elsewhere, as far as the volume takes it. Raises OSError."""
    attributes.note_birth(path, follow=False)
    there = attributes.read(path, follow=False)
    there.xattrs |= found.xattrs
    can_more = not attributes.is_on_share(path, follow=False)
    there.flags = found.flags if kept.flags and can_more else there.flags
    if found.xattrs or there.flags:
        attributes.write(path, there, follow=False)
    if kept.flags and found.flags and not can_more:  # of its NFS, where cp says so
        print(f"{kept.program}: chflags: {path}: Operation not supported", file=sys.stderr)
    if kept.acl and found.acl and can_more and not os.path.islink(path):  # noqa: PTH114
        access_lists.write(path, found.acl)


def _drop_unpacked(source: str, target: str) -> None:
    """Remove the AppleDouble files that Linux's program copied as such from a share: they are unpacked."""
    if not attributes.is_on_share(source, follow=False):
        return
    for folder, folders, files in os.walk(source):
        for name in files:
            if name.startswith(PREFIX) and name[len(PREFIX) :] in (*folders, *files):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(target, os.path.relpath(os.path.join(folder, name), source)))  # noqa: PTH108, PTH118


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
