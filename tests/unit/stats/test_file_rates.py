"""What a tree comes to a file: by hand, beside what the table says, and nothing of a run of single files."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import registry, run_report, tables, terminal
from lab.report.analysis import Analysis
from lab.results import run_folder

FILES = 500


def tree_run(folder: Path) -> Any:
    """Six blocks of SMB and SSH, 500 files of 20 MB, in seconds that grow by block."""
    trials = [
        trial(
            trial_id=f"b{block:03d}-{position:04d}", case_id=f"{protocol}-rsync", block=block, position=position,
            protocol=protocol, tool="rsync", direction="write", workload="tree mail", files=FILES,
            size_bytes=20_000_000, elapsed_s=position * (1 + block / 100),
            observed={"tcp": {"data_segs_in": 4000}},
        )
        for block in range(1, 7)
        for position, protocol in enumerate(("smb", "ssh"), 1)
    ]  # fmt: skip
    return write_run(folder, trials)


def test_files_a_second_milliseconds_and_round_trips_are_those_of_the_trials(tmp_path: Path) -> None:
    rates = stats.file_rates(run_folder.load(tree_run(tmp_path).path)).set_index("protocol")
    smb, ssh = rates.loc["smb"], rates.loc["ssh"]
    middle = (FILES / 1.03 + FILES / 1.04) / 2
    assert smb["files_per_s"] == pytest.approx(middle)
    assert (smb["low_files_per_s"], smb["high_files_per_s"]) == pytest.approx((FILES / 1.06, FILES / 1.01))
    assert smb["ms_per_file"] == pytest.approx(1000 * 1.035 / FILES)
    assert ssh["ms_per_file"] == pytest.approx(2 * smb["ms_per_file"])
    assert smb["MB_per_s"] == pytest.approx((20 / 1.03 + 20 / 1.04) / 2)
    assert (smb["n"], smb["files"]) == (6, FILES)
    assert smb["round_trips_per_file"] == 8
    assert pd.isna(ssh["round_trips_per_file"])
    single = Analysis(run_folder.load(write_run(tmp_path / "single").path))  # a run of single files has no such table
    assert single.file_rates.empty
    assert registry.OF_RUN["files"].words(single) is None


@pytest.mark.usefixtures("empty_figures")
def test_they_are_in_every_table_of_a_run(tmp_path: Path) -> None:
    folder = tree_run(tmp_path)
    run = Analysis(run_folder.load(folder.path))
    table = tables.files(run.file_rates)
    assert table.headings[1:] == ["files/s", "95 % interval", "ms a file", "MB/s", "round trips a file", "n"]
    assert table.rows[0] == ["SMB rsync write", "483", "472 … 495", "2.07", "19.3", "8.0", "6"]
    assert "500 files a trial" in table.caption
    shown: Any = terminal.show_json(folder)
    assert [row["round_trips_per_file"] for row in shown["files"]] == [8, None]
    report = run_report.write(folder).read_text()
    assert "ms a file" in report
    assert "ms a file" in (folder.report_path / "post-appendix.md").read_text()
    csv = pd.read_csv(folder.report_path / "table.csv")
    assert csv["files_per_s"].tolist() == pytest.approx((csv["files"] / csv["elapsed_s"]).tolist())
    assert csv["ms_per_file"].tolist() == pytest.approx((1000 * csv["elapsed_s"] / csv["files"]).tolist())
    assert csv["round_trips_per_file"].dropna().tolist() == [8] * 6
