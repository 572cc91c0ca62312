"""The twin of noise.pl; noise_round_twin.py stands in front of it on the host."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lab.workloads.noise_round_twin import CHUNK, ROUND, die, get, put, start, whole_round

HALVED = 1 << 28


def make(path: str, size: int, text: memoryview) -> None:
    """Write it."""
    file = start(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    for at in range(0, size, CHUNK):
        put(file, text[at % ROUND :][: min(CHUNK, size - at)])
    os.fchmod(file, 0o644)
    os.close(file)


def compare(path: str, size: int, text: memoryview, first: int, end: int) -> str:
    """What is wrong with the bytes from one place to another; nothing where they are right."""
    file = start(path, os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(file, first, 0)
    chunk = memoryview(bytearray(CHUNK))
    for at in range(first, end, CHUNK):
        length = min(CHUNK, end - at)
        if get(file, chunk, length) != bytes(text[at % ROUND :][:length]):
            return f"differs within {CHUNK} bytes from byte {at}\n"
    return f"goes on after {size} bytes\n" if end == size and os.read(file, 1) else ""


def check(path: str, size: int, text: memoryview) -> str:
    """Of a large file a second process compares the second half."""
    if size < HALVED:
        return compare(path, size, text, 0, size)
    half = size // 2 // CHUNK * CHUNK
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, compare(path, size, text, half, size).encode())
            os._exit(0)
        except OSError as error:
            sys.stderr.write(f"{path}: {error.strerror}\n")
        finally:
            os._exit(1)
    os.close(writing)
    wrong = compare(path, size, text, 0, half)
    with open(reading, encoding="utf-8") as second:
        wrong += second.read()
    if os.waitpid(child, 0)[1] != 0:
        sys.stderr.write(f"{path}: its second half could not be compared\n")
        sys.exit(255)
    return wrong


def main(mode: str, path: str, size: int, seed: str) -> None:
    """Make it, or say whether it is as made."""
    text = whole_round(seed, size)
    wrong = ""
    try:
        if mode == "make":
            make(path, size, text)
        else:
            wrong = check(path, size, text)
    except OSError as error:
        die(path, error)
    print(wrong or "as made\n", end="")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
