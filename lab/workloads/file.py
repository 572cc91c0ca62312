"""One large file of noise."""

import secrets

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.hosts.command import run_perl
from lab.workloads.workload import Payload

ROUND = read_script(__file__, "noise_round.pl")
NOISE = ROUND + read_script(__file__, "noise.pl")
FLOOR_BYTES_PER_S = 2e6
FLOOR_FILES_PER_S = 20.0
SLACK_S = 60.0


def deadline_s(size_bytes: int, files: int = 1) -> float:
    """Seconds after which making or reading these bytes and files counts as stuck."""
    return SLACK_S + size_bytes / FLOOR_BYTES_PER_S + (files - 1) / FLOOR_FILES_PER_S


def payload_name(trial_id: str) -> str:
    """An unguessable name for a trial's payload, so that nobody can put something in its place."""
    return f"{trial_id}-{secrets.token_hex(8)}.bin"


class OneFile(Payload):
    """A single file."""

    name = "file"

    def files(self, size_bytes: int) -> int:
        return 1

    def perform(self, mode: str, host: Host, path: str, size_bytes: int, seed: str) -> str:
        return host.run(*noise(mode, path, size_bytes, seed), deadline_s=deadline_s(size_bytes)).stdout


def noise(mode: str, path: str, size_bytes: int, seed: str) -> tuple[str, ...]:
    """The command that makes this seed's noise at ``path`` (``make``), or compares the file there (``check``)."""
    return run_perl(NOISE, mode, path, str(size_bytes), seed)


PAYLOAD = OneFile()
