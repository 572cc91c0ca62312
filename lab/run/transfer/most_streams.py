"""How many streams of video play at once without a late frame: found by bisection, each try a transfer of its own.

Every try has its own payload and, for a read, its own mount, so that nothing is in a cache.
"""

from collections.abc import Callable
from dataclasses import replace

from lab.design.case import Case
from lab.results.observed import FrameFacts
from lab.run.transfer.result import TransferResult
from lab.workloads import frames

STREAMS = f"{frames.TOOL.name}.streams"
OVER_CEILING = 1.1  # the most that a link carries, over what iperf3 measured


def is_asked_for(case: Case) -> bool:
    """Whether a case asks for the highest number of streams."""
    return case.tool == frames.TOOL.name and case.option(STREAMS) == frames.MOST


def find(case: Case, move: Callable[[Case], TransferResult], link_bytes_per_s: float | None) -> TransferResult:
    """The transfer with the most streams and no late frame; if even one stream is late, the transfer of one stream.

    ``move`` makes a transfer. More streams than fit into ``link_bytes_per_s``, if that is known, are not tried. A void
    transfer proves nothing, so it ends the search.
    """
    tried: dict[int, TransferResult] = {}
    fitting, failing = 0, _most(case, link_bytes_per_s) + 1
    while failing - fitting > 1:
        streams = (fitting + failing) // 2
        measured = tried[streams] = move(case.with_option(STREAMS, str(streams)))
        if measured.void:
            return measured
        if _facts(measured).late:
            failing = streams
        else:
            fitting = streams
    best = tried[max(fitting, 1)]
    frames_of = {streams: _facts(measured) for streams, measured in tried.items()}
    lines = tuple(f"{streams}: {facts.late} of {facts.frames} late" for streams, facts in frames_of.items())
    facts = replace(_facts(best), most_streams=fitting, tried=lines)
    return replace(best, observed=replace(best.observed, frames=facts))


def _most(case: Case, link_bytes_per_s: float | None) -> int:
    """The highest number of streams to try."""
    if link_bytes_per_s is None:
        return frames.MOST_STREAMS
    fitting = int(link_bytes_per_s * OVER_CEILING / frames.TOOL.stream_bytes_per_s(case))
    return min(max(1, fitting), frames.MOST_STREAMS)


def _facts(measured: TransferResult) -> FrameFacts:
    return measured.observed.frames or FrameFacts()
