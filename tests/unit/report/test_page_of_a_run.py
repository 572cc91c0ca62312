"""The page of a run: one file, its sections in order, its tables, figures, colours and trials; it escapes all texts."""

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.analysed import analysed
from support.planted import EVIL, STARTS, assert_no_formula, assert_page_of_the_labs
from support.rendered import Page, lacking
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import figures, run_report
from lab.report.analysis import Analysis
from lab.report.answer_points import fastest_intervals
from lab.report.page import html as page_html
from lab.report.page.trials import MOST_COURSES, MOST_DATA, MOST_ROWS, courses, trial_data
from lab.report.prose import LOCAL_LAB
from lab.report.run_report import QUESTIONS, fact
from lab.results import run_folder
from lab.results.run_folder import RunFolder, Trial


def test_the_page_is_one_file_that_fetches_nothing(page: str) -> None:
    read = Page(page)
    assert read.opened == []
    assert all(link.startswith(("#", "data:")) for link in read.links)
    assert not re.findall(r"url\((?!#)|@import|<[^>]* style=", page)
    assert not {"link", "iframe", "img", "b"} & set(read.tags)
    parts = [re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)[0] for kind in ("style", "script")]
    style, script = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts)
    assert re.findall(r'Content-Security-Policy" content="([^"]+)"', page) == [
        f"default-src 'none'; img-src data:; style-src 'sha256-{style}'; script-src 'sha256-{script}'"
    ]


def test_the_answer_is_first_every_question_has_a_section_and_tables_have_names(page: str) -> None:
    assert re.findall(r'<section id="(\w+)"><h2>([^<]+)', page) == list(QUESTIONS.items())
    assert re.findall(r'<li><a href="#(\w+)">([^<]+)', page) == list(QUESTIONS.items())
    assert [len(re.findall(f"<{name}[ >]", page)) for name in ("h1", "header", "nav", "main")] == [1, 1, 1, 1]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', page)) <= set(ids)
    tables = re.findall("<table.*?</table>", page, re.DOTALL)
    assert len(tables) > 8
    assert all("<caption>" in table for table in tables)
    assert not [heading for heading in re.findall("<th(?: [^>]*)?>", "".join(tables)) if "scope=" not in heading]


def test_the_answer_has_the_interval_of_what_is_fastest(page: str, analysis: Analysis) -> None:
    answer = page[page.index('<dl class="answer">') : page.index("</dl>")]
    for words in fastest_intervals(analysis):
        direction, _, cases = words.partition(": ")
        assert f"<dt>Fastest {direction}</dt>" in answer
        assert f"<dd>{cases}.</dd>" in answer
        assert re.match(r".+ [\d.]+ MB/s \((95 % interval [\d.]+ to [\d.]+|no interval), n = \d+\)", cases)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"rsync": "3.4", "ssh": ""}, "rsync: 3.4; ssh: –"), ({}, "–"), (None, "–"), (True, "yes"), (False, "no"),
        (0, "0"), (25276502016, "25,276,502,016"), (0.5, "0.5"), (["eth0", "eth1"], "eth0, eth1"), ([], "–"),
    ],
)  # fmt: skip
def test_a_fact_of_a_host_is_words_and_no_code(value: object, words: str) -> None:
    assert fact(value) == words


def test_a_figure_inside_the_page_has_text_and_the_value_of_each_mark(page: str, analysis: Analysis) -> None:
    drawings = re.findall('<svg class="figure".*?</svg>', page, re.DOTALL)
    assert len(drawings) == len(figures.ALL)
    colours = re.findall(r'(?:fill|stroke)="(#\w+)"', "".join(drawings))
    assert set(colours) <= {*page_html.MARKS, *page_html.GROUNDS}, "the page knows every colour"
    for drawing in drawings:
        assert re.search("<title [^>]*>[^<]{5,}</title><desc [^>]*>[^<]{20,}</desc>", drawing)
        before, mark, rest = drawing.partition('<g class="mark"')  # nothing is drawn over a value that is shown
        assert re.fullmatch(
            '(<g class="mark" [^>]*><title>[^<]*</title><circle [^>]*/>(<text [^>]*>[^<]*</text>)?</g>)*</svg>',
            f"{mark}{rest}" if mark else before[-6:],
        )
    by_name = {re.findall('id="(.*?)-title"', drawing)[0]: drawing for drawing in drawings}
    marks = re.findall('<g class="mark" tabindex="0" role="img"><title>([^<]+)', by_name["throughput"])
    shown = analysis.summary.query("n > 0")
    assert len(marks) == len(shown)
    for row in stats.rows_of(shown):
        assert [mark for mark in marks if f": {row['median_MB_per_s']:.1f} MB/s" in mark and f"n = {row['n']})" in mark]
    assert by_name["effects"].count('class="mark"') == len(analysis.effects)


