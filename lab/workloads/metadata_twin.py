"""The twin of metadata.pl."""

import os
import re
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

File = tuple[int, str]


class Failed(Exception):
    """What ends it, as perl says it."""


def read_names(path: str) -> tuple[list[str], list[File]]:
    """Folders and files."""
    folders, files = [], []
    with open(path, "rb") if path else sys.stdin.buffer as lines:
        text = lines.read()
    for line in text.split(b"\n"):
        kind, _, rest = os.fsdecode(line).partition(" ")
        if kind == "d":
            folders.append(rest)
        elif kind == "f":
            size, _, name = rest.partition(" ")
            files.append((int(size), name))
    return folders, files


def renamed(path: str, number: int) -> str:
    """What the file of a number is called after it was renamed."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}renamed-{number}"


def make_file(path: str, size: int) -> None:
    """A file of this length with nothing written into it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    if size:
        os.truncate(file, size)
    os.close(file)


def lay(phase: str, top: str, folders: list[str], files: list[File]) -> None:
    """Make what the phase finds there."""
    for _, path in files:
        if re.fullmatch(r"renamed-\d+", path.rpartition("/")[2]):
            raise Failed(f"{path}: a name that renaming gives")
    for folder in (top, *(f"{top}/{folder}" for folder in folders)):
        os.mkdir(folder)
    for size, path in files if phase != "create" else []:
        make_file(f"{top}/{path}", size)


def plain(names: list[str]) -> list[str]:
    """A name with more than ASCII may come back in another form of Unicode, so of these only the number counts."""
    return sorted(name if name.isascii() else "" for name in names)


def compare_lists(top: str, folders: list[str], files: list[File], lists: list[list[str]]) -> None:
    """Raise Failed where other names came back."""
    below: dict[str, list[str]] = {folder: [] for folder in ("", *folders)}
    for path in (*folders, *(path for _, path in files)):
        folder, _, name = path.rpartition("/")
        below[folder].append(name)
    for folder, names in zip(below, lists):
        if plain(names) != plain(below[folder]):
            raise Failed(f"{top}/{folder}: other names came back")


def compare_sizes(top: str, files: list[File], sizes: list[int]) -> None:
    """Raise Failed where a file is said to be longer or shorter."""
    for (size, path), told in zip(files, sizes):
        if told != size:
            raise Failed(f"{top}/{path}: it has {told} bytes, not {size}")


def rename(path: str, number: int) -> None:
    """Give a file its other name."""
    os.rename(path, renamed(path, number))


CALLS: "dict[str, Callable[[str, int], Any]]" = {
    "create": lambda path, _: make_file(path, 0),
    "stat": lambda path, _: os.lstat(path).st_size,
    "list": lambda path, _: os.listdir(path),
    "rename": rename,
    "delete": lambda path, _: os.unlink(path),
}


def run(phase: str, top: str, folders: list[str], files: list[File]) -> str:
    """Do it with one path after another; the report."""
    paths = [top, *(f"{top}/{path}" for path in folders)] if phase == "list" else [f"{top}/{path}" for _, path in files]
    call, results, took = CALLS[phase], [], []
    begin = time.monotonic()
    for number, path in enumerate(paths):
        start = time.monotonic()
        results.append(call(path, number))
        took.append(time.monotonic() - start)
    runtime_s = time.monotonic() - begin
    if phase == "stat":
        compare_sizes(top, files, results)
    elif phase == "list":
        compare_lists(top, folders, files, results)
    took.sort()
    times = [took[(len(took) * share + 999) // 1000 - 1] for share in (500, 950, 990, 999, 1000)]
    in_ms = " ".join(f"{1000 * seconds:.6f}" for seconds in times)
    return f"metadata {phase} {len(took)}\nruntime_s {runtime_s:.6f}\nms {in_ms}\n"


def look_through(top: str, expected: set[str]) -> tuple[int, str]:
    """How many there are below the top, and what is there that should not be."""
    count, strange, left = 0, "", [""]
    while left:
        folder = left.pop(0)
        for entry in os.scandir(f"{top}/{folder}"):
            path = f"{folder}/{entry.name}" if folder else entry.name
            count += 1
            if path not in expected:
                strange = strange or f"{path}: should not be there\n"
            if entry.is_dir(follow_symlinks=False):
                left.append(path)
    return count, strange


def check(phase: str, top: str, folders: list[str], files: list[File]) -> str:
    """What can be asked for by its name, and is not one too many, is there."""
    left = [] if phase == "delete" else [(0 if phase == "create" else size, path) for size, path in files]
    if phase == "rename":
        left = [(size, renamed(path, number)) for number, (size, path) in enumerate(left)]
    expected = {*folders, *(path for _, path in left)}
    count, strange = look_through(top, expected)
    if count != len(expected):
        return strange or "something is missing\n"
    for path in folders:
        if os.path.islink(f"{top}/{path}") or not os.path.isdir(f"{top}/{path}"):
            return f"{path}: no folder\n"
    for size, path in left:
        if os.path.islink(f"{top}/{path}") or not os.path.isfile(f"{top}/{path}"):
            return f"{path}: no file\n"
        if (seen := os.path.getsize(f"{top}/{path}")) != size:
            return f"{path}: it has {seen} bytes, not {size}\n"
    return "as it should be\n"


def main(mode: str, phase: str, top: str, names: str) -> None:
    """Lay it, run it, or say whether it is as it should be."""
    folders, files = read_names(names)
    text = ""
    if mode == "lay":
        lay(phase, top, folders, files)
    elif mode == "run":
        text = run(phase, top, folders, files)
    else:
        text = check(phase, top, folders, files)
    sys.stdout.buffer.write(os.fsencode(text))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failed as failure:
        sys.stderr.buffer.write(os.fsencode(f"{failure}\n"))
        sys.exit(255)
    except OSError as failure:
        sys.stderr.buffer.write(os.fsencode(f"{failure.filename}: {failure.strerror}\n"))
        sys.exit(failure.errno or 255)
