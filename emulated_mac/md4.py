"""MD4 (RFC 1320), which NTLM needs for its key and today's OpenSSL lacks."""

import struct

WORD = 0xFFFFFFFF
# For each round: the order of the words, the shifts, and the added constant
ROUNDS = (
    (tuple(range(16)), (3, 7, 11, 19), 0),
    (tuple(column + 4 * row for column in range(4) for row in range(4)), (3, 5, 9, 13), 0x5A827999),
    ((0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), (3, 9, 11, 15), 0x6ED9EBA1),
)


def md4(data: bytes) -> bytes:
    """The digest, 16 bytes."""
    padded = data + b"\x80" + bytes((55 - len(data)) % 64) + struct.pack("<Q", 8 * len(data))
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for at in range(0, len(padded), 64):
        mixed = _mix(state, struct.unpack_from("<16I", padded, at))
        state = [(old + new) & WORD for old, new in zip(state, mixed, strict=True)]
    return struct.pack("<4I", *state)


def _mix(state: list[int], words: tuple[int, ...]) -> list[int]:
    """Three rounds over one block."""
    a, b, c, d = state
    for number, (order, shifts, constant) in enumerate(ROUNDS):
        for step, index in enumerate(order):
            chosen = (b & c | ~b & d, b & c | b & d | c & d, b ^ c ^ d)[number]
            total = (a + chosen + words[index] + constant) & WORD
            shift = shifts[step % 4]
            a, b, c, d = d, (total << shift | total >> 32 - shift) & WORD, b, c
    return [a, b, c, d]