@pytest.mark.parametrize(("drawn", "shown"), page_html.MARKS.items())
def test_every_colour_of_a_mark_can_be_seen_on_light_and_dark_paper(drawn: str, shown: tuple[str, str]) -> None:
    assert f'[fill="{drawn}"] {{ fill: {shown[1]} }}' in page_html.colour_rules()
    for colour, paper, shade in zip(shown, (page_html.LIGHT, page_html.DARK), page_html.SHADES, strict=True):
        assert min(contrast(colour, paper), contrast(colour, shade)) >= 3


def contrast(first: str, second: str) -> float:
    lower, higher = sorted(map(luminance, (first, second)))
    return (higher + 0.05) / (lower + 0.05)


def luminance(colour: str) -> float:
    """Relative, of sRGB (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_says_everything_and_how_to_measure_it_again(folder: RunFolder, page: str) -> None:
    words = "".join(Page(page).words)
    texts = ["Imaginary <CPU> & Sons", "served from a <cache>", "mount: timed out | gave up", LOCAL_LAB]
    texts += [
        str(folder.run[key]) for key in ("sweep_text", "seed", "code_version", "started_at", "finished_at", "title")
    ]
    texts += [*run_folder.load(folder.path).query("status != 'ok'")["trial_id"]]
    assert not lacking(words, *texts)
    assert words.count("Not measured: client: no mount_afp: <gone>.") == 1
    version, seed = f"file-share-lab {folder.run['code_version']}", f"the seed {folder.run['seed']}"
    how = page[page.index('<section id="how">') :]
    assert not lacking(how, version, seed, "The bare link carried", "every byte was compared")


SECONDS = [0.0, 0.5, 1.0, 1.5]
COURSE = {
    "client": {
        "at_s": SECONDS, "tx_bytes": [0, 5_000_000, 20_000_000, 20_000_000], "rx_bytes": [0, 1000, 2000, 3000],
        "core_busy": {"0": [None, 0.25, 0.5, 0.125], "1": [None, 0.75, None, 0.0]},
        "connections": [[0.0, "a b", {"retransmits": 2}], [1.5, "a b", {"retransmits": 9}]],
    },
    "server": {"at_s": SECONDS, "core_busy": {"0": [None, 0.1, 0.2, 0.3]}, "connections": []},
}  # fmt: skip


def saved(html: str) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
    """The trials in the files that a page has inside, of CSV and of JSON."""
    files = dict(re.findall(r'<a download="trials\.(csv|json)" href="data:[^,]+;base64,([^"]+)"', html))
    texts = {kind: base64.b64decode(content).decode() for kind, content in files.items()}
    table = json.loads(texts["json"])
    values = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    return list(csv.DictReader(io.StringIO(texts["csv"]))), values


def test_every_trial_can_be_saved_from_the_page(page: str, analysis: Analysis) -> None:
    trials = analysis.trials.frame
    rows, values = saved(page)
    for name in ("trial_id", "protocol", "tool", "direction", "status"):
        assert [row[name] for row in rows] == [value[name] for value in values] == trials[name].astype(str).tolist()
    speeds = [float(row["MB_per_s"]) if row["MB_per_s"] else None for row in rows]
    assert speeds == [value["MB_per_s"] for value in values]
    assert speeds == [None if speed != speed else pytest.approx(speed, abs=1e-6) for speed in trials["MB_per_s"]]


def test_a_page_has_some_of_very_many_trials_and_says_so() -> None:
    html = trial_data(analysed([trial(trial_id=f"t{number}", block=number) for number in range(1, MOST_DATA + 1001)]))
    rows, values = saved(html)
    assert len(rows) == len(values) == MOST_DATA
    assert (rows[0]["trial_id"], rows[-1]["trial_id"]) == ("t1", f"t{MOST_DATA + 1000}")
    assert html.count('<th scope="row">') == MOST_ROWS
    assert f"{MOST_DATA:,} of {MOST_DATA + 1000:,} trials" in html
    assert len(html) < 3_000_000


def test_no_text_of_a_trial_is_a_formula_in_the_saved_table() -> None:
    made = [trial(trial_id=f"t{at}", tool=start + EVIL, reason=start + EVIL) for at, start in enumerate(STARTS)]
    content = re.findall(r'href="data:text/csv[^,]+,([^"]+)"', trial_data(analysed(made)))[0]
    assert_no_formula(base64.b64decode(content).decode())


@pytest.mark.usefixtures("empty_figures")
def test_the_course_of_a_trial_is_drawn_with_what_it_reached(tmp_path: Path) -> None:
    run = write_run(tmp_path, [trial(trial_id="one"), trial(trial_id="two", status="void")])
    for trial_id in ("one", "two"):
        run.append_samples(trial_id, COURSE)
    html = run_report.write(run).read_text()
    first, second = re.findall(r'<svg class="figure small".*?</svg>', html)
    assert "AFP cp write, block 1, one: 1.5 s; at most 30.0 MB/s, at most 75.0 % busy, at most 7.0 resent" in first
    assert "two (void)" in second
    # 10, 30 and 0 MB/s at 0.5, 1 and 1.5 of 1.5 s, in a panel from 12 to 45 from the top down
    assert re.findall(r'<path d="M([^"]+)" fill="none" stroke="#0072b2"/>', first)[0] == "107,34 213,12 320,45"
    assert_page_of_the_labs(html)


def courses_of(path: Path, lines: Sequence[str], trials: Sequence[Trial] = (trial(trial_id="one"),)) -> str:
    """The courses of these trials on a page, from these lines of samples."""
    run = write_run(path, [])
    run.samples_path.write_text("\n".join([*lines, ""]))
    return courses(run, analysed(trials))


def test_a_page_has_some_of_very_many_courses_evenly(tmp_path: Path) -> None:
    count = 3 * MOST_COURSES
    lines = [json.dumps({"trial_id": f"t{number}", **COURSE}) for number in range(count)]
    html = courses_of(tmp_path, lines, [trial(trial_id=f"t{number}", block=number + 1) for number in range(count)])
    assert re.findall(r"t(\d+)</summary>", html) == [str(number) for number in range(0, count, 3)]
    assert f"{MOST_COURSES} of {count}, evenly over the run" in html


@pytest.mark.parametrize(
    "line",
    [
        "", "{", "[]", '"x"', '{"trial_id": 1}', '{"trial_id": "other"}', '{"trial_id": "one", "client": 3}',
        '{"trial_id": "one", "client": {"at_s": "x", "tx_bytes": {}, "core_busy": [1], "connections": 4}}',
        '{"trial_id": "one", "client": {"at_s": [0, "x", 1e300, null, 2], "tx_bytes": [[], 1, 2, 3, true]}}',
        '{"trial_id": "one", "client": {"at_s": [0, 1], "core_busy": {"a": "b", "c": [NaN, Infinity]}}}',
        '{"trial_id": "one", "server": {"connections": [[1], [1, 2, 3], ["a", "b", {"retransmits": []}], 5]}}',
        json.dumps({"trial_id": "one", EVIL: EVIL, "client": {EVIL: EVIL, "core_busy": {EVIL: [1]}, "at_s": [1]}}),
    ],
)  # fmt: skip
def test_samples_that_no_lab_wrote_are_no_course(tmp_path: Path, line: str) -> None:
    assert not re.findall("plant|nan|inf", courses_of(tmp_path, [line]))


def test_samples_through_a_link_are_not_read(tmp_path: Path) -> None:
    run, other = write_run(tmp_path / "a", []), tmp_path / "other"
    other.write_text(json.dumps({"trial_id": "one", **COURSE}) + "\n")
    run.samples_path.symlink_to(other)
    assert courses(run, analysed([trial(trial_id="one")])) == ""
