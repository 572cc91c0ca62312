"""The course of a trial as a figure: rates on the wire, the busiest core, and segments sent again."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.base.untrusted import one_line
from lab.hosts.role import ROLES
from lab.report.figures.style import PALETTE, add_legend, begin_over, mark, name_axes, note
from lab.report.samples import Line, course_of, panels_of
from lab.results.run_folder import RunFolder

COLOURS: dict[str, str] = {str(role): PALETTE[number] for number, role in enumerate(ROLES)}
RECEIVED = Line2D([], [], color=COLOURS["client"], linestyle="--", label="received by the client")
PANEL_IN = 1.5
WIRE = "client MB/s"
NO_SAMPLES = "no samples of this trial: samples.jsonl has none, or was not handed over with the run"


def course(folder: RunFolder, trial_id: str) -> Figure:
    """Rates in MB/s (10⁶), the busiest core in percent, and segments sent again over the seconds of a trial.

    Without samples the figure says so.
    """
    samples = course_of(folder, trial_id)
    name = one_line(trial_id, 80)
    if samples is None:
        figure = begin_over([], 1.6)
        axes = figure.subplots()
        axes.set(xticks=[], yticks=[])
        note(axes, NO_SAMPLES)
        add_legend(figure, f"The course of {name}", [])
        return figure
    panels = dict(zip((WIRE, "busiest core %", "sent again"), panels_of(samples), strict=True))
    figure = begin_over(["Averages between readings; of a short trial there are few."], 0.9 + PANEL_IN * len(panels))
    for axes, (unit, lines) in zip(figure.subplots(len(panels), sharex=True), panels.items(), strict=True):
        _draw(axes, unit, lines)
    name_axes(axes, "", "seconds", unit)
    hosts = [mark(role, COLOURS[role], "s") for role in ROLES if role in samples]
    add_legend(figure, f"The course of {name}", [*hosts, RECEIVED])
    return figure


def _draw(axes: Axes, unit: str, lines: Sequence[Line]) -> None:
    name_axes(axes, "", "", unit)
    if not any(line.values for line in lines):
        note(axes, "not seen")
    for line in filter(lambda line: line.values, lines):
        of_wire = unit == WIRE
        colour = COLOURS[ROLES[0] if of_wire else line.role]
        style = "--" if of_wire and line.role == "server" else "-"
        axes.plot(line.at_s, line.values, style, linewidth=1.2, marker=".", markersize=4, color=colour)
    axes.set_ylim(bottom=0)
