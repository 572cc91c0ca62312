"""The twin of noise.pl."""

import hashlib
import os
import stat
import sys

CHUNK, ROUND = 1 << 18, 8388617
PRIMES = (262147, 262151)
HALVED = 1 << 28


def die(path: str, error: OSError) -> None:
    """As perl does."""
    sys.stderr.write(f"{path}: {error.strerror}\n")
    sys.exit(error.errno)


def noise(seed: str, length: int) -> bytes:
    """A short noise, and its beginning once more, so that a whole chunk begins anywhere in it."""
    parts = [hashlib.sha512(f"{seed}/{length}/{count}".encode()).digest() for count in range(-(-length // 64))]
    text = b"".join(parts)[:length]
    return text + text[:CHUNK]


def whole_round(seed: str, size: int) -> bytes:
    """The noise that goes round, as far as a file of this size needs it."""
    one, other = (noise(seed, prime) for prime in PRIMES)
    chunks = []
    for at in range(0, min(size, ROUND), CHUNK):
        first = int.from_bytes(one[at % PRIMES[0] :][:CHUNK], "little")
        second = int.from_bytes(other[at % PRIMES[1] :][:CHUNK], "little")
        chunks.append((first ^ second).to_bytes(CHUNK, "little"))
    text = b"".join(chunks)[:ROUND]
    return text + text[:CHUNK]


def start(path: str, flags: int) -> int:
    """Open the file, which must be one; no link is followed."""
    file = os.open(path, flags | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        sys.stderr.write(f"{path}: no file\n")
        sys.exit(255)
    return file


def make(path: str, size: int, text: memoryview) -> None:
    """Write it."""
    file = start(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    for at in range(0, size, CHUNK):
        left = text[at % ROUND :][: min(CHUNK, size - at)]
        while left:
            left = left[os.write(file, left) :]
    os.fchmod(file, 0o644)
    os.close(file)


def compare(path: str, size: int, text: memoryview, first: int, end: int) -> str:
    """What is wrong with the bytes from one place to another; nothing where they are right."""
    file = start(path, os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(file, first, 0)
    chunk = memoryview(bytearray(CHUNK))
    for at in range(first, end, CHUNK):
        length = min(CHUNK, end - at)
        count = 0
        while count < length:
            added = os.readv(file, [chunk[count:length]])
            if added == 0:
                break
            count += added
        # of views each byte would be compared by itself, which takes many times as long
        if count < length or bytes(chunk[:length]) != bytes(text[at % ROUND :][:length]):
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
    text = memoryview(whole_round(seed, size))
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
