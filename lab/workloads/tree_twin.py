"""The twin of tree.pl; noise_round_twin.py stands in front of it on the host."""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.workloads.noise_round_twin import CHUNK, ROUND, die, get, put, start, whole_round

File = tuple[int, str]


def read_manifest() -> tuple[list[str], list[File]]:
    """Folders and files."""
    folders, files = [], []
    for line in sys.stdin.buffer.read().split(b"\n"):
        kind, _, rest = os.fsdecode(line).partition(" ")
        if kind == "d":
            folders.append(rest)
        elif kind == "f":
            size, _, path = rest.partition(" ")
            files.append((int(size), path))
    return folders, files


def put_all(path: str, flags: int, text: memoryview, place: int, length: int) -> None:
    """Write one file."""
    file = start(path, flags)
    for at in range(0, length, CHUNK):
        put(file, text[(place + at) % ROUND :][: min(CHUNK, length - at)])
    os.close(file)


def make(top: str, folders: list[str], files: list[File], old: memoryview) -> None:
    """Make it."""
    os.umask(0o022)
    place, path = 0, top
    try:
        for path in [top, *(f"{top}/{folder}" for folder in folders)]:
            os.mkdir(path, 0o755)
        for length, name in files:
            path = f"{top}/{name}"
            put_all(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, old, place, length)
            place += length
    except OSError as error:
        die(path, error)


def change(top: str, files: list[File], new: memoryview, each: int) -> None:
    """Change the first file and each so-many-th after it."""
    younger, place, path = int(time.time()) + 10, 0, top
    try:
        for number, (length, name) in enumerate(files):
            if number % each == 0:
                path = f"{top}/{name}"
                put_all(path, os.O_WRONLY, new, place, length)
                os.utime(path, (younger, younger))
            place += length
    except OSError as error:
        die(path, error)


def compare(file: int, path: str, length: int, text: memoryview, place: int, chunk: memoryview) -> str:
    """What is wrong with one file; nothing where it is right."""
    for at in range(0, length, CHUNK):
        part = min(CHUNK, length - at)
        if get(file, chunk, part) != bytes(text[(place + at) % ROUND :][:part]):
            return f"{path}: differs within {CHUNK} bytes from byte {at}\n"
    return f"{path}: goes on after {length} bytes\n" if os.read(file, 1) else ""


def look_through(top: str, folders: list[str], files: list[File]) -> tuple[int, str]:
    """How many folders and files there are; what is there that was not sent, or is neither."""
    sent = {*folders, *(path for _, path in files)}
    count, strange, left = 0, "", [""]
    while left:
        folder = left.pop(0)
        for entry in os.scandir(f"{top}/{folder}"):
            path = f"{folder}/{entry.name}" if folder else entry.name
            count += 1
            if path not in sent:
                strange = strange or f"{path}: was not sent\n"
            if entry.is_dir(follow_symlinks=False):
                left.append(path)
            elif not entry.is_file(follow_symlinks=False):
                return count, f"{path}: is neither folder nor file\n"
    return count, strange


def check(top: str, folders: list[str], files: list[File], old: memoryview, new: memoryview, each: int) -> str:
    """What is wrong with the tree; nothing where it is right."""
    place, path, chunk = 0, top, memoryview(bytearray(CHUNK))
    try:
        count, strange = look_through(top, folders, files)
        if count != len(folders) + len(files):
            return strange or "something is missing\n"
        for folder in folders:
            if not os.path.isdir(f"{top}/{folder}"):
                return f"{folder}: no folder\n"
        for number, (length, name) in enumerate(files):
            path = f"{top}/{name}"
            text = new if each and number % each == 0 else old
            file = start(path, os.O_RDONLY | os.O_NONBLOCK)
            wrong = compare(file, name, length, text, place, chunk)
            os.close(file)
            if wrong:
                return wrong
            place += length
    except OSError as error:
        die(path, error)
    return ""


def main(mode: str, top: str, seed: str, every: str) -> None:
    """Make it, change it, or say whether it is as made and changed."""
    folders, files = read_manifest()
    size, each = sum(length for length, _ in files), int(every)
    old = whole_round(seed, size)
    new = whole_round(f"{seed}/changed", size) if each else old
    wrong = ""
    if mode == "make":
        make(top, folders, files, old)
    elif mode == "change":
        change(top, files, new, each)
    else:
        wrong = check(top, folders, files, old, new, each)
    sys.stdout.buffer.write(os.fsencode(wrong or "as made\n"))


if __name__ == "__main__":
    main(*sys.argv[1:])
