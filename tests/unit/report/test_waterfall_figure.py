"""From the disk to the tool, drawn: a bar a stage and a tool, with its number, and what leaves the panel."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation
from support.synthetic_runs import trial, write_run

from lab.report import figures, run_report
from lab.report.analysis import Analysis
from lab.report.figures.files import svg_of
from lab.report.figures.waterfall import FASTEST, LEAST, OTHER, OWN
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial

MB = 10**6


def row(protocol: str, tool: str, speed: float, direction: str = "write", **changes: Any) -> Trial:
    """A trial of 100 MB at so many MB/s."""
    name = f"{protocol}-{tool}-{direction}"
    return trial(trial_id=name, case_id=name, protocol=protocol, tool=tool, direction=direction, store="disk",
                 size_bytes=100 * MB, elapsed_s=100 / speed, ceiling_bytes_per_s=None, **changes)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    writes = [row("smb", "cp", 45.0), row("smb", "rsync", 40.0), row("nfs", "cp", 48.0)]
    reads = [row("smb", "cp", 80.0, "read"), row("link", "iperf3", 110.0, "read")]
    stages = [row("store", "dd", 50.0), row("store", "memory", 2000.0), row("link", "iperf3", 110.0)]
    return write_run(tmp_path, [*writes, *reads, *stages])


def bars(axes: Axes) -> list[tuple[float, str]]:
    """The number beside each bar, and its colour as the figure names it."""
    from matplotlib.colors import to_hex

    numbers = [
        text.get_text().strip() for text in axes.texts if text.get_text().strip(" →").replace(",", "")[:1].isdigit()
    ]
    return [
        (float(number.rstrip(" →").replace(",", "")), to_hex(bar.get_facecolor()).upper())
        for number, bar in zip(numbers, axes.patches, strict=True)
    ]


def test_each_stage_and_tool_is_a_bar_with_its_number_and_the_narrowest_stage_stands_out(folder: RunFolder) -> None:
    writing, reading = figures.waterfall(Analysis(run_folder.load(folder.path))).axes
    assert bars(writing) == [
        (50.0, LEAST), (2000.0, OWN), (110.0, OWN), (48.0, FASTEST), (45.0, FASTEST), (40.0, OTHER.upper()),
    ]  # fmt: skip
    assert bars(reading) == [(110.0, LEAST), (80.0, FASTEST)]
    names = [text.get_text() for text in writing.texts if text.get_text()[0].isalpha()]
    assert names == [
        "store: dd on the server",
        "server: dd in its memory",
        "link: iperf3",
        "NFS cp",
        "SMB cp",
        "SMB rsync",
    ]


def test_a_number_stands_clear_of_the_end_of_its_bar(folder: RunFolder) -> None:
    figure = figures.waterfall(Analysis(run_folder.load(folder.path)))
    figure.draw_without_rendering()
    reading = figure.axes[1]
    ends = {
        round(bar.get_width(), 3): bar.get_window_extent().x1 for bar in reading.patches if isinstance(bar, Rectangle)
    }
    numbers = [text for text in reading.texts if isinstance(text, Annotation) and text.xy[0] < reading.get_xlim()[1]]
    assert [text.get_horizontalalignment() for text in numbers] == ["right", "left"]
    for text in numbers:
        left, right = text.get_window_extent().x0, text.get_window_extent().x1
        end = ends[round(text.xy[0], 3)]
        assert left > end + 1 or right < end - 1


def test_memory_leaves_the_panel_and_keeps_its_number(folder: RunFolder) -> None:
    writing = figures.waterfall(Analysis(run_folder.load(folder.path))).axes[0]
    limit = writing.get_xlim()[1]
    assert limit < 200
    assert max(bar.get_extents().transformed(writing.transData.inverted()).x1 for bar in writing.patches) == (
        pytest.approx(limit)
    )
    assert [text.get_text() for text in writing.texts if "→" in text.get_text()] == ["2,000 →"]


@pytest.mark.usefixtures("empty_figures")
def test_the_report_has_the_figure_and_the_fastest_cases_beside_it(folder: RunFolder) -> None:
    page = run_report.write(folder)
    post = page.with_name("post-appendix.md").read_text()
    assert "## From the disk to the tool" in post
    assert "(figures/waterfall.png)" in post
    assert "SMB rsync write" in post
    assert "narrowest" in page.read_text()


def test_what_the_flush_takes_is_drawn_behind_the_tool(tmp_path: Path) -> None:
    tools = [row("smb", "cp", 50.0, observed={"flush_s": 1.0}), row("nfs", "cp", 48.0)]
    figure = figures.waterfall(Analysis(run_folder.load(write_run(tmp_path, tools).path)))
    (axes,) = figure.axes
    faint = [bar for bar in axes.patches if bar.get_alpha()]
    assert [bar.get_extents().transformed(axes.transData.inverted()).x1 for bar in faint] == [pytest.approx(100.0)]
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == ["fastest tool of a protocol", "without the flush that follows it"]
    told = [mark for mark in svg_of(figure, "waterfall").decode().splitlines() if "before its flush" in mark]
    assert len(told) == 1
    assert "SMB cp, write: 50.0 MB/s, 100.0 before its flush" in told[0]


def test_the_legend_has_what_is_drawn_and_nothing_else(folder: RunFolder, tmp_path: Path) -> None:
    plain = write_run(tmp_path / "plain", [row("smb", "cp", 45.0), row("link", "iperf3", 110.0)])
    labels = [
        [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        for figure in (figures.waterfall(Analysis(run_folder.load(run.path))) for run in (folder, plain))
    ]
    assert labels[0] == ["by itself", "the narrowest by itself", "fastest tool of a protocol", "another tool"]
    assert labels[1] == ["the narrowest by itself", "fastest tool of a protocol"]
