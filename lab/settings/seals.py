"""Seals of a journal's lines: each proves that this controller wrote the line, in this run and at this place.

A seal is an HMAC (RFC 2104) over the previous seal (at first the run's identity) and the line. So a line of another
run, or one that was moved, changed or left out, makes its own seal and all later ones wrong.
"""

import hmac
import re
from typing import Protocol

SEALED = re.compile(rb'(\{.*), "seal": "([0-9a-f]{64})"\}', re.DOTALL)


def mac(key: bytes, *parts: bytes) -> bytes:
    """An HMAC-SHA256 over parts, which differs for each list of parts."""
    return hmac.digest(key, b"".join(len(part).to_bytes(8, "big") + part for part in parts), "sha256")


class Seals(Protocol):
    """Makes and checks the seals of a journal's lines."""

    def seal(self, content: bytes) -> bytes:
        """The next line with this content, which counts once it was accepted."""

    def accept(self, line: bytes) -> bytes:
        """The content of the next line. Raises ValueError for any other line."""


class NoSeals:
    """For a journal without proof: lines are written without seals, and read with or without."""

    def seal(self, content: bytes) -> bytes:
        """The content itself."""
        return content

    def accept(self, line: bytes) -> bytes:
        """The content, without a seal."""
        match = SEALED.fullmatch(line)
        return match[1] + b"}" if match else line


class RunSeals:
    """Seals for a run of this controller; ``count`` is the number of accepted lines."""

    def __init__(self, key: bytes, run: str):
        self._key = key
        self._last = mac(key, b"journal", run.encode())
        self.count = 0

    def seal(self, content: bytes) -> bytes:
        """The content with its seal as the last key."""
        return content[:-1] + b', "seal": "%s"}' % self._next(content).hex().encode()

    def accept(self, line: bytes) -> bytes:
        """The content without its seal. Raises ValueError for a missing or wrong seal."""
        match = SEALED.fullmatch(line)
        if not match:
            raise ValueError("it has no seal of this controller")
        content = match[1] + b"}"
        seal = self._next(content)
        if not hmac.compare_digest(seal.hex().encode(), match[2]):
            raise ValueError("its seal is not that of this line of this run")
        self._last = seal
        self.count += 1
        return content

    def _next(self, content: bytes) -> bytes:
        return mac(self._key, b"line", self._last, content)
