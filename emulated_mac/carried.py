"""Copy what a Mac's copy programs copy beside contents, after Linux's programs have copied the contents. Sources: for
``cp`` file_cmds (cp/cp.c, cp/utils.c), for ``rsync -E`` rsync (openrsync/platform.c); both use copyfile(3).
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
    """``CALL INTO TARGET SOURCE…``: carry attributes over to the copies; INTO says whether the target was a folder
    before. With ``cp`` and ``cp-p`` a Linux command follows, which runs first. ``gather SOURCE`` prints the attributes
    of a tree; ``spread TARGET`` reads them from standard input and sets them on a copy. Returns 1 if something could
    not be carried over.
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
    """The path of a source's copy. rsync puts the copy into the target unless the source ends with a slash."""
    name = os.path.basename(source.rstrip("/"))  # noqa: PTH119
    if call.startswith("rsync"):
        into = not source.endswith("/") and (into or os.path.isdir(target))  # noqa: PTH112
    return os.path.join(target, name) if into else target  # noqa: PTH118


def carry(source: str, target: str, kept: Kept) -> int:
    """Carry attributes over from a tree to its copy, for objects that exist in both; 1 if one failed."""
    if not os.path.lexists(source) or not os.path.lexists(target):
        return 0  # the copying program has reported this one
    _drop_unpacked(source, target)
    return spread(gather(source), target, kept)


def gather(source: str) -> dict[str, dict[str, object]]:
    """The attributes of each object in a tree, by its path from the tree's root; empty if it has none."""
    found = {"": attributes.read(source, follow=False).to_json()}
    if os.path.isdir(source) and not os.path.islink(source):  # noqa: PTH112, PTH114
        for folder, folders, files in os.walk(source):
            for name in (*folders, *files):
                path = os.path.join(folder, name)  # noqa: PTH118
                found[os.path.relpath(path, source)] = attributes.read(path, follow=False).to_json()
    return found


def spread(found: dict[str, dict[str, object]], target: str, kept: Kept) -> int:
    """Set gathered attributes on a copy, folders last; 1 if one failed."""
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
    """Set the attributes of another object on this one, as far as the volume supports them. Raises OSError."""
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
    """Remove the AppleDouble files that Linux's program copied from a share; their content has been unpacked."""
    if not attributes.is_on_share(source, follow=False):
        return
    for folder, folders, files in os.walk(source):
        for name in files:
            if name.startswith(PREFIX) and name[len(PREFIX) :] in (*folders, *files):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(target, os.path.relpath(os.path.join(folder, name), source)))  # noqa: PTH108, PTH118


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
