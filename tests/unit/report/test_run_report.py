"""What a report writes beside its page, and of runs that have little or nothing to show."""

import html
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.analysed import analysed
from support.rendered import Page, lacking, rendered
from support.synthetic_runs import RUN, SIZE, trial, write_run

from lab.base.errors import BadInput
from lab.report import figures, run_report, terminal
from lab.report.bottlenecks import limits_table
from lab.report.posts import Subject, opening
from lab.report.prose import LOCAL_LAB, interaction_sentence
from lab.report.run_report import page_of
from lab.report.tables import records
from lab.results import dataframe, run_folder
from lab.results.run_folder import RunFolder
from lab.stats.bottleneck import verdicts
from lab.stats.encoding import MOST_TRIALS, some_of_each_case


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("bbr", "bbr"), "TCP congestion control: bbr"),
        (("bbr", "cubic"), "TCP congestion control: bbr (client), cubic (server)"),
        ((None, "cubic"), "TCP congestion control: cubic (server)"),
        (("<b>", "<b>"), "TCP congestion control: <b>"),
        ((None, None), ""),
    ],
)
def test_congestion_control_stands_at_the_head(names: tuple[str | None, ...], sentence: str) -> None:
    hosts = {role: {"congestion": name} for role, name in zip(("client", "server"), names, strict=True)}
    analysis = analysed([trial()], hosts=hosts)
    post = html.unescape("\n".join(opening(Subject("title", analysis, "RUN"))))
    words = "".join(Page(page_of(Subject("title", analysis, ""), [], {}).to_html()).words)
    for text in (post, words, rendered(*terminal.terminal_tables(analysis))):
        assert sentence in text if sentence else "congestion" not in text
    assert "congestion" not in rendered(*terminal.terminal_tables(analysis, ["speeds"]))


def test_the_appendix_has_every_figure_and_table(folder: RunFolder) -> None:
    text = (folder.report_path / "post-appendix.md").read_text()
    pictures = [(folder.report_path / "figures" / f"{name}.png").read_bytes() for name in figures.ALL]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    drawings = [(folder.report_path / "figures" / f"{name}.svg").read_text() for name in figures.ALL]
    assert all(drawing.endswith("</svg>\n") for drawing in drawings)
    left_out = r"**Not measured: client: no mount\_afp: &lt;gone&gt;.**"
    assert not lacking(text, "n = 162 ok, 4 void, 2 failed", LOCAL_LAB, left_out, "&lt;CPU&gt; &amp; Sons")


def test_the_csv_is_every_trial(folder: RunFolder) -> None:
    table, trials = pd.read_csv(folder.report_path / "table.csv"), run_folder.load(folder.path)
    assert list(table.columns) == list(trials.columns)
    for name in ("trial_id", "wire_tx_bytes"):
        assert table[name].tolist() == trials[name].tolist()
    assert table["effective"].map(json.loads).tolist() == trials["effective"].tolist()
    trials["reason"] = pd.Categorical(["=1+1"] * len(trials))
    assert set(run_report._plain(trials)["reason"]) == {"'=1+1"}, "no formula reaches a spreadsheet"


@pytest.mark.usefixtures("empty_figures")
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
    assert lacking(page.read_text(), words, "not finished", LOCAL_LAB) == [LOCAL_LAB]
    assert lacking(page.with_name("post.md").read_text(), "No transfer counts.", LOCAL_LAB) == [LOCAL_LAB]
    assert "No transfer counts." in run_report.write_gist(folder).read_text()
    assert rendered(*terminal.terminal_tables(run_folder.load(folder.path)))
    assert json.dumps(terminal.show_json(folder), allow_nan=False)


def test_a_run_without_a_name_is_bad_input_before_anything_is_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [])
    folder.run = {key: value for key, value in folder.run.items() if key != "name"}
    with pytest.raises(BadInput, match=r"run\.json: name: missing"):
        run_report.write(folder)
    assert not folder.report_path.exists()


@pytest.mark.usefixtures("empty_figures")
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


@pytest.mark.usefixtures("empty_figures")
def test_what_both_hosts_counted_and_found_odd_is_in_the_page(tmp_path: Path) -> None:
    observed = {
        "client": {"cpu_cores": 0.5, "process": "<b>cp"}, "server": {"cpu_cores": 0.25},
        "tcp": {"mss": 1448, "rtt_ms": 0.5, "retransmits": 3}, "wire": {"overhead": 0.05, "least_overhead": 0.0456},
        "remarks": ["the sender's <socket> buffer was 1 bytes"],
    }  # fmt: skip
    run = write_run(tmp_path, [trial(trial_id=f"b{n}", block=n, observed=observed) for n in (1, 2)])
    page = run_report.write(run).read_text()
    row = "<td>5.0</td><td>4.6</td><td>3</td><td>0.50</td><td>–</td><td>1448</td>"
    assert row in page[page.index("<caption>What both hosts counted") :]
    assert "the sender&#x27;s &lt;socket&gt; buffer was 1 bytes" in page


def test_an_analysis_looks_at_some_of_very_many_trials_evenly() -> None:
    trials = dataframe.frame([trial(trial_id=f"b{n}", block=n) for n in range(1, 3 * MOST_TRIALS + 1)], RUN)
    assert some_of_each_case(trials)["block"].tolist() == list(range(1, 3 * MOST_TRIALS + 1, 3))


def test_what_is_shown_was_judged_by_the_ceilings_of_all_tcp_buffers(tmp_path: Path) -> None:
    # 94 % of a ceiling that is a third of the one with larger buffers: whoever leaves the link's rows out says "link"
    rates = {65536: 40e6, 524288: 118e6}
    trials = []
    for space, rate in rates.items():
        link = {"trial_id": f"l{space}", "case_id": f"link-{space}", "protocol": "link", "elapsed_s": SIZE / rate}
        case = {"trial_id": f"c{space}", "case_id": f"afp-{space}", "elapsed_s": SIZE / rate / 0.94}
        case |= {"ceiling_bytes_per_s": rate, "observed": {"client": {"tx_bytes": 1}}}
        trials += [trial(tcp_space=space, **changes) for changes in (link, case)]
    run = write_run(tmp_path, trials)
    shown: Any = terminal.show_json(run)["verdicts"]
    assert shown == records(verdicts(run_folder.load(run.path)))
    assert [row["limited_by"] for row in shown] == ["latency × window", "link"]


def test_trials_so_short_that_their_start_counts_are_warned_of() -> None:
    trials = [trial(case_id=f"c{number}", mtu=number, elapsed_s=number) for number in (1, 2, 3)]
    some, none = (limits_table(analysed(of).verdicts).caption for of in (trials, trials[1:]))
    assert "1 of 3 cases took less than 2 s a trial" in some
    assert "less than" not in none
