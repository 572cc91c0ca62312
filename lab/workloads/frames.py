"""frames: several streams of video, played from a share or captured to it, frame by frame at its time."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, quantity
from lab.design.case import Case
from lab.design.option_levels import Option, whole
from lab.hosts.command import run_perl
from lab.results.observed import FrameFacts, Observed
from lab.workloads.workload import Move, Tool

FRAMES = read_script(__file__, "frames.pl")
MOST = "most"
MOST_STREAMS = 256


class Frames(Tool):
    """Copies a file at the pace of video, so the share must be mounted.

    Each stream has a part of the payload. A frame is late if it was not read and written before the next one's turn.
    Nothing is read ahead, so the worst lateness is what a player would have to read ahead.
    """

    name = "frames"
    program = "perl"
    needs_mount = True
    reports = True
    payloads = ("file",)
    options = MappingProxyType(
        {
            "streams": Option(
                whole(1, MOST_STREAMS, MOST),
                f'How many play at once; `"{MOST}"`: each trial looks for the highest number without a late frame.',
                "1",
            ),
            "mbit_per_s": Option(whole(1, 20_000), "The bit rate of a stream, in 10^6 bits per second.", "184"),
            "fps": Option(whole(1, 240), "Frames of a stream per second.", "25"),
        }
    )

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        streams, fps = self.level(move.options, "streams"), self.level(move.options, "fps")
        return run_perl(FRAMES, streams, str(self._frame_bytes(move.options)), fps, move.source, move.target)

    def least_s(self, case: Case) -> float:
        """See :meth:`Tool.least_s`. A search for the most streams may try one alone."""
        streams = self.level(case.tool_options, "streams")
        return case.size_bytes / (1 if streams == MOST else int(streams)) / self.stream_bytes_per_s(case)

    def stream_bytes_per_s(self, case: Case) -> float:
        """Bytes per second that one stream needs."""
        return self._frame_bytes(case.tool_options) * float(self.level(case.tool_options, "fps"))

    def _frame_bytes(self, options: Mapping[str, str]) -> int:
        return math.ceil(int(self.level(options, "mbit_per_s")) * 1e6 / 8 / int(self.level(options, "fps")))

    def read_report(self, printed: str, move: Move) -> Observed:
        try:
            facts = parse_report(printed)
        except ValueError as error:
            raise LabFailure(f"frames: its report cannot be true: {error}", host="client") from error
        return Observed(frames=replace(facts, streams=int(self.level(move.options, "streams"))))


def parse_report(text: str) -> FrameFacts:
    """The report of frames.pl, which other output may surround. Raises ValueError."""
    report = re.search(r"^frames (\S+)\nlate (\S+)\nworst_s (\S+)$", text, re.MULTILINE)
    if not report:
        raise ValueError(f"no count of frames in {text!r:.100}")
    frames, late, worst_s = count(report[1]), count(report[2]), quantity(report[3])
    if late > frames or (worst_s > 0 and late == 0):
        raise ValueError(f"{late} of {frames} frames late, by {worst_s} s at worst")
    return FrameFacts(frames=frames, late=late, worst_late_s=worst_s)


TOOL = Frames()
