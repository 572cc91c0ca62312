"""frames: video that is played from a share or captured to it, frame by frame at its time, in several streams."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, quantity
from lab.design.case import Case
from lab.design.option_levels import whole
from lab.hosts.perl import run_perl
from lab.workloads.workload import Move, Option, Tool

if TYPE_CHECKING:
    from lab.results.observed import (  # a run folder's reader comes with it, and whoever plans needs none
        FrameFacts,
        Observed,
    )

FRAMES = read_script(__file__, "frames.pl")
MOST = "most"
MOST_STREAMS = 256


class Frames(Tool):
    """Copies a file at the pace of video, so the share must be mounted.

    Each stream has a part of the payload. A frame is late that was not read and written before the turn of the next:
    nothing is read ahead, so that the worst lateness says how much a player would have to.
    """

    name = "frames"
    program = "perl"
    needs_mount = True
    reports = True
    programs = MappingProxyType({})
    payloads = ("file",)
    options = MappingProxyType(
        {
            "streams": Option(
                whole(1, MOST_STREAMS, MOST),
                "1",
                f'How many play at once; `"{MOST}"`: each trial looks for the highest number without a late frame.',
            ),
            "mbit_per_s": Option(whole(1, 20_000), "184", "The bit rate of a stream, in 10^6 bits per second."),
            "fps": Option(whole(1, 240), "25", "Frames of a stream per second."),
        }
    )

    def argv(self, call: Sequence[str], version: str, move: Move) -> tuple[str, ...]:
        """See :meth:`Tool.argv`."""
        streams, fps = self.level(move.options, "streams"), self.level(move.options, "fps")
        return run_perl(FRAMES, streams, str(self._frame_bytes(move.options)), fps, move.source, move.target)

    def least_s(self, case: Case) -> float:
        """See :meth:`Tool.least_s`; where the number of streams is looked for, one alone may be tried."""
        streams = self.level(case.tool_options, "streams")
        return case.size_bytes / (1 if streams == MOST else int(streams)) / self.stream_bytes_per_s(case)

    def stream_bytes_per_s(self, case: Case) -> float:
        """What one stream needs."""
        return self._frame_bytes(case.tool_options) * float(self.level(case.tool_options, "fps"))

    def _frame_bytes(self, options: Mapping[str, str]) -> int:
        return math.ceil(int(self.level(options, "mbit_per_s")) * 1e6 / 8 / int(self.level(options, "fps")))

    def read_report(self, printed: str, move: Move) -> Observed:
        """See :meth:`Tool.read_report`."""
        from lab.results.observed import Observed

        try:
            facts = parse_report(printed)
        except ValueError as error:
            raise LabFailure(f"frames: its report cannot be true: {error}", host="client") from error
        return Observed(frames=replace(facts, streams=int(self.level(move.options, "streams"))))


def parse_report(text: str) -> FrameFacts:
    """What frames.pl printed, among whatever else. Raises ValueError."""
    from lab.results.observed import FrameFacts

    report = re.search(r"^frames (\S+)\nlate (\S+)\nworst_s (\S+)$", text, re.MULTILINE)
    if not report:
        raise ValueError(f"no count of frames in {text!r:.100}")
    frames, late, worst_s = count(report[1]), count(report[2]), quantity(report[3])
    if late > frames or (worst_s > 0 and late == 0):
        raise ValueError(f"{late} of {frames} frames late, by {worst_s} s at worst")
    return FrameFacts(frames=frames, late=late, worst_late_s=worst_s)


TOOL = Frames()
