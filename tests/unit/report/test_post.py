"""post.md: one page that people paste into a blog, and what stands behind it."""

import re
import struct
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from support.analysed import analysed
from support.observed_trials import blocks, read, seen, write_measured
from support.planted import assert_post
from support.rendered import Like, Seen, lacking, read_alike, without_front_matter
from support.synthetic_runs import make_trials, trial, write_run

from lab.report import figures, run_report
from lab.report.alt_texts import ABOUT
from lab.report.analysis import Analysis
from lab.report.figures.files import png_of, svg_of
from lab.report.leading import MOST_ROWS, WIDTH, chart, leading
from lab.report.leading import _effect_lines as chart_of_effects
from lab.report.posts import quoted
from lab.results import run_folder
from lab.results.examples import Example

pytestmark = pytest.mark.usefixtures("empty_figures")
Ends = tuple[float, float, float]
MOST_LINES, MOST_BYTES = 80, 5000


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the run that comes with the lab, and its gist."""
    place, run = tmp_path_factory.mktemp("example"), Example("example")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "ALL", dict.fromkeys(figures.ALL, lambda run: Figure((1, 1))))  # a test below draws one
        run_report.write(run, place)
    run_report.write_gist(run, place)
    return place


@pytest.fixture(scope="module")
def of_example() -> Iterator[Analysis]:
    run = Example("example")  # keeps its folder while the name is bound
    yield Analysis(run_folder.load(run.path))
    assert run.path.is_dir()


@pytest.fixture(scope="module")
def text(example: Path) -> str:
    return (example / "post.md").read_text()


@pytest.fixture(scope="module")
def post(text: str) -> Seen:
    return assert_post(text)


@pytest.fixture(scope="module")
def appendix(example: Path) -> Seen:
    return assert_post((example / "post-appendix.md").read_text())


def texts(shown: Seen, kind: str) -> list[str]:
    """The texts of the blocks of a kind."""
    return [words for block, words in shown.blocks if block == kind]


def test_the_post_of_the_example_is_one_page(example: Path, text: str, post: Seen) -> None:
    assert len(text.splitlines()) <= MOST_LINES
    assert len(text.encode()) <= MOST_BYTES
    assert post.blocks[0] == ("h1", "How fast is this share? example")
    titles = ["The answer", "What each setting changes", "How it was measured", "Caveats", "More"]
    assert texts(post, "h2") == titles
    assert len(post.images) == len(post.tables) == 1
    assert all((example / address).is_file() for address, _ in (*post.links, *post.images))
    assert " ".join(address for address, _ in post.links) == "post-appendix.md report.html post-appendix.md table.csv"
    assert "lab run example" in post.code


def test_its_answer_has_intervals_and_says_everything_once(post: Seen) -> None:
    points = texts(post, "li")
    names = ("Fastest write.", "Fastest read.", "What matters.", "Held back by.", "Next.")
    assert [next((name for name in names if words.startswith(name)), "") for words in points][:5] == [*names]
    assert all(re.search(r"\(95 % interval [\d.]+ to [\d.]+, n = 6\)", words) for words in points[:2])
    assert "TCP buffer 64 KiB → 512 KiB: +60 % (+54 to +66)" in points[2]
    assert len(set(points)) == len(points)
    assert "Local lab on one machine: no number holds for other hardware." in points
    assert not [words for words in points if "idle" in words], "that nobody disturbed it is no caveat"


def test_its_method_names_hosts_tools_order_ceiling_and_version(text: str) -> None:
    how = text[text.index("## How it was measured") : text.index("## Caveats")]
    assert how.count(". ") <= 5
    assert not lacking(
        how, "Client and server alike: 2 cores of Intel(R) Xeon(R) Processor @ 2.80GHz", "Payload: file of 16 MiB",
        "cp and rsync (rsync 3.5.0",
        "AFP, NFS, SMB and SSH, on the server's RAM disk: 28 cases in 6 blocks", "the seed 20110918",
        "The bare link carried 46.3 to 109.4 MB/s", "with the flush of what it wrote (fsync) in 156 of 168 trials",
        "trials, without it in SSH rsync write; every byte was compared", "28 November 2026",
    )  # fmt: skip


def test_every_figure_has_words_and_numbers(example: Path, post: Seen, appendix: Seen) -> None:
    effects = "TCP buffer 64 KiB → 512 KiB: +60 % (+54 to +66); tool cp → rsync: -22 % (-23 to -21)"
    assert post.images == [("figures/effects.png", Like(f"{ABOUT['effects']}...{effects}..."))]
    numbers = {
        "throughput": "Write: 25.4 MB/s (SSH rsync write, TCP 64 KiB) to 71.6 MB/s (AFP cp write, TCP 512 KiB)...",
        "shares": "TCP buffer 60.5 %...",
        "waterfall": "link 109.4, protocol 71.6, before flush 74.8, tool 71.6; the narrowest by itself is the link...",
    }
    assert appendix.images == [
        (f"figures/{name}.png", Like(f"{ABOUT[name]}...{numbers.get(name, '')}")) for name in figures.ALL
    ]
    assert all(len(alt) > len(ABOUT[name]) for name, (_, alt) in zip(figures.ALL, appendix.images, strict=True))
    assert not lacking((example / "report.html").read_text(), *(f">{ABOUT[name]} " for name in figures.ALL))


def test_what_the_post_lacks_is_in_the_appendix(appendix: Seen) -> None:
    assert texts(appendix, "h2") == [
        "The answer", "Throughput", "From the disk to the tool", "What limited it", "What each setting changes",
        "Do settings act on each other?", "What the variation goes with", "What it costs in CPU",
        "Did anything drift?", "The hosts",
    ]  # fmt: skip
    assert [len(table) for table in appendix.tables] == [7, 17, 15, 29, 41, 13, 22]


def test_the_table_has_what_changes_most_first_and_its_ends(text: str, post: Seen) -> None:
    ((headings, *rows),) = post.tables
    assert headings == ["", "change %", "95 % interval", "least", "most", "n"]
    ends = ["+40.3* (SSH rsync write)", "+87.0* (AFP cp write)"]
    assert rows[0] == ["TCP buffer 64 KiB → 512 KiB", "+59.8*", "+53.8 … +66.0", *ends, "6/84"]
    sizes = [abs(np.log1p(float(row[1].rstrip("*")) / 100)) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert "20 more rows are in [the appendix](post-appendix.md)." in text


def test_without_intervals_speeds_lead_and_the_chart_has_bars_of_their_length() -> None:
    run = analysed(make_trials(blocks=1))
    lead = leading(run)
    assert (lead.figure, lead.title, len(lead.table.rows)) == ("throughput", "What is fastest", MOST_ROWS)
    assert lead.more == len(run.summary.query("n > 0")) - MOST_ROWS
    speeds = [float(row[1]) for row in lead.table.rows]
    lengths = [line.count("█") for line in chart(lead, run).splitlines()]
    assert max(lengths) == lengths[speeds.index(max(speeds))] == WIDTH
    assert all(abs(length - WIDTH * speed / max(speeds)) <= 1 for length, speed in zip(lengths, speeds, strict=True))
    for direction in ("write", "read"):
        speeds = [float(row[1]) for row in lead.table.rows if direction in row[0]]
        assert speeds == sorted(speeds, reverse=True)
        fastest = run.summary.query(f"direction == '{direction}'")["median_MB_per_s"].max()
        assert speeds[0] == pytest.approx(fastest, abs=0.06)


def test_a_share_that_was_measured_alone_has_its_caveats(tmp_path: Path) -> None:
    folder = write_measured(tmp_path, [*blocks([seen(), read()], 3)])
    run_report.write(folder)
    blocks_shown = [words for _, words in assert_post((folder.report_path / "post.md").read_text()).blocks]
    assert "What was read may have come from the server's memory, and not from its disk." in blocks_shown
    assert not [words for words in blocks_shown if words.startswith(".")]


def test_the_gist_is_one_file_of_text(example: Path, of_example: Analysis, post: Seen) -> None:
    gist = (example / "gist.md").read_text()
    shown = assert_post(gist, folded=True)
    assert (shown.images, shown.links, shown.tables) == ([], [], post.tables)
    assert lacking(gist, "post.md", "report.html") == ["post.md", "report.html"]
    drawn, csv = (block.splitlines() for block in texts(shown, "pre"))
    assert len(drawn) == len(shown.tables[0]) - 1
    assert csv[0].startswith("protocol,tool,direction,tcp_space,n,median_MB_per_s")
    assert len(csv) == 1 + len(of_example.summary)
    listed = texts(shown, "li")
    assert listed == texts(post, "li")[: len(listed)]


def test_the_chart_of_effects_is_on_one_axis(of_example: Analysis) -> None:
    lead = leading(of_example)
    lines = chart(lead, of_example).splitlines()
    (zero,) = {place for line in lines for place, mark in enumerate(line) if mark in "│┼"}
    assert [line[zero] for line in lines] == [*4 * "│", "┼"]  # the interval of the last has 0
    for line, row in zip(lines, lead.table.rows, strict=True):
        assert (line.index("●" if "*" in row[1] else "○") > zero) == row[1].startswith("+")
        assert f"{row[1].rstrip('*')} % ({row[2]})" in line


@pytest.mark.parametrize("far", [(400.0, 900.0, 2000.0), (-99.9, -99.0, -98.0)])
@pytest.mark.parametrize("near", [(-0.3, -0.2, -0.1), (0.1, 0.2, 0.3), (-0.1, 0.0, 0.1)])
def test_a_small_effect_beside_a_huge_one_is_drawn_inside_the_chart(far: Ends, near: Ends) -> None:
    named = {"factor": "mtu", "baseline": 1500, "level": 9000, "established": True}
    ends = ("low_pct", "change_pct", "high_pct")
    lines = chart_of_effects([named | dict(zip(ends, of, strict=True)) for of in (far, near)])
    assert [len(line[: line.index("%")]) for line in lines] == 2 * [len("MTU 1500 → 9000  ") + WIDTH + 2 + 7 + 1]


@given(st.text())
def test_what_is_quoted_is_read_back_as_it_was(words: str) -> None:
    assert tomllib.loads(f"a = {quoted(words)}\n") == {"a": words}
    assert yaml.safe_load(f"a: {quoted(words)}\n") == {"a": words}
    with pytest.raises(ValueError, match="half a character"):
        quoted("\ud800")


def test_front_matter_is_read_back_whatever_names_hold(tmp_path: Path) -> None:
    name, title = 'a": b # {x}\\', "--- \n+++ \x1b[31m'''\"\"\""
    folder = write_run(tmp_path, [trial(protocol='p"\n---\n+++'), trial(trial_id="b")], title=title)
    folder.update(name=name)
    for kind, fence in (("yaml", "---"), ("toml", "+++")):
        run_report.write(folder, None, folder, kind)
        text = (folder.report_path / "post.md").read_text()
        matter = text.split(f"{fence}\n")[1]
        read_back: dict[str, Any] = yaml.safe_load(matter) if kind == "yaml" else tomllib.loads(matter)
        assert list(read_back) == ["title", "date", "description", "tags"], kind
        title, date, description, tags = read_back.values()
        assert (title, date.isoformat()[:19]) == (f"How fast is this share? {name}", "2030-01-02T03:04:05"), kind
        assert tags[:3] == ["file sharing", "benchmark", "afp"], kind
        assert 'p" / --- / +++' in tags, kind
        assert description, kind
        rest = without_front_matter(text)
        assert "# How fast" not in rest, kind  # a site writes the title itself
        assert read_alike(rest).blocks[0][0] == "p", kind


def test_front_matter_is_left_out_unless_asked_for_and_a_time_that_is_none_too(example: Path, tmp_path: Path) -> None:
    for name in ("post.md", "gist.md", "post-appendix.md"):
        assert (example / name).read_text().startswith("# How fast is this share? example")
    folder = write_run(tmp_path, [trial()], started_at="yesterday")
    text = run_report.write_gist(folder, None, folder, "yaml").read_text()
    assert "date" not in yaml.safe_load(text.split("---\n")[1])
    assert "Measured by file-share-lab synthetic." in text


def test_a_picture_has_twice_as_many_pixels_as_its_drawing_on_a_page(analysis: Analysis) -> None:
    figure = figures.shares(analysis)
    picture = png_of(figure)
    width, height = struct.unpack(">II", picture[16:24])
    points = [float(number) for number in re.findall(r'(?:width|height)="([\d.]+)pt"', svg_of(figure, "a").decode())]
    assert (width, height) == pytest.approx([2 * 96 / 72 * size for size in sorted(points, reverse=True)], abs=2)


def test_writing_it_again_gives_the_same_gist(tmp_path: Path) -> None:
    folder = write_run(tmp_path, make_trials(1, combinations=[("afp", "cp")]))
    first, second = (run_report.write_gist(folder, tmp_path / name, None, "toml").read_bytes() for name in "ab")
    assert first == second
