"""The twin of frames.pl."""

import errno
import os
import sys
import time

BEGIN_S = 0.2  # until all streams stand by


def now() -> float:
    """Of the same clock as perl's."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def fail(path: str, reason: "str | None", code: "int | None") -> None:
    """End as perl does; a process that plays ends no other."""
    sys.stderr.write(f"{path}: {reason}\n")
    sys.stderr.flush()
    os._exit(code or errno.EIO)


def start(path: str, flags: int) -> int:
    """Open a file."""
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        fail(path, error.strerror, error.errno)
        raise


def copy(source: int, target: int, length: int) -> None:
    """Copy one frame."""
    frame = bytearray()
    while len(frame) < length:
        try:
            data = os.read(source, length - len(frame))
        except OSError as error:
            fail(sys.argv[4], error.strerror, error.errno)
        if not data:
            fail(sys.argv[4], "it became shorter", 255)
        frame += data
    left = memoryview(frame)
    try:
        while left:
            left = left[os.write(target, left) :]
    except OSError as error:
        fail(sys.argv[5], error.strerror, error.errno)


def play(at: int, end: int, begin: float, frame_bytes: int, frames_per_s: float) -> str:
    """One stream: the number of its frames, of the late ones, and by how much the worst of them was late."""
    source, target = start(sys.argv[4], os.O_RDONLY), start(sys.argv[5], os.O_WRONLY)
    os.lseek(source, at, 0)
    os.lseek(target, at, 0)
    frames, late, worst = 0, 0, 0.0
    while at < end:
        time.sleep(max(0.0, begin + frames / frames_per_s - now()))
        copy(source, target, min(frame_bytes, end - at))
        at += frame_bytes
        frames += 1
        lateness = now() - begin - frames / frames_per_s
        if lateness > 0:
            late += 1
            worst = max(worst, lateness)
    try:
        os.close(target)
    except OSError as error:
        fail(sys.argv[5], error.strerror, error.errno)
    return f"{frames} {late} {worst!r}\n"


def player(at: int, end: int, begin: float, frame_bytes: int, frames_per_s: float) -> "tuple[int, int]":
    """Another process that plays; its id, and where its report comes from."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.write(writing, play(at, end, begin, frame_bytes, frames_per_s).encode())
        os._exit(0)
    except OSError as error:
        fail("frames", error.strerror, error.errno)
    os._exit(1)


def main(streams: int, frame_bytes: int, frames_per_s: float, path: str, target: str) -> None:
    """Play all streams, and say how many frames came late."""
    size = os.fstat(start(path, os.O_RDONLY)).st_size
    os.close(start(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    frames_of_all = (size + frame_bytes - 1) // frame_bytes
    each = frame_bytes * ((frames_of_all + streams - 1) // streams)
    begin = now() + BEGIN_S
    parts = [(number * each, min((number + 1) * each, size)) for number in range(streams)]
    players = [player(at, end, begin, frame_bytes, frames_per_s) for at, end in parts]
    frames, late, worst = 0, 0, 0.0
    for child, reading in players:
        with open(reading, encoding="ascii") as report:
            words = report.read().split()
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(1)
        frames, late, worst = frames + int(words[0]), late + int(words[1]), max(worst, float(words[2]))
    print(f"frames {frames}\nlate {late}\nworst_s {worst:.6f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], sys.argv[5])
