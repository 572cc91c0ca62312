"""The tables that `lab show` prints, on terminals of any width and as JSON."""

import io
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from support.rendered import rendered
from support.synthetic_runs import RUN, make_trials, trial, write_run

from lab import stats
from lab.report import registry, terminal
from lab.report.analysis import Analysis
from lab.report.fitted_table import rich_table
from lab.report.tables import TextTable
from lab.results import run_folder
from lab.results.run_folder import RunFolder

SMALL = make_trials(2, combinations=[("afp", "cp"), ("ssh", "rsync")])


def test_settings_that_all_share_are_said_once_and_options_of_one_protocol_beside_it(tmp_path: Path) -> None:
    asked = [("smb", {"smb.signing": "true"}), ("smb", {"smb.signing": "false"}), ("nfs", {"nfs.version": "4.2"})]
    made = [
        trial(trial_id=f"b1-{number}", case_id=f"{number}", protocol=protocol, store="disk", options=options | sync)
        for number, ((protocol, options), sync) in enumerate(
            itertools.product(asked, [{"server_sync": "async"}, {"server_sync": "sync"}])
        )
    ]
    text = rendered(terminal.terminal_tables(run_folder.load(write_run(tmp_path, made).path))[0])
    under = ["NFS cp", "SMB cp, signing false", "SMB cp, signing true"]
    rows = [re.split(" {2,}", line.strip())[0] for line in text.splitlines()]
    assert [row for row in rows if row.startswith(("server", *under))] == [
        "server sync async", *under, "server sync sync", *under
    ]  # fmt: skip
    assert "All at MTU 1500, TCP default, disk, NFS version 4.2." in " ".join(text.split())


@pytest.fixture(scope="module")
def analysis(folder: RunFolder) -> Analysis:
    return Analysis(run_folder.load(folder.path))


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_tables_fit_and_agree_with_stats(analysis: Analysis, width: int) -> None:
    trials = analysis.trials
    compared = rendered(*terminal.terminal_tables(analysis, registry.FULL[:1]), width=width)
    text = rendered(*terminal.terminal_tables(analysis), width=width)
    for row in stats.summary(trials).to_dict("records"):
        name = f"{row['protocol'].upper()} {row['tool']}"
        lines = [line for line in compared.splitlines() if line.strip().startswith(name)]
        speed, share = f" {row['median_MB_per_s']:.1f} ", f" {row['share_of_ceiling']:.0%} ".replace("%", " %")
        assert any(speed in line and share in line for line in lines), compared
    assert "2 of 3" in compared
    effects, interactions = (table(stats.grid(trials)) for table in (stats.effects, stats.interactions))
    for row in effects.to_dict("records"):
        assert f" {row['change_pct']:+.1f}{'*' if row['established'] else ''} " in text
        assert f" {row['n_blocks']}/{row['n_pairs']} " in text
    for row in interactions.dropna(subset="interaction_pct").to_dict("records"):
        assert f" {row['interaction_pct']:+.1f}" in text
    assert f"{len(effects)} comparisons: about {0.05 * len(effects):.1f} of the plain" in " ".join(text.split())
    assert ", all cases together (n = 3 blocks)" in " ".join(text.split())
    assert "local lab" in compared
    assert max(map(len, text.splitlines())) <= width


def test_show_json_holds_the_tables_and_null_for_no_number(folder: RunFolder) -> None:
    shown = json.loads(json.dumps(terminal.show_json(folder), allow_nan=False))
    trials = run_folder.load(folder.path)
    assert "one" in folder.run["left_out"]
    assert shown["run"] == {**RUN, "left_out": folder.run["left_out"], "schema": 2, "name": "synthetic"}
    assert shown["counts"] == {"ok": 162, "void": 4, "failed": 2}
    assert len(shown["summary"]) == 56
    assert shown["summary"][0]["low_MB_per_s"] is None
    assert [row["median_MB_per_s"] for row in shown["summary"]] == pytest.approx(
        stats.summary(trials)["median_MB_per_s"].tolist()
    )
    assert len(shown["effects"]) == len(stats.effects(stats.grid(trials))) == 50
    assert shown["effects"][0]["median_low_pct"] is None
    assert len(shown["interactions"]) == 15
    assert (shown["shares"]["blocks"], shown["shares"]["blocks_used"]) == (3, 0)
    assert shown["drift"]["in_block_pct"] == [None, None, None]
    assert {row["status"] for row in shown["not_ok"]} == {"void", "failed"}


def test_shares_are_in_the_table_when_blocks_are_complete(tmp_path: Path) -> None:
    good = [replace(made, status="ok", elapsed_s=made.elapsed_s or 5.0) for made in SMALL]
    trials = run_folder.load(write_run(tmp_path, good).path)
    text = rendered(*terminal.terminal_tables(trials))
    for row in stats.shares(stats.grid(trials)).table.to_dict("records"):
        assert f" {100 * row['share']:.1f} " in text
    assert "of 2 blocks, 2 have a good trial of every case and are used" in " ".join(text.split())


def test_a_long_table_says_in_the_terminal_how_much_of_it_is_missing() -> None:
    table = TextTable(["case", "n"], [[f"case {number}", "3"] for number in range(1300)], "Cases")
    drawn = io.StringIO()
    Console(file=drawn, width=80).print(rich_table(table, ["from here"]))
    assert "case 199" in drawn.getvalue()
    assert "case 200" not in drawn.getvalue()
    assert "and 1,100 more rows: --json has all" in " ".join(drawn.getvalue().split())


def test_names_are_in_the_table_of_files_and_not_among_the_speeds(tmp_path: Path) -> None:
    names = trial(
        trial_id="n", case_id="n", tool="metadata", workload="names of tree mail, stat", size_bytes=5000, files=500,
        elapsed_s=0.5, options={"metadata.phase": "stat"},
    )  # fmt: skip
    run = run_folder.load(write_run(tmp_path / "names", [names]).path)
    assert any("Only names were moved" in rendered(table) for table in terminal.terminal_tables(run))
    shown = rendered(terminal.terminal_tables(run, ["files"])[0])
    assert "MB/s are of names" in " ".join(shown.split())
    assert re.search(r"\b1000\b", shown)
    both = run_folder.load(write_run(tmp_path / "both", [names, trial(trial_id="c", case_id="c")]).path)
    text = rendered(terminal.terminal_tables(both, ["speeds"])[0])
    assert "cp" in text
    assert "metadata" not in text
