from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.rendered import rendered
from support.synthetic_runs import RUN, SIZE, trial, write_run

from lab import stats
from lab.base.errors import BadInput
from lab.report import figures, run_report, terminal
from lab.report.analysis import Analysis
from lab.report.bottlenecks import limits_table
from lab.report.findings import fastest_intervals
from lab.report.page import colours
from lab.report.page.run_page import QUESTIONS, Report, page
from lab.report.post.parts import Subject, opening
from lab.report.prose import LOCAL_LAB, interaction_sentence
from lab.report.render import records
from lab.report.sections import fact
from lab.results import dataframe, run_folder
from lab.results.run_folder import RunFolder
from lab.stats.bottleneck import verdicts
from lab.stats.some_trials import MOST_TRIALS, some_of_each_case


class Page(HTMLParser):
    """A strict reading of a page: what it links to, what it says, and that every element is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.words: list[str] = []
        self.opened: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in ("meta", "img"):
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


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


@pytest.mark.parametrize(("drawn", "shown"), colours.MARKS.items())
def test_every_colour_of_a_mark_can_be_seen_on_light_and_dark_paper(drawn: str, shown: tuple[str, str]) -> None:
    assert f'[fill="{drawn}"] {{ fill: {shown[1]} }}' in colours.rules()
    for colour, paper, shade in zip(shown, (colours.LIGHT, colours.DARK), colours.SHADES, strict=True):
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
    assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', drawings)) <= {*colours.MARKS, *colours.GROUNDS}


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


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("bbr", "bbr"), "TCP congestion control: bbr"),
        (("bbr", "cubic"), "TCP congestion control: bbr (client), cubic (server)"),
        ((None, "cubic"), "TCP congestion control: cubic (server)"),
        (("<b>", "<b>"), "TCP congestion control: <b>"),
        ((None, None), ""),
    ],
)
def test_congestion_control_stands_at_the_head(tmp_path: Path, names: tuple[str | None, ...], said: str) -> None:
    hosts = {role: {"congestion": name} for role, name in zip(("client", "server"), names, strict=True)}
    run = write_run(tmp_path, [trial()], hosts=hosts)
    trials = run_folder.load(run.path)
    post = html.unescape("\n".join(opening(Subject("title", Analysis(trials), "RUN"))))
    words = "".join(Page(page(Report("title", run.run, Analysis(trials), [], {}))).words)
    for text in (post, words, rendered(*terminal.terminal_tables(trials))):
        assert said in text if said else "congestion" not in text
    assert "congestion" not in rendered(*terminal.terminal_tables(trials, ["speeds"]))


def test_the_appendix_has_every_figure_and_table(folder: RunFolder) -> None:
    text = (folder.report_path / "post-appendix.md").read_text()
    images = re.findall(r"^!\[.+\]\(([^)]+)\)$", text, re.MULTILINE)
    assert images == [f"figures/{name}.png" for name in figures.ALL]
    assert all((folder.report_path / image).read_bytes().startswith(b"\x89PNG") for image in images)
    assert all(
        (folder.report_path / "figures" / f"{name}.svg").read_text().endswith("</svg>\n") for name in figures.ALL
    )
    assert "n = 162 ok, 4 void, 2 failed" in text
    assert LOCAL_LAB in text
    assert r"**Not measured: client: no mount\_afp: &lt;gone&gt;.**" in text
    assert "&lt;CPU&gt; &amp; Sons" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_the_csv_is_every_trial(folder: RunFolder) -> None:
    table, trials = pd.read_csv(folder.report_path / "table.csv"), run_folder.load(folder.path)
    assert list(table.columns) == list(trials.columns)
    assert table["trial_id"].tolist() == trials["trial_id"].tolist()
    assert table["wire_tx_bytes"].tolist() == trials["wire_tx_bytes"].tolist()
    assert table["effective"].map(json.loads).tolist() == trials["effective"].tolist()


def test_writing_it_again_gives_the_same_bytes(folder: RunFolder) -> None:
    first = contents(folder.report_path)
    assert contents(run_report.write(folder).parent) == first
    assert len(first) == 4 + 2 * len(figures.ALL)


def contents(report: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(report.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        ([], "No transfer was tried."),
        ([trial(status="failed", elapsed_s=None, reason="it broke")], "it broke"),
        ([trial(protocol="link", tool="iperf3", ceiling_bytes_per_s=None)], "No transfer was tried."),
    ],
)
def test_a_run_without_a_good_trial_has_a_report_too(tmp_path: Path, trials: list[Any], words: str) -> None:
    folder = write_run(tmp_path, trials, instance=None, title="", hosts={}, finished_at=None)
    page = run_report.write(folder)
    text = page.read_text()
    assert words in text
    assert "not finished" in text
    assert LOCAL_LAB not in text
    assert LOCAL_LAB not in (page.parent / "post.md").read_text()
    assert rendered(*terminal.terminal_tables(run_folder.load(folder.path)))
    assert json.dumps(terminal.show_json(folder), allow_nan=False)


def test_a_run_without_a_name_is_bad_input_before_anything_is_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [])
    folder.run = {key: value for key, value in folder.run.items() if key != "name"}
    with pytest.raises(BadInput, match=r"run\.json: name: missing"):
        run_report.write(folder)
    assert not folder.report_path.exists()


def test_a_folder_whose_name_is_no_text_has_a_report_too(tmp_path: Path) -> None:
    folder = write_run(tmp_path / os.fsdecode(b"no text: \xff"), [trial()])
    assert run_report.write(folder).is_file()
    assert json.loads(json.dumps(terminal.show_json(folder)))["path"] == str(folder.path)


ROW = {
    "protocol": "afp", "tool": "cp", "direction": "write", "factor": "mtu", "baseline": 1500, "level": 9000,
    "with_factor": "tcp_space", "with_baseline": 65536, "with_level": 524288, "n_blocks": 8,
    "alone_pct": 1.2, "alone_low_pct": 0.4, "alone_high_pct": 2.0, "on_top_pct": 3.4, "on_top_low_pct": 2.5,
    "on_top_high_pct": 4.3, "interaction_pct": 2.2, "interaction_low_pct": 1.0, "interaction_high_pct": 3.4,
    "p_value": 0.001, "established": True,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "together"),
    [
        ({}, "more than the two alone by +2.2 % [+1.0, +3.4]"),
        ({"interaction_pct": -2.2}, "less than the two alone by -2.2 % [+1.0, +3.4]"),
        ({"established": False}, "together no different from the two alone, beyond noise: +2.2 % [+1.0, +3.4]"),
        ({"established": False, "p_value": np.nan}, "too few blocks to say if the two act on each other"),
    ],
)
def test_an_interaction_is_said_in_a_sentence(changes: dict[str, Any], together: str) -> None:
    assert interaction_sentence(ROW | changes) == (
        "AFP cp write: MTU 9000: +1.2 % [+0.4, +2.0] at TCP buffer 64 KiB; on top of 512 KiB +3.4 % [+2.5, +4.3]; "
        f"{together} (n = 8 blocks)."
    )


def test_categories_reach_the_spreadsheet_without_a_formula(folder: RunFolder) -> None:
    trials = run_folder.load(folder.path).assign(reason="=1+1")
    trials["reason"] = trials["reason"].astype("category")
    assert set(run_report._plain(trials)["reason"]) == {"'=1+1"}


def test_what_both_hosts_counted_and_found_odd_is_in_the_page(tmp_path: Path) -> None:
    observed = {
        "client": {"cpu_cores": 0.5, "process": "<b>cp"}, "server": {"cpu_cores": 0.25},
        "tcp": {"mss": 1448, "rtt_ms": 0.5, "retransmits": 3}, "wire": {"overhead": 0.05, "least_overhead": 0.0456},
        "remarks": ["the sender's <socket> buffer was 1 bytes"],
    }  # fmt: skip
    run = write_run(tmp_path, [trial(trial_id=f"b{n}", block=n, observed=observed) for n in (1, 2)])
    page = run_report.write(run).read_text()
    row = page[page.index("<caption>What both hosts counted") :]
    assert "<td>5.0</td><td>4.6</td><td>3</td><td>0.50</td><td>–</td><td>1448</td>" in row
    assert "the sender&#x27;s &lt;socket&gt; buffer was 1 bytes" in page


def test_of_a_case_with_many_trials_some_are_looked_at_evenly() -> None:
    trials = dataframe.frame([trial(trial_id=f"b{n}", block=n) for n in range(1, 3 * MOST_TRIALS + 1)], RUN)
    assert some_of_each_case(trials)["block"].tolist() == list(range(1, 3 * MOST_TRIALS + 1, 3))


def test_what_is_shown_was_judged_by_the_ceilings_of_all_tcp_buffers(tmp_path: Path) -> None:
    # 94 % of a ceiling that is a third of the one with larger buffers: whoever leaves the link's rows out says "link"
    rates = {65536: 40e6, 524288: 118e6}
    links = [
        trial(trial_id=f"l{space}", case_id=f"link-{space}", protocol="link", tcp_space=space, elapsed_s=SIZE / rate)
        for space, rate in rates.items()
    ]
    cases = [
        trial(
            trial_id=f"c{space}", case_id=f"afp-{space}", tcp_space=space, elapsed_s=SIZE / rate / 0.94,
            ceiling_bytes_per_s=rate, observed={"client": {"tx_bytes": 1}},
        )
        for space, rate in rates.items()
    ]  # fmt: skip
    run = write_run(tmp_path, [*links, *cases])
    shown: Any = terminal.show_json(run)["verdicts"]
    assert shown == records(verdicts(run_folder.load(run.path)))
    assert [row["limited_by"] for row in shown] == ["latency × window", "link"]


def test_trials_so_short_that_their_start_counts_are_warned_of() -> None:
    trials = [trial(case_id=f"c{number}", mtu=number, elapsed_s=number) for number in (1, 2, 3)]
    table = limits_table(verdicts(dataframe.frame(trials, RUN)))
    assert "1 of 3 cases took less than 2 s a trial" in table.caption
    assert "less than" not in limits_table(verdicts(dataframe.frame(trials[1:], RUN))).caption
