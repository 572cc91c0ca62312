"""fio: many small requests at random places of a file, and the time of each."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lab.base.errors import LabFailure, TransferError, Unsupported
from lab.base.untrusted import FASTEST_BYTES_PER_S, count, first_line, from_json, quantity
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.option_levels import Option, one_of, whole
from lab.hosts import Host
from lab.hosts.command import run_perl
from lab.results.observed import Observed, Requests, RequestsOneWay
from lab.workloads.append import APPEND
from lab.workloads.workload import Move, Tool

BLOCK_BYTES = 4096
MIXED_READS = 70  # percent of the requests of a mixed load, as is usual
RANDOM, MIXED = "random", "mixed"
VERSION = re.compile(r"fio-3\.([0-9]{1,3})[\w.-]{0,40}")
OLDEST = 18  # 3.12 reports no percentiles of the whole latency; up to 3.17 --verify_only takes good blocks for bad ones
PERCENTILES = ("50.000000", "95.000000", "99.000000", "99.900000")


class Fio(Tool):
    """Reads or writes every block of a file in the share once, in random order, so the share must be mounted.

    The platform names an engine that can have several requests in flight. Requests bypass the client's file cache
    (``direct``). fio generates what it writes, with a checksum in each block, and discards what it reads.
    """

    name = "fio"
    program = "fio"
    needs_mount = True
    reports = True
    programs = MappingProxyType({"fio": "fio"})
    is_extra = True
    keeps_read = False
    payloads = ("file",)
    options = MappingProxyType(
        {
            "rw": Option(
                one_of(RANDOM, MIXED),
                "`random`: requests of the trial's direction only; `mixed`: 70 % reads and 30 % writes, as a trial of "
                "direction `write`.",
                RANDOM,
            ),
            "jobs": Option(whole(1, 64), "How many jobs there are, each in a part of the file of its own.", "1"),
            "iodepth": Option(whole(1, 256), "How many requests each job has under way.", "1"),
        }
    )

    def check(self, host: Host, call: Sequence[str]) -> None:
        self.version(host, call)

    def version(self, host: Host, call: Sequence[str]) -> str:
        """Such as ``fio-3.33``. Raises Unsupported unless it is one of 3.18 to 3.x."""
        printed = first_line(host.run(call[0], "--version").stdout)
        match = VERSION.fullmatch(printed)
        if not match or int(match[1]) < OLDEST:
            problem = f"fio: `{call[0]} --version` prints {printed!r}, and the lab needs fio 3.{OLDEST} or a later 3.x"
            raise Unsupported(problem, "install that there, or take fio out of the sweep", host=host.name)
        return printed

    def conflict(self, case: Case) -> str:
        if why := super().conflict(case):
            return why
        jobs = int(self.level(case.tool_options, "jobs"))
        if case.size_bytes % (BLOCK_BYTES * jobs):
            return f"a size of {case.size_bytes} bytes: it is no multiple of {jobs} × {BLOCK_BYTES} bytes"
        if self.level(case.tool_options, "rw") == MIXED and case.direction is Direction.READ:
            return "direction read and rw mixed: that writes, too, and is a trial of direction write"
        return ""

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.lay_out`. A read finds its file there already."""
        if move.direction is Direction.READ:
            return ()
        return run_perl(APPEND, "lay", "0", move.source, move.target)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        report = ("--output-format=json", "--lat_percentiles=1", "--clat_percentiles=0")
        return (*self._workload(call, move), *([] if move.direction is Direction.READ else ["--do_verify=0"]), *report)

    def verification(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return () if move.direction is Direction.READ else (*self._workload(call, move), "--verify_only=1")

    def _workload(self, call: Sequence[str], move: Move) -> tuple[str, ...]:
        """Every call visits the same places in the same order, each block once."""
        jobs, iodepth, mode = (self.level(move.options, name) for name in ("jobs", "iodepth", "rw"))
        reads = move.direction is Direction.READ
        path = (move.source if reads else move.target).replace("\\", "\\\\").replace(":", "\\:")
        part = move.size_bytes // int(jobs)
        kind = ("randrw", f"--rwmixread={MIXED_READS}") if mode == MIXED else ("randread" if reads else "randwrite",)
        checked = () if reads else ("--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0")
        return (
            *call, "--name=lab", f"--filename={path}", f"--rw={kind[0]}", *kind[1:], f"--bs={BLOCK_BYTES}",
            f"--size={part}", f"--offset_increment={part}", f"--numjobs={jobs}", f"--iodepth={iodepth}", "--direct=1",
            "--fallocate=none", "--randrepeat=1", "--thread", "--group_reporting", *checked,
        )  # fmt: skip

    def argv_for(
        self, call: Sequence[str], path: str, size_bytes: int, direction: Direction, seconds: float
    ) -> tuple[str, ...]:
        """The command that measures a file in place with default options, for at most ``seconds``."""
        move = Move(source=path, target=path, size_bytes=size_bytes, direction=direction)
        return (*self.argv(call, "", move), f"--runtime={seconds:g}")

    def read_report(self, printed: str, move: Move) -> Observed:
        try:
            requests = parse_report(printed)
        except ValueError as error:
            raise LabFailure(f"fio: its report cannot be true: {error}", host="client") from error
        moved = sum(calls.bytes or 0 for calls in (requests.read, requests.write) if calls)
        if moved != move.size_bytes:
            raise TransferError(f"fio: it moved {moved} of {move.size_bytes} bytes", host="client")
        return Observed(requests=requests)


def parse_report(text: str) -> Requests:
    """Both kinds of requests, each None if there were none. Notes may stand around the JSON. Raises ValueError."""
    try:
        report = from_json(text, amid=True)
        if not re.match(r"fio-3\.", str(report["fio version"])):
            raise ValueError("it is none of fio 3.x")
        (job,) = report["jobs"]
        if job["error"] != 0:
            raise ValueError(f"a job ended with error {job['error']!r:.20}")
        read, write = _parse_requests(job["read"]), _parse_requests(job["write"])
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{type(error).__name__}: {error!s:.60}") from error
    if read is None and write is None:
        raise ValueError("there was no request")
    return Requests(read=read, write=write)


def _parse_requests(report: Mapping[str, Any]) -> RequestsOneWay | None:
    """The requests of one kind. fio rounds its rates, so they are computed from its runtime."""
    requests, moved = count(report["total_ios"]), count(report["io_bytes"])
    if requests == 0:
        return None
    runtime_s = quantity(report["runtime"]) / 1000
    if not 0 < moved <= FASTEST_BYTES_PER_S * runtime_s:
        raise ValueError(f"{moved} bytes in {runtime_s} s")
    latency = report["lat_ns"]  # from submission to completion
    p50_ms, p95_ms, p99_ms, p999_ms = times = [
        quantity(latency["percentile"][percent]) / 1e6 for percent in PERCENTILES
    ]
    if sorted(times) != times:
        raise ValueError("a higher percentile is a shorter time")
    longest_ms = quantity(latency["max"]) / 1e6  # a percentile is the end of a bucket, and may be longer
    return RequestsOneWay(
        requests=requests, bytes=moved, runtime_s=runtime_s, iops=round(requests / runtime_s, 3),
        bytes_per_s=round(moved / runtime_s), p50_ms=p50_ms, p95_ms=p95_ms, p99_ms=p99_ms, p999_ms=p999_ms,
        longest_ms=longest_ms,
    )  # fmt: skip


TOOL = Fio()
