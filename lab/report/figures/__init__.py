"""One function a figure: each takes the frame of a run, or what :func:`lab.report.analysis.analyse` makes of it.

Every trial, or every block, is a mark of its own, unless there are so many that a sample must do: then the figure says
so. Void and failed trials are crosses and are in no median. Figures are made without pyplot, which opens global ones.
"""

from collections.abc import Callable

from lab.report.analysis import Run
from lab.report.figures.as_it_comes import Figure as Figure

# isort: split
from lab.report.figures.effects import effects as effects
from lab.report.figures.effects import interactions as interactions
from lab.report.figures.effects import shares as shares
from lab.report.figures.stages import stages as stages
from lab.report.figures.strips import cpu_cost as cpu_cost
from lab.report.figures.strips import throughput as throughput
from lab.report.figures.timeline import timeline as timeline

ALL: dict[str, Callable[[Run], Figure]] = {
    "throughput": throughput, "waterfall": stages, "effects": effects, "interactions": interactions, "shares": shares,
    "cpu_cost": cpu_cost, "timeline": timeline,
}  # fmt: skip
