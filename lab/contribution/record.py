"""A contribution: a copy of a run without names, and `contribution.json`, which can be computed again from the copy."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lab import __version__
from lab.base import durable
from lab.base.masking import Masker
from lab.base.untrusted import open_file
from lab.results.json_object import RunJson
from lab.results.public import Public
from lab.results.run_folder import RunFolder, load

NAME = "contribution.json"
SCHEMA = 1
MOST_BYTES = 4 << 20  # 1000 cases take some 200 kB
# Facts of a host about the hardware and system that was measured
FACTS = (
    "platform", "os", "kernel", "cpu", "cores", "memory_bytes", "link_bits_per_s", "mtu_max", "congestion", "about",
)  # fmt: skip
# Fields of a trial that never hold a name, so that a copy without names has them unchanged
MEASURED = (
    "trial_id", "case_id", "block", "position", "started_at", "direction", "status", "size_bytes", "files", "elapsed_s",
    "client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes", "retransmits",
)  # fmt: skip


class FileDigest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One file of the contribution."""

    bytes: int  #: Its length.
    sha256: str  #: The SHA-256 of its bytes, in hexadecimal digits.


class Median(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One case, or one ceiling."""

    case_id: str  #: Which.
    n: int  #: How many good trials it has; anchors are none.
    MB_per_s: float  #: The median of these, in 10^6 bytes per second.
    low: float | None = None  #: The low end of its exact 95 % interval; null below 6 trials.
    high: float | None = None  #: The high end of that.


class Contribution(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The content of `contribution.json`."""

    schema: int  #: The version of this file: 1.
    lab: str  #: The version of the lab that wrote it.
    files: dict[str, FileDigest]  #: Every other file of the contribution, by name.
    raw_trials_sha256: str
    """The digest of the run's own `trials.jsonl`, which stays with its owner: it proves later which run this is."""
    measured_sha256: str
    """The digest of the measurements without names: the same in every copy of a run, whatever was replaced in it."""
    hosts: dict[str, dict[str, Any]]  #: What was measured on, by role: system, kernel, processor, memory, link.
    medians: list[Median]
    """Each case with a good trial, and each ceiling of the link and the store, sorted by `case_id`."""


def read(content: bytes) -> Contribution:
    """Parse a `contribution.json`. Raises ValueError."""
    try:
        return msgspec.json.decode(content, type=Contribution)
    except RecursionError as error:
        raise ValueError("brackets stand too deep in brackets") from error


def write(contribution: Contribution) -> bytes:
    """The bytes of `contribution.json`, which :func:`read` parses."""
    return msgspec.json.format(msgspec.json.encode(contribution), indent=1) + b"\n"


def contribute(run: RunFolder, to: Path, masker: Masker | None = None) -> Contribution:
    """Write the contribution of a run into a new folder; ``masker`` collects the replaced names. Raises BadInput."""
    public = Public(run, masker)  # reads all lines first: a folder that is no run is not hashed
    contribution = Contribution(
        schema=SCHEMA, lab=__version__, raw_trials_sha256=digest_file(run.trials_path).sha256,
        files={path.name: digest_file(path) for path in sorted(public.path.iterdir())},
        measured_sha256=digest_trials(public.records()), hosts=hosts_of(public.run), medians=medians_of(public),
    )  # fmt: skip
    durable.create(public.path / NAME, write(contribution))
    public.copy_to(to)
    return contribution


def digest_file(path: Path) -> FileDigest:
    """Length and SHA-256 of an ordinary file. Raises OSError for a link or a special file."""
    with open_file(path) as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileDigest(file.tell(), digest.hexdigest())


def digest_trial(record: Mapping[str, Any]) -> str:
    """The SHA-256 of what was measured in one trial."""
    values = [record.get(name) for name in MEASURED]
    return hashlib.sha256(json.dumps(values, separators=(",", ":")).encode()).hexdigest()


def digest_trials(records: Iterable[Mapping[str, Any]]) -> str:
    """The SHA-256 of what was measured in a run, in any order of its lines."""
    return hashlib.sha256("\n".join(sorted(map(digest_trial, records))).encode()).hexdigest()


def hosts_of(run: RunJson) -> dict[str, dict[str, Any]]:
    """The FACTS of each host of a run."""
    return {
        role: {name: facts[name] for name in FACTS if facts.get(name) not in (None, {}, "")}
        for role, facts in run.get("hosts", {}).items()
    }


def medians_of(folder: RunFolder) -> list[Median]:
    """The median of each case, recomputed from its good trials without anchors. Raises BadInput."""
    from lab import stats

    trials = stats.encode(load(folder.path))
    frame = trials.frame[(trials.good & ~trials.values("anchor").astype(bool))]
    medians = []
    for case_id, group in frame.groupby("case_id", sort=True)["MB_per_s"]:
        speeds = sorted(group.tolist())
        low, high = stats.median_interval(speeds)
        interval = {} if math.isnan(low) else {"low": low, "high": high}
        medians.append(Median(str(case_id), len(speeds), float(group.median()), **interval))
    return medians
