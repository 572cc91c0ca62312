"""metadata: what it costs to make, find, list, rename and remove a file, without anything in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from lab.base.errors import LabFailure, TransferError
from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, quantity
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.option_levels import one_of
from lab.hosts import Host
from lab.hosts.perl import run_perl
from lab.workloads.file import deadline_s
from lab.workloads.workload import Move, Option, Tool

if TYPE_CHECKING:
    from lab.results.observed import (  # a run folder's reader comes with it, and whoever plans needs none
        Observed,
        RequestsOneWay,
    )

METADATA = read_script(__file__, "metadata.pl")
# The way that the names go in each phase: they are what is moved
WAYS = {
    "create": Direction.WRITE, "stat": Direction.WRITE, "list": Direction.READ, "rename": Direction.WRITE,
    "delete": Direction.WRITE,
}  # fmt: skip


class Metadata(Tool):
    """Does the same with every file of a tree in the share, one after another: a phase of its own in each trial.

    Folders are there before and after. Files that are there before have the length that the tree says, and nothing
    written into them. Phases are those of mdtest (hpc/ior, doc/mdtest.1), with readdir in addition.
    """

    name = "metadata"
    program = "perl"
    needs_mount = True
    reports = True
    programs = MappingProxyType({})
    moves_names = True
    folder_options = ()
    contents = ""
    options = MappingProxyType(
        {
            "phase": Option(
                one_of(*WAYS),
                "create",
                "What is done with each file: `create` (empty), `stat`, `rename` or `delete`; `list` reads each "
                "folder, as a trial of direction `read`.",
            )
        }
    )

    def job(self, case: Case) -> str:
        """See :meth:`Tool.job`: the phase, so that phases are not compared with one another."""
        return self.level(case.tool_options, "phase")

    def conflict(self, case: Case) -> str:
        """See :meth:`Tool.conflict`."""
        phase = self.job(case)
        if case.direction is not (way := WAYS[phase]):
            return f"direction {case.direction} and phase {phase}: its names go the other way, as direction {way}"
        if case.option("server_cache") == "cold":
            return "server_cache cold: the files were made right before, and nothing proves from where names come"
        return ""

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.lay_out`."""
        return self._words("lay", move)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`; the source is the list of names."""
        return self._words("run", move)

    def _words(self, mode: str, move: Move) -> tuple[str, ...]:
        return run_perl(METADATA, mode, self.level(move.options, "phase"), move.target, move.source)

    def read_report(self, printed: str, move: Move) -> Observed:
        """See :meth:`Tool.read_report`."""
        from lab.results.observed import Observed, Requests

        phase = self.level(move.options, "phase")
        try:
            calls = parse_report(printed, phase)
        except ValueError as error:
            raise LabFailure(f"metadata: its report cannot be true: {error}", host="client") from error
        is_read = WAYS[phase] is Direction.READ
        return Observed(requests=Requests(read=calls) if is_read else Requests(write=calls))

    def elapsed_s(self, report: Observed, elapsed_s: float) -> float:
        """See :meth:`Tool.elapsed_s`: of the calls alone, for the start of perl takes as long as a hundred of them."""
        calls = report.requests and (report.requests.read or report.requests.write)
        runtime_s = (calls and calls.runtime_s) or 0.0
        if not 0 < runtime_s <= elapsed_s:
            raise LabFailure(
                f"metadata: its report cannot be true: {runtime_s} s of calls in {elapsed_s} s", host="client"
            )
        return runtime_s

    def check_names(self, host: Host, names: str, files: int, move: Move, path: str) -> None:
        """See :meth:`Tool.check_names`."""
        words = run_perl(METADATA, "check", self.level(move.options, "phase"), path, "")
        verdict = host.run(*words, given=names, deadline_s=deadline_s(len(names), files)).stdout
        if verdict != "as it should be\n":
            raise TransferError(f"{path} is not as the phase leaves it: {first_line(verdict)}", host=host.name)


def parse_report(text: str, phase: str) -> RequestsOneWay:
    """What metadata.pl printed of a phase, among whatever else. Raises ValueError."""
    from lab.results.observed import RequestsOneWay

    report = re.search(rf"^metadata {phase} (\S+)\nruntime_s (\S+)\nms (\S+) (\S+) (\S+) (\S+) (\S+)$", text, re.M)
    if not report:
        raise ValueError(f"no times of {phase} in {text!r:.100}")
    calls, runtime_s = count(report[1]), quantity(report[2])
    p50_ms, p95_ms, p99_ms, p999_ms, longest_ms = times = [quantity(report[place]) for place in range(3, 8)]
    if calls == 0 or runtime_s <= 0 or sorted(times) != times or longest_ms > 1000 * runtime_s + 1e-3:
        raise ValueError(f"{calls} calls in {runtime_s} s, the longest of {longest_ms} ms")
    return RequestsOneWay(
        requests=calls, runtime_s=runtime_s, iops=round(calls / runtime_s, 3), p50_ms=p50_ms, p95_ms=p95_ms,
        p99_ms=p99_ms, p999_ms=p999_ms, longest_ms=longest_ms,
    )  # fmt: skip


TOOL = Metadata()
