"""The twin of noise_round.pl."""

import hashlib
import os
import stat
import sys
from typing import NoReturn

CHUNK, ROUND = 1 << 18, 8388617
PRIMES = (262147, 262151)


def die(path: str, error: OSError) -> NoReturn:
    """As perl does."""
    sys.stderr.write(f"{path}: {error.strerror}\n")
    sys.exit(error.errno)


def noise(seed: str, length: int) -> bytes:
    """A short noise, and its beginning once more, so that a whole chunk begins anywhere in it."""
    parts = [hashlib.sha512(f"{seed}/{length}/{count}".encode()).digest() for count in range(-(-length // 64))]
    text = b"".join(parts)[:length]
    return text + text[:CHUNK]


def whole_round(seed: str, size: int) -> memoryview:
    """The noise that goes round, as far as so many bytes need it, and its first chunk once more."""
    one, other = (noise(seed, prime) for prime in PRIMES)
    chunks = []
    for at in range(0, min(size, ROUND), CHUNK):
        first = int.from_bytes(one[at % PRIMES[0] :][:CHUNK], "little")
        second = int.from_bytes(other[at % PRIMES[1] :][:CHUNK], "little")
        chunks.append((first ^ second).to_bytes(CHUNK, "little"))
    text = b"".join(chunks)[:ROUND]
    return memoryview(text + text[:CHUNK])


def put(file: int, text: memoryview) -> None:
    """Write all of it."""
    while text:
        text = text[os.write(file, text) :]


def get(file: int, chunk: memoryview, length: int) -> bytes:
    """Up to so many bytes of a file, read through a buffer that is there already."""
    count = 0
    while count < length:
        added = os.readv(file, [chunk[count:length]])
        if added == 0:
            break
        count += added
    return bytes(chunk[:count])  # of views each byte would be compared by itself, which takes many times as long


def start(path: str, flags: int) -> int:
    """Open the file, which must be one; no link is followed."""
    file = os.open(path, flags | os.O_NOFOLLOW, 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        sys.stderr.write(f"{path}: no file\n")
        sys.exit(255)
    return file
