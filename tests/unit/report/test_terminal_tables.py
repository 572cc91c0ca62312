"""The tables that `lab show` prints, whole on a screen of any width and as JSON, and the registry that has them."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_pages import PAGES
from support.analysed import analysed
from support.commands import lab
from support.datasets import dataset_of
from support.rendered import Like, lacking, rendered
from support.synthetic_runs import RUN, make_trials, trial, write_run

from lab import stats
from lab.report import prose, registry, terminal
from lab.report.analysis import Analysis
from lab.report.fitted_table import FittedTable, rich_table, shrink
from lab.report.registry import Table
from lab.report.tables import TextTable, records
from lab.results.run_folder import RunFolder
from lab.stats.statistics import Statistics


def test_settings_that_all_share_are_said_once_and_options_of_one_protocol_beside_it() -> None:
    asked = [("smb", {"smb.signing": "true"}), ("smb", {"smb.signing": "false"}), ("nfs", {"nfs.version": "4.2"})]
    cases = itertools.product(asked, [{"server_sync": "async"}, {"server_sync": "sync"}])
    made = [
        trial(trial_id=f"b1-{number}", case_id=f"{number}", protocol=protocol, store="disk", options=options | sync)
        for number, ((protocol, options), sync) in enumerate(cases)
    ]
    text = rendered(terminal.terminal_tables(analysed(made))[0])
    under = ["NFS cp", "SMB cp, signing false", "SMB cp, signing true"]
    rows = [re.split(" {2,}", line.strip())[0] for line in text.splitlines()]
    assert [row for row in rows if row.startswith(("server", *under))] == [
        "server sync async", *under, "server sync sync", *under
    ]  # fmt: skip
    assert "All at MTU 1500, TCP default, disk, NFS version 4.2." in " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_tables_fit_and_agree_with_stats(analysis: Analysis, width: int) -> None:
    compared = rendered(*terminal.terminal_tables(analysis, registry.FULL[:1]), width=width)
    text = rendered(*terminal.terminal_tables(analysis), width=width)
    for row in stats.summary(analysis.trials).to_dict("records"):
        name = f"{row['protocol'].upper()} {row['tool']}"
        lines = [line for line in compared.splitlines() if line.strip().startswith(name)]
        speed, share = f" {row['median_MB_per_s']:.1f} ", f" {row['share_of_ceiling']:.0%} ".replace("%", " %")
        assert any(speed in line and share in line for line in lines), compared
    effects, interactions = (table(stats.grid(analysis.trials)) for table in (stats.effects, stats.interactions))
    for row in effects.to_dict("records"):
        change = f" {row['change_pct']:+.1f}{'*' if row['established'] else ''} "
        assert not lacking(text, change, f" {row['n_blocks']}/{row['n_pairs']} ")
    for row in interactions.dropna(subset="interaction_pct").to_dict("records"):
        assert f" {row['interaction_pct']:+.1f}" in text
    chance = f"{len(effects)} comparisons: about {0.05 * len(effects):.1f} of the plain"
    assert not lacking(" ".join(text.split()), chance, ", all cases together (n = 3 blocks)")
    assert not lacking(compared, "2 of 3", "local lab")
    assert max(map(len, text.splitlines())) <= width


def test_show_json_holds_the_tables_and_null_for_no_number(folder: RunFolder, analysis: Analysis) -> None:
    shown = json.loads(json.dumps(terminal.show_json(folder), allow_nan=False))
    assert "one" in folder.run["left_out"]
    assert shown["run"] == {**RUN, "left_out": folder.run["left_out"], "schema": 2, "name": "synthetic"}
    assert shown["counts"] == {"ok": 162, "void": 4, "failed": 2}
    assert len(shown["summary"]) == 56
    assert shown["summary"][0]["low_MB_per_s"] is None
    medians = stats.summary(analysis.trials)["median_MB_per_s"].tolist()
    assert [row["median_MB_per_s"] for row in shown["summary"]] == pytest.approx(medians)
    assert len(shown["effects"]) == len(stats.effects(stats.grid(analysis.trials))) == 50
    assert shown["effects"][0]["median_low_pct"] is None
    assert len(shown["interactions"]) == 15
    assert (shown["shares"]["blocks"], shown["shares"]["blocks_used"]) == (3, 0)
    assert shown["drift"]["in_block_pct"] == [None, None, None]
    assert {row["status"] for row in shown["not_ok"]} == {"void", "failed"}


def test_shares_are_in_the_table_when_blocks_are_complete() -> None:
    small = make_trials(2, combinations=[("afp", "cp"), ("ssh", "rsync")])
    run = analysed([replace(made, status="ok", elapsed_s=made.elapsed_s or 5.0) for made in small])
    text = rendered(*terminal.terminal_tables(run))
    for share in stats.shares(stats.grid(run.trials)).table["share"]:
        assert f" {100 * share:.1f} " in text
    assert "of 2 blocks, 2 have a good trial of every case and are used" in " ".join(text.split())


def test_a_long_table_says_in_the_terminal_how_much_of_it_is_missing() -> None:
    table = TextTable(["case", "n"], [[f"case {number}", "3"] for number in range(1300)], "Cases")
    text = " ".join(rendered(rich_table(table, ["from here"]), width=80).split())
    assert lacking(text, "case 199", "case 200", "and 1,100 more rows: --json has all") == ["case 200"]


def test_names_are_in_the_table_of_files_and_not_among_the_speeds() -> None:
    names = trial(
        trial_id="n", case_id="n", tool="metadata", workload="names of tree mail, stat", size_bytes=5000, files=500,
        elapsed_s=0.5, options={"metadata.phase": "stat"},
    )  # fmt: skip
    run = analysed([names])
    assert any("Only names were moved" in rendered(table) for table in terminal.terminal_tables(run))
    shown = " ".join(rendered(terminal.terminal_tables(run, ["files"])[0]).split())
    assert "MB/s are of names" in shown
    assert re.search(r"\b1000\b", shown)
    both = analysed([names, trial(trial_id="c", case_id="c")])
    assert lacking(rendered(terminal.terminal_tables(both, ["speeds"])[0]), "cp", "metadata") == ["metadata"]


WORD = st.text("abcdefghij0123456789", min_size=1, max_size=12)
CELL = st.lists(WORD, max_size=9).map(" ".join)


@st.composite
def tables(draw: st.DrawFn) -> FittedTable:
    """Tables of any shape whose words have room on every screen of 60 columns."""
    count = draw(st.integers(1, 9))
    row = st.lists(CELL, min_size=count, max_size=count)
    return FittedTable(draw(row), draw(st.lists(row, max_size=5)), draw(CELL), [draw(CELL)], draw(st.booleans()))


def words_of(table: FittedTable) -> set[str]:
    """The words of its cells, and those of its caption and what stands below it."""
    return set(" ".join([table.above, *table.below, *(cell for row in table.rows for cell in row)]).split())


@given(table=tables(), width=st.integers(60, 200))
def test_no_word_of_a_table_is_lost_on_a_screen_and_no_line_is_too_wide(table: FittedTable, width: int) -> None:
    text = rendered(table, width=width)
    assert words_of(table) <= set(text.split())
    assert max(map(len, text.splitlines()), default=0) <= width


def test_a_table_that_fits_is_as_wide_as_its_cells_and_one_without_columns_says_why() -> None:
    table = rich_table(TextTable(["", "n"], [["NFS cp", "3"]], "Speeds"))
    assert rendered(table, width=60) == rendered(table, width=200)
    assert "No transfer was tried." in rendered(rich_table(TextTable([], [], "No transfer was tried.")))


def test_a_narrow_screen_lists_each_row_below_its_name_and_the_name_of_its_column() -> None:
    rows = [["MTU 1500 → 9000:", "", ""], ["SMB cp write", "link", "nothing else was near its limit in any trial"]]
    text = rendered(rich_table(TextTable(["", "limited by", "evidence"], rows, "Limits", True), ["here"]), width=45)
    assert [line.rstrip() for line in text.splitlines()] == [
        "Limits", "MTU 1500 → 9000:", "SMB cp write", "  limited by  link",
        "  evidence    nothing else was near its limit", "              in any trial", "here",
    ]  # fmt: skip
    table = rich_table(TextTable(["trial", "remark"], [["b001-0002", "x" * 70]], "", True))
    assert rendered(table, width=60).splitlines()[0].rstrip() == "trial b001-0002"


def test_headings_of_numbers_wrap_before_a_table_becomes_a_listing() -> None:
    table = rich_table(TextTable(["", "least round trip", "retransmitted segments"], [["NFS cp", "0.68", "17"]]))
    lines = [line.split() for line in rendered(table, width=45).splitlines() if line.strip()]
    assert ["NFS", "cp", "0.68", "17"] in lines
    assert len(lines) > 3


def test_the_widest_columns_are_cut_first_and_none_below_its_least() -> None:
    assert shrink([10, 40, 50], [1, 1, 1], 70) == [10, 30, 30]
    assert shrink([10, 40, 50], [1, 1, 1], 71) == [10, 30, 31]
    assert shrink([10, 40, 50], [1, 35, 1], 70) == [10, 35, 25]
    assert shrink([10, 40], [10, 40], 20) == [10, 40]
    assert shrink([10, 40], [1, 1], 60) == [10, 40]
    assert shrink([], [], 60) == []


def test_a_cell_of_many_lines_is_drawn_at_once() -> None:
    table = TextTable(["", "reason"], [["a", "x " * 10**5]], "", True)
    assert len(rendered(rich_table(table))) > 10**5


@pytest.mark.parametrize(("low", "high", "change"), [(-10, 10, "± 11 %"), (-2, 2, "± 2 %"), (20, 30, "± 4.1 %")])
def test_how_small_a_change_can_be_told_follows_from_the_intervals(low: float, high: float, change: str) -> None:
    table = pd.DataFrame({
        "p_value": [0.01, 0.5, float("nan")], "moderated_p": [0.02, 0.4, float("nan")], "n_blocks": [3, 3, 3],
        "moderated_low_pct": [low, low, float("nan")], "moderated_high_pct": [high, high, float("nan")],
    })  # fmt: skip
    sentence = prose.chance(table)
    missed = "2 comparisons: about 0.1 of the plain 95 % intervals miss by chance. "
    visible = f"With 3 blocks of this run's noise a change of about {change} can be seen."
    assert sentence == Like(f"{missed}...{visible}...")


def toy(run: Statistics) -> pd.DataFrame:
    """How many cases each protocol has."""
    return run.summary.groupby("protocol", observed=True).size().rename("cases").reset_index()


def toy_table(run: Statistics) -> TextTable:
    return TextTable(["toys", "cases"], toy(run).astype(str).to_numpy().tolist(), "A caption of toys.")


TOY: Table[Statistics] = Table("toy", "How many toys?", toy_table, "toys", lambda run: records(toy(run)))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setitem(registry.OF_RUN, "toy", TOY)
    monkeypatch.setitem(registry.OF_DATASET, "toy", TOY)
    return write_run(tmp_path / "results", [trial()], finished_at="2030-01-02T03:04:05+00:00")


@pytest.mark.usefixtures("empty_figures")
def test_a_new_table_is_in_the_terminal_in_json_and_in_the_report(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = lab(capsys, "show", str(run.path), "--table", "toy")
    assert code == 0
    assert ["afp", "1"] in [line.split() for line in out.splitlines()]
    assert "A caption of toys." in out
    assert json.loads(lab(capsys, "show", str(run.path), "--json")[1])["toys"] == [{"protocol": "afp", "cases": 1}]
    assert lab(capsys, "report", str(run.path), "--to", str(tmp_path / "report"))[0] == 0
    for name in ("report.html", "post-appendix.md"):
        assert not lacking((tmp_path / "report" / name).read_text(), "How many toys?", "A caption of toys.")


def test_a_dataset_has_it(run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    dataset_of(tmp_path / "dataset", [run])
    words = ("dataset", "show", "--dataset", str(tmp_path / "dataset"))
    assert "A caption of toys." in lab(capsys, *words, "--table", "toy")[1]
    (sweep,) = json.loads(lab(capsys, *words, "--json")[1])
    assert sweep["toys"] == [{"protocol": "afp", "cases": 1}]


@pytest.mark.usefixtures("run")
def test_the_reference_has_it() -> None:
    assert "store-effects, waterfall, counted, remarks, lost, toy |" in "\n".join(PAGES["commands.md"]())
    assert "| `toy` | How many toys? | `toys` |" in "\n".join(PAGES["data-dictionary.md"]())
