"""The twin of append.pl."""

import errno
import fcntl
import os
import sys

F_FULLFSYNC, CHUNK = 51, 1 << 20  # <sys/fcntl.h> of macOS; Python's name for it is there on a Mac alone
OTHER = bytes(range(255, -1, -1))


class Failed(Exception):
    """What ends it, as perl says it."""

    def __init__(self, path: str, reason: "str | None", code: "int | None" = 255) -> None:
        super().__init__(f"{path}: {reason}")
        self.code = code


def start(path: str, flags: int) -> int:
    """Open a file."""
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        raise Failed(path, error.strerror, error.errno) from error


def flush_file(file: int) -> None:
    """By F_FULLFSYNC where a Mac has it for this file, and by fsync elsewhere."""
    if sys.platform == "darwin":
        try:
            fcntl.fcntl(file, F_FULLFSYNC, 0)
            return
        except OSError:
            pass
    os.fsync(file)


def copy(source: int, file: int, at: int, end: int, is_other: bool) -> None:
    """Write what the source has from one place to another to where the file stands, less its bits where it differs."""
    os.lseek(source, at, 0)
    while at < end:
        data = os.read(source, min(CHUNK, end - at))
        if not data:
            raise Failed(sys.argv[3], "it became shorter")
        left = memoryview(data.translate(OTHER) if is_other else data)
        while left:
            left = left[os.write(file, left) :]
        at += len(data)


def common(one: int, other: int) -> int:
    """The largest common factor."""
    while other:
        one, other = other, one % other
    return one


def scattered(count: int) -> "list[int]":
    """Every number below this one, each once, far from the one before."""
    stride = int(count * 0.618)
    while count and common(stride, count) != 1:
        stride += 1
    return [number * stride % count for number in range(count)]


def lay(source: int, target: str, size: int) -> None:
    """Make the target, with another byte in every place."""
    file = start(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    copy(source, file, 0, size, True)
    flush_file(file)
    os.close(file)


def write_log(source: int, target: str, size: int, piece: int) -> None:
    """Append record by record."""
    file = start(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
    for at in range(0, size, piece):
        copy(source, file, at, min(at + piece, size), False)
        flush_file(file)
    os.close(file)


def write_bands(source: int, target: str, size: int, piece: int) -> None:
    """Write over what is there, band by band."""
    for number in scattered(-(-size // piece)):
        at = number * piece
        file = start(target, os.O_WRONLY)
        os.lseek(file, at, 0)
        copy(source, file, at, min(at + piece, size), False)
        flush_file(file)
        os.close(file)


def main(mode: str, piece: int, path: str, target: str) -> None:
    """Lay the target, or write it."""
    source = start(path, os.O_RDONLY)
    size = os.fstat(source).st_size
    if mode == "lay":
        lay(source, target, size)
    elif mode == "log":
        write_log(source, target, size, piece)
    else:
        write_bands(source, target, size, piece)


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
    except Failed as failure:
        sys.stderr.write(f"{failure}\n")
        sys.exit(failure.code or errno.EIO)
    except OSError as failure:
        sys.stderr.write(f"{sys.argv[4]}: {failure.strerror}\n")
        sys.exit(failure.errno or errno.EIO)
