"""The page of a run: one file, its sections in order, its tables, figures and colours, and that it escapes all."""

import base64
import hashlib
import re

import pytest
from support.strict_page import Page

from lab import stats
from lab.report import figures
from lab.report.analysis import Analysis
from lab.report.findings import fastest_intervals
from lab.report.page import frame
from lab.report.prose import LOCAL_LAB
from lab.report.run_report import QUESTIONS
from lab.report.sections import fact
from lab.results import run_folder
from lab.results.run_folder import RunFolder


def test_the_page_is_one_file_that_fetches_nothing(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    page = Page(text)
    assert page.opened == []
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert not re.findall(r"url\((?!#)|@import|<[^>]* style=", text)
    assert not {"link", "iframe", "img", "b"} & set(page.tags)
    policy = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    hashes = {
        kind: base64.b64encode(
            hashlib.sha256(re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)[0].encode()).digest()
        )
        for kind in ("style", "script")
    }
    assert policy == [
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes['style'].decode()}'; "
        f"script-src 'sha256-{hashes['script'].decode()}'"
    ]


def test_the_answer_is_first_and_every_question_has_a_section(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    assert re.findall(r'<section id="(\w+)"><h2>([^<]+)', text) == list(QUESTIONS.items())
    assert re.findall(r'<li><a href="#(\w+)">([^<]+)', text) == list(QUESTIONS.items())
    assert len(re.findall("<h1>", text)) == 1
    assert [len(re.findall(f"<{name}[ >]", text)) for name in ("header", "nav", "main")] == [1, 1, 1]
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)


def test_the_answer_has_the_interval_of_what_is_fastest(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    answer = text[text.index('<dl class="answer">') : text.index("</dl>")]
    run = Analysis(run_folder.load(folder.path))
    for words in fastest_intervals(run.summary, run.speeds):
        direction, _, cases = words.partition(": ")
        assert f"<dt>Fastest {direction}</dt>" in answer
        assert f"<dd>{cases}.</dd>" in answer
        assert re.match(r".+ [\d.]+ MB/s \((95 % interval [\d.]+ to [\d.]+|no interval), n = \d+\)", cases)


def test_the_page_says_how_to_measure_it_again(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    how = text[text.index('<section id="how">') :]
    assert f"file-share-lab {folder.run['code_version']}" in how
    assert f"the seed {folder.run['seed']}" in how
    assert "The bare link carried" in how
    assert "every byte was compared" in how


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"rsync": "3.4", "ssh": ""}, "rsync: 3.4; ssh: –"), ({}, "–"), (None, "–"), (True, "yes"), (False, "no"),
        (0, "0"), (25276502016, "25,276,502,016"), (0.5, "0.5"), (["eth0", "eth1"], "eth0, eth1"), ([], "–"),
    ],
)  # fmt: skip
def test_a_fact_of_a_host_is_words_and_no_code(value: object, words: str) -> None:
    assert fact(value) == words


def test_tables_are_named_and_their_headings_have_a_scope(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    tables = re.findall("<table.*?</table>", text, re.DOTALL)
    assert len(tables) > 8
    assert all("<caption>" in table for table in tables)
    assert not [
        heading for table in tables for heading in re.findall("<th(?: [^>]*)?>", table) if "scope=" not in heading
    ]


def test_a_figure_inside_the_page_has_text_and_the_value_of_each_mark(folder: RunFolder) -> None:
    text, run = (folder.report_path / "report.html").read_text(), Analysis(run_folder.load(folder.path))
    drawings = re.findall('<svg class="figure".*?</svg>', text, re.DOTALL)
    assert len(drawings) == len(figures.ALL)
    for drawing in drawings:
        assert re.search("<title [^>]*>[^<]{5,}</title><desc [^>]*>[^<]{20,}</desc>", drawing)
        before, mark, rest = drawing.partition('<g class="mark"')  # nothing is drawn over a value that is shown
        assert re.fullmatch(
            '(<g class="mark" [^>]*><title>[^<]*</title><circle [^>]*/>(<text [^>]*>[^<]*</text>)?</g>)*</svg>',
            f"{mark}{rest}" if mark else before[-6:],
        )
    throughput = next(drawing for drawing in drawings if 'id="throughput-title"' in drawing)
    marks = re.findall('<g class="mark" tabindex="0" role="img"><title>([^<]+)', throughput)
    shown = run.summary.query("n > 0")
    assert len(marks) == len(shown)
    for row in stats.rows_of(shown):
        assert [mark for mark in marks if f": {row['median_MB_per_s']:.1f} MB/s" in mark and f"n = {row['n']})" in mark]
    effects = next(drawing for drawing in drawings if 'id="effects-title"' in drawing)
    assert len(re.findall('class="mark"', effects)) == len(run.effects)


@pytest.mark.parametrize(("drawn", "shown"), frame.MARKS.items())
def test_every_colour_of_a_mark_can_be_seen_on_light_and_dark_paper(drawn: str, shown: tuple[str, str]) -> None:
    assert f'[fill="{drawn}"] {{ fill: {shown[1]} }}' in frame.colour_rules()
    for colour, paper, shade in zip(shown, (frame.LIGHT, frame.DARK), frame.SHADES, strict=True):
        assert min(contrast(colour, paper), contrast(colour, shade)) >= 3


def contrast(one: str, other: str) -> float:
    lower, higher = sorted(map(luminance, (one, other)))
    return (higher + 0.05) / (lower + 0.05)


def luminance(colour: str) -> float:
    """Relative, of sRGB (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_colours_of_figures_are_all_known_to_the_page(folder: RunFolder) -> None:
    text = (folder.report_path / "report.html").read_text()
    drawings = "".join(re.findall('<svg class="figure".*?</svg>', text, re.DOTALL))
    assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', drawings)) <= {*frame.MARKS, *frame.GROUNDS}


def test_the_page_says_everything_and_escapes_it(folder: RunFolder) -> None:
    words = "".join(Page((folder.report_path / "report.html").read_text()).words)
    run = folder.run
    assert run["sweep_text"] in words
    assert "Imaginary <CPU> & Sons" in words
    assert "served from a <cache>" in words
    assert "mount: timed out | gave up" in words
    assert LOCAL_LAB in words
    assert words.count("Not measured: client: no mount_afp: <gone>.") == 1
    assert all(str(run[key]) in words for key in ("seed", "code_version", "started_at", "finished_at", "title"))
    lost = run_folder.load(folder.path).query("status != 'ok'")
    assert all(trial_id in words for trial_id in lost["trial_id"])
