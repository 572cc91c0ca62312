"""From the disk to the tool, drawn: a bar a stage and a tool, with its number, and what leaves the panel."""

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from support.analysed import analysed
from support.synthetic_runs import trial

from lab.report import figures
from lab.report.figures.files import svg_of
from lab.report.figures.stages import FASTEST, LEAST, OTHER, OWN
from lab.results.trial import Trial

MB = 10**6


def row(protocol: str, tool: str, speed: float, direction: str = "write", **changes: Any) -> Trial:
    """A trial of 100 MB at so many MB/s."""
    name = f"{protocol}-{tool}-{direction}"
    return trial(trial_id=name, case_id=name, protocol=protocol, tool=tool, direction=direction, store="disk",
                 size_bytes=100 * MB, elapsed_s=100 / speed, ceiling_bytes_per_s=None, **changes)  # fmt: skip


WRITES = [row("smb", "cp", 45.0), row("smb", "rsync", 40.0), row("nfs", "cp", 48.0), row("link", "iperf3", 110.0)]
READS = [row("smb", "cp", 80.0, "read"), row("link", "iperf3", 110.0, "read")]
TRIALS = [*WRITES, *READS, row("store", "dd", 50.0), row("store", "memory", 2000.0)]


@pytest.fixture
def figure() -> Figure:
    return figures.stages(analysed(TRIALS))


def bars(axes: Axes) -> list[tuple[float, str]]:
    """The number beside each bar, and its colour as the figure names it."""
    texts = [text.get_text().strip(" →").replace(",", "") for text in axes.texts]
    numbers = [float(text) for text in texts if text[:1].isdigit()]
    colours = [to_hex(bar.get_facecolor()).upper() for bar in axes.patches]
    return list(zip(numbers, colours, strict=True))


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_each_stage_and_tool_is_a_bar_with_its_number_and_the_narrowest_stage_stands_out(figure: Figure) -> None:
    writing, reading = figure.axes
    assert bars(writing) == [
        (50.0, LEAST), (2000.0, OWN), (110.0, OWN), (48.0, FASTEST), (45.0, FASTEST), (40.0, OTHER.upper()),
    ]  # fmt: skip
    assert bars(reading) == [(110.0, LEAST), (80.0, FASTEST)]
    names = ", ".join(text.get_text() for text in writing.texts if text.get_text()[0].isalpha())
    assert names == "store: dd on the server, server: dd in its memory, link: iperf3, NFS cp, SMB cp, SMB rsync"


def test_a_number_stands_clear_of_the_end_of_its_bar(figure: Figure) -> None:
    figure.draw_without_rendering()
    reading = figure.axes[1]
    bars = [bar for bar in reading.patches if isinstance(bar, Rectangle)]
    ends = {round(bar.get_width(), 3): bar.get_window_extent().x1 for bar in bars}
    numbers = [text for text in reading.texts if isinstance(text, Annotation) and text.xy[0] < reading.get_xlim()[1]]
    assert [text.get_horizontalalignment() for text in numbers] == ["right", "left"]
    for text in numbers:
        box, end = text.get_window_extent(), ends[round(text.xy[0], 3)]
        assert box.x0 > end + 1 or box.x1 < end - 1


def drawn_ends(axes: Axes, *, faint: bool = False) -> list[float]:
    """Where the bars end, in MB/s; of the faint ones only those."""
    bars = [bar for bar in axes.patches if bar.get_alpha() or not faint]
    return [bar.get_extents().transformed(axes.transData.inverted()).x1 for bar in bars]


def test_memory_leaves_the_panel_and_keeps_its_number(figure: Figure) -> None:
    writing = figure.axes[0]
    assert max(drawn_ends(writing)) == pytest.approx(writing.get_xlim()[1])
    assert writing.get_xlim()[1] < 200
    assert [text.get_text() for text in writing.texts if "→" in text.get_text()] == ["2,000 →"]


def test_what_the_flush_takes_is_drawn_behind_the_tool() -> None:
    figure = figures.stages(analysed([row("smb", "cp", 50.0, observed={"flush_s": 1.0}), row("nfs", "cp", 48.0)]))
    (axes,) = figure.axes
    assert drawn_ends(axes, faint=True) == [pytest.approx(100.0)]
    assert labels(figure) == ["fastest tool of a protocol", "without the flush that follows it"]
    (mark,) = [line for line in svg_of(figure, "waterfall").decode().splitlines() if "before its flush" in line]
    assert "SMB cp, write: 50.0 MB/s, 100.0 before its flush" in mark


def test_the_legend_has_what_is_drawn_and_nothing_else(figure: Figure) -> None:
    assert labels(figure) == ["by itself", "the narrowest by itself", "fastest tool of a protocol", "another tool"]
    plain = figures.stages(analysed([row("smb", "cp", 45.0), row("link", "iperf3", 110.0)]))
    assert labels(plain) == ["the narrowest by itself", "fastest tool of a protocol"]
