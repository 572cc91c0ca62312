"""metadata: the cost to create, find, list, rename and remove files without content."""

import re
from collections.abc import Sequence
from types import MappingProxyType

from lab.base.errors import LabFailure, TransferError
from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, quantity
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.option_levels import Option, one_of
from lab.hosts import Host
from lab.hosts.command import run_perl
from lab.results.observed import Observed, Requests, RequestsOneWay
from lab.workloads.file import deadline_s
from lab.workloads.workload import Move, Tool

METADATA = read_script(__file__, "metadata.pl")
# The direction in which each phase moves the names
DIRECTIONS = {
    "create": Direction.WRITE, "stat": Direction.WRITE, "list": Direction.READ, "rename": Direction.WRITE,
    "delete": Direction.WRITE,
}  # fmt: skip
ABOUT_PHASE = (
    "What is done with each file: `create` (empty), `stat`, `rename` or `delete`; `list` reads each folder, as a trial "
    "of direction `read`."
)


class Metadata(Tool):
    """Does the same with every file of a tree in the share, one after another: one phase in each trial.

    Folders exist before and after. Files that exist before have the tree's sizes, but nothing is written into them.
    Phases are those of mdtest (hpc/ior, doc/mdtest.1), and readdir.
    """

    name = "metadata"
    program = "perl"
    needs_mount = True
    reports = True
    moves_names = True
    folder_options = ()
    contents = ""
    options = MappingProxyType({"phase": Option(one_of(*DIRECTIONS), ABOUT_PHASE, "create")})

    def job(self, case: Case) -> str:
        """See :meth:`Tool.job`: phases are not compared with one another."""
        return self.level(case.tool_options, "phase")

    def conflict(self, case: Case) -> str:
        phase = self.job(case)
        if case.direction is not (direction := DIRECTIONS[phase]):
            return f"direction {case.direction} and phase {phase}: its names go the other way, as direction {direction}"
        if case.option("server_cache") == "cold":
            return "server_cache cold: the files were made right before, and nothing proves from where names come"
        return ""

    def lay_out(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        return self._words("lay", move)

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`. The source is the list of names."""
        return self._words("run", move)

    def _words(self, mode: str, move: Move) -> tuple[str, ...]:
        return run_perl(METADATA, mode, self.level(move.options, "phase"), move.target, move.source)

    def read_report(self, printed: str, move: Move) -> Observed:
        phase = self.level(move.options, "phase")
        try:
            calls = parse_report(printed, phase)
        except ValueError as error:
            raise LabFailure(f"metadata: its report cannot be true: {error}", host="client") from error
        is_read = DIRECTIONS[phase] is Direction.READ
        return Observed(requests=Requests(read=calls) if is_read else Requests(write=calls))

    def elapsed_s(self, report: Observed, elapsed_s: float) -> float:
        """See :meth:`Tool.elapsed_s`: only the calls, because perl's start takes as long as a hundred of them."""
        calls = report.requests and (report.requests.read or report.requests.write)
        runtime_s = (calls and calls.runtime_s) or 0.0
        if not 0 < runtime_s <= elapsed_s:
            message = f"metadata: its report cannot be true: {runtime_s} s of calls in {elapsed_s} s"
            raise LabFailure(message, host="client")
        return runtime_s

    def check_names(self, host: Host, names: str, files: int, move: Move, path: str) -> None:
        words = run_perl(METADATA, "check", self.level(move.options, "phase"), path, "")
        verdict = host.run(*words, given=names, deadline_s=deadline_s(len(names), files)).stdout
        if verdict != "as it should be\n":
            raise TransferError(f"{path} is not as the phase leaves it: {first_line(verdict)}", host=host.name)


def parse_report(text: str, phase: str) -> RequestsOneWay:
    """The report of metadata.pl on a phase, which other output may surround. Raises ValueError."""
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
