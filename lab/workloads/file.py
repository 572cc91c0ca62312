"""One large file of noise."""

from __future__ import annotations

import secrets

from lab.base.errors import TransferError
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host
from lab.hosts.perl import run_perl
from lab.workloads.workload import Payload

ROUND = read_script(__file__, "noise_round.pl")
NOISE = ROUND + read_script(__file__, "noise.pl")
FLOOR_BYTES_PER_S = 2e6
FLOOR_FILES_PER_S = 20.0
SLACK_S = 60.0


def deadline_s(size_bytes: int, files: int = 1) -> float:
    """Seconds that making or reading this many bytes in so many files may take before it counts as stuck."""
    return SLACK_S + size_bytes / FLOOR_BYTES_PER_S + (files - 1) / FLOOR_FILES_PER_S


def payload_name(trial_id: str) -> str:
    """The name of a trial's payload, which nobody who may write beside it can know before it is there."""
    return f"{trial_id}-{secrets.token_hex(8)}.bin"


class OneFile(Payload):
    """A single file."""

    name = "file"

    def files(self, size_bytes: int) -> int:
        """One."""
        return 1

    def make(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """See :meth:`Payload.make`."""
        _noise(host, "make", path, size_bytes, seed)

    def check(self, host: Host, path: str, size_bytes: int, seed: str) -> None:
        """See :meth:`Payload.check`."""
        verdict = _noise(host, "check", path, size_bytes, seed)
        if verdict != "as made\n":
            message = f"{path} does not hold what was sent: {first_line(verdict)}"
            raise TransferError(message, host=host.name)


def noise(mode: str, path: str, size_bytes: int, seed: str) -> tuple[str, ...]:
    """The command that makes the noise of this seed at ``path`` (``make``), or compares what is there (``check``)."""
    return run_perl(NOISE, mode, path, str(size_bytes), seed)


def _noise(host: Host, mode: str, path: str, size_bytes: int, seed: str) -> str:
    return host.run(*noise(mode, path, size_bytes, seed), deadline_s=deadline_s(size_bytes)).stdout


PAYLOAD = OneFile()
