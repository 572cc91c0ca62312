"""One large file of random bytes."""

from __future__ import annotations

import re

from lab.errors import TransferError
from lab.hosts import Host
from lab.workloads.base import Payload

FLOOR_BYTES_PER_S = 2e6
SLACK_S = 60.0


def deadline_s(size_bytes: int) -> float:
    """Seconds that moving this many bytes may take before it counts as stuck."""
    return SLACK_S + size_bytes / FLOOR_BYTES_PER_S


class OneFile(Payload):
    """A single file."""

    name = "file"

    def files(self, size_bytes: int) -> int:
        """One."""
        return 1

    def make(self, host: Host, path: str, size_bytes: int) -> None:
        """See :meth:`Payload.make`."""
        write = 'head -c "$1" /dev/urandom > "$2" && chmod 644 "$2"'
        host.shell(write, str(size_bytes), path, deadline_s=deadline_s(size_bytes))

    def fingerprint(self, host: Host, path: str, hasher: tuple[str, ...], size_bytes: int) -> str:
        """The SHA-256 of the file."""
        found = host.run(*hasher, path, deadline_s=deadline_s(size_bytes)).stdout.split()
        if not found or not re.fullmatch(r"[0-9a-f]{64}", found[0]):
            raise TransferError(f"{host.role}: no SHA-256 of {path}")
        return found[0]


PAYLOAD = OneFile()
