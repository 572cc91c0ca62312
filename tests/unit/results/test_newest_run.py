"""Which run a command takes where none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base.errors import BadInput
from lab.results.newest_run import newest, paths_of_runs


@pytest.mark.parametrize("trials", ['{"protocol": "smb"}\n', "not JSON\n"])
def test_newest_is_the_last_by_name_among_run_folders_that_hold_a_transfer(tmp_path: Path, trials: str) -> None:
    write_run_json(tmp_path / "20300101T000000Z-a", trials)
    write_run_json(tmp_path / "20300102T000000Z-b", '{"protocol": "link"}\n' + trials)
    (tmp_path / "20300103T000000Z-no-run-json").mkdir()
    write_run_json(tmp_path / "20300104T000000Z-no-trials", None)
    write_run_json(tmp_path / "20300105T000000Z-ceilings", '{"protocol": "link"}\n{"protocol": "store"}\n')
    write_run_json(tmp_path / "20300106T000000Z-torn", '{"protocol": "smb", "siz')
    assert newest(tmp_path).path.name == "20300102T000000Z-b"


def write_run_json(path: Path, trials: str | None) -> None:
    path.mkdir()
    (path / "run.json").write_text('{"schema": 1, "ended": "failed: client: no iperf3"}')
    if trials is not None:
        (path / "trials.jsonl").write_text(trials)


def test_runs_that_measured_nothing_are_bad_input_that_says_why(tmp_path: Path) -> None:
    write_run_json(tmp_path / "20300101T000000Z-a", None)
    with pytest.raises(BadInput, match=r"-a: holds no trial: failed: client: no iperf3: `lab run --resume .*-a` goes"):
        newest(tmp_path)


@pytest.mark.parametrize("missing", ["", "not/there"])
def test_newest_of_nothing_is_bad_input(tmp_path: Path, missing: str) -> None:
    with pytest.raises(BadInput, match="holds no run"):
        newest(tmp_path / missing)


def test_runs_are_listed_newest_first_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    write_run_json(tmp_path / "elsewhere", None)
    (tmp_path / "results" / "20300103T000000Z-linked").symlink_to(tmp_path / "elsewhere")
    for name in ("20300101T000000Z-a", "20300102T000000Z-b"):
        write_run_json(tmp_path / "results" / name, None)
    assert [path.name for path in paths_of_runs(tmp_path / "results")] == ["20300102T000000Z-b", "20300101T000000Z-a"]
