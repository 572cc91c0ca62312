"""fio: many small requests at random places of a file, and how long each takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from lab.base.errors import LabFailure, TransferError, Unsupported
from lab.base.untrusted import first_line
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.option_levels import one_of, whole
from lab.hosts import Host
from lab.hosts.perl import run_perl
from lab.workloads.append import APPEND
from lab.workloads.workload import Move, Option, Tool

if TYPE_CHECKING:
    from lab.results.observed import Observed  # a run folder's reader comes with it, and whoever plans needs none

BLOCK_BYTES = 4096
MIXED_READS = 70  # percent of the requests of a mixed load, as most people who mix have it
RANDOM, MIXED = "random", "mixed"
VERSION = re.compile(r"fio-3\.([0-9]{1,3})[\w.-]{0,40}")


class Fio(Tool):
    """Reads or writes every block of a file in the share once, in random order, so the share must be mounted.

    A platform calls it with an engine of its own that can have several requests under way. Requests go past the
    client's file cache (``direct``). fio makes up what it writes, with a checksum in each block, and keeps nothing of
    what it reads.
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
                RANDOM,
                "`random`: requests of the trial's direction only; `mixed`: 70 % reads and 30 % writes, as a trial of "
                "direction `write`.",
            ),
            "jobs": Option(whole(1, 64), "1", "How many jobs there are, each in a part of the file of its own."),
            "iodepth": Option(whole(1, 256), "1", "How many requests each job has under way."),
        }
    )

    def check(self, host: Host, call: Sequence[str]) -> None:
        """See :meth:`Tool.check`."""
        self.version(host, call)

    def version(self, host: Host, call: Sequence[str]) -> str:
        """Such as ``fio-3.33``. Raises Unsupported for another than 3.x, whose reports mean something else."""
        printed = first_line(host.run(call[0], "--version").stdout)
        if not VERSION.fullmatch(printed):
            raise Unsupported(
                f"fio: `{call[0]} --version` prints {printed!r}, and only fio 3.x is known to the lab",
                "install fio 3 there, or take fio out of the sweep",
                host=host.name,
            )
        return printed

    def conflict(self, case: Case) -> str:
        """See :meth:`Tool.conflict`."""
        if why := super().conflict(case):
            return why
        jobs = int(self.level(case.tool_options, "jobs"))
        if case.size_bytes % (BLOCK_BYTES * jobs):
            return f"a size of {case.size_bytes} bytes: it is no multiple of {jobs} × {BLOCK_BYTES} bytes"
        if self.level(case.tool_options, "rw") == MIXED and case.direction is Direction.READ:
            return "direction read and rw mixed: that writes, too, and is a trial of direction write"
        return ""

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.lay_out`; what is read is there already."""
        if move.direction is Direction.READ:
            return ()
        return run_perl(APPEND, "lay", "0", move.source, move.target)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        report = ("--output-format=json", "--lat_percentiles=1", "--clat_percentiles=0")
        return (*self._workload(call, move), *([] if move.direction is Direction.READ else ["--do_verify=0"]), *report)

    def verification(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.verification`."""
        return () if move.direction is Direction.READ else (*self._workload(call, move), "--verify_only=1")

    def _workload(self, call: Sequence[str], move: Move) -> tuple[str, ...]:
        """The same places in the same order at every call, each block once."""
        jobs, iodepth, mode = (self.level(move.options, name) for name in ("jobs", "iodepth", "rw"))
        reads = move.direction is Direction.READ
        path = move.source if reads else move.target
        part = move.size_bytes // int(jobs)
        kind = ("randrw", f"--rwmixread={MIXED_READS}") if mode == MIXED else ("randread" if reads else "randwrite",)
        checked = () if reads else ("--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0")
        return (
            *call, "--name=lab", f"--filename={_escape(path)}", f"--rw={kind[0]}", *kind[1:], f"--bs={BLOCK_BYTES}",
            f"--size={part}", f"--offset_increment={part}", f"--numjobs={jobs}", f"--iodepth={iodepth}", "--direct=1",
            "--fallocate=none", "--randrepeat=1", "--thread", "--group_reporting", *checked,
        )  # fmt: skip

    def argv_for(
        self, call: Sequence[str], path: str, size_bytes: int, direction: Direction, seconds: float
    ) -> tuple[str, ...]:
        """The command that measures a file where it lies: by the defaults of its options, no longer than so long."""
        move = Move(source=path, target=path, size_bytes=size_bytes, direction=direction)
        return (*self.argv(call, "", move), f"--runtime={seconds:g}")

    def read_report(self, printed: str, move: Move) -> Observed:
        """See :meth:`Tool.read_report`."""
        from lab.results.observed import Observed
        from lab.workloads.fio_report import parse_report

        try:
            requests = parse_report(printed)
        except ValueError as error:
            raise LabFailure(f"fio: its report cannot be true: {error}", host="client") from error
        moved = sum(way.bytes or 0 for way in (requests.read, requests.write) if way)
        if moved != move.size_bytes:
            raise TransferError(f"fio: it moved {moved} of {move.size_bytes} bytes", host="client")
        return Observed(requests=requests)


def _escape(path: str) -> str:
    """A path for fio, which takes a colon for the end of a name."""
    return path.replace("\\", "\\\\").replace(":", "\\:")


TOOL = Fio()
