"""`lab dataset`: what it adds, shows, compares and joins, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.commands import lab, refusal
from support.datasets import Shape, write_runs

from lab.dataset.folder import Dataset
from lab.report.registry import OF_DATASET, OF_RUN
from lab.results.run_folder import RunFolder

pytest.importorskip("duckdb")


def test_the_commands_add_show_and_join(
    runs: list[RunFolder], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert OF_DATASET.keys() == OF_RUN.keys() - {"counted", "remarks", "lost"}
    assert lab(capsys, "dataset", "show")[0] == 2
    code, out, _ = lab(capsys, "dataset", "add", *(str(run.path) for run in runs))
    assert (code, out.splitlines()) == (0, [str(run.path) for run in runs])
    code, out, err = lab(capsys, "dataset", "add", str(runs[0].path))
    assert (code, out) == (0, "")
    assert "is there already" in err
    code, out, _ = lab(capsys, "dataset", "show")
    assert (code, "sweep synthetic · 2 runs" in out, "SYNTHETIC" in out) == (0, True, True)
    assert lab(capsys, "dataset", "show", "--table", "requests") == (0, "nothing: the runs have none\n", "")
    assert lab(capsys, "dataset", "compact") == (0, "6 files before, 3 now\n", "")
    [sweep] = json.loads(lab(capsys, "dataset", "show", "--json")[1])
    assert (sweep["sweep"], sweep["runs"], sweep["blocks"]) == ("synthetic", 2, 6)
    assert sweep["effects"][0]["factor"] == "protocol"
    assert "has no run of the sweep other: it has synthetic" in refusal(capsys, "dataset", "show", "other")
    assert lab(capsys, "dataset", "add", "example")[0] == 0
    shown = [lab(capsys, *words, "example", "--table", "ceilings") for words in (["dataset", "show"], ["show"])]
    ours, theirs = ([line.split() for line in out.splitlines() if " KiB" in line] for _, out, _ in shown)
    assert ([code for code, _, _ in shown], ours, len(ours)) == ([0, 0], theirs, 4)  # ceilings of a single run


def test_a_run_is_compared_by_the_beginning_of_its_id(dataset: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--dataset", str(dataset.path)]
    code, out, _ = lab(capsys, "dataset", "compare", "run-0", "run-1", *place)
    assert (code, "run-1 over run-0" in " ".join(out.split()), "AFP cp write" in out) == (0, True, True)
    [versus] = json.loads(lab(capsys, "dataset", "compare", "run-0", "run-1", "--json", *place)[1])
    assert (versus["run"], versus["pooled"][0]["protocol"]) == ("run-1", "afp")
    assert "compared with nothing" in refusal(capsys, "dataset", "compare", "run-0", *place)


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    error = refusal(capsys, "dataset", "add", "example", "--dataset", str(tmp_path))
    assert "holds something else than a dataset" in error
    (tmp_path / "dataset.json").write_text('{"schema": 99}')
    assert "is newer than this lab's" in refusal(capsys, "dataset", "show", "--dataset", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "duckdb" else object())
    error = refusal(capsys, "dataset", "add", "example", "--dataset", str(tmp_path / "dataset"))
    assert "needs duckdb, which is not installed" in error
    assert "pip install file-share-lab[dataset]" in error


def test_many_places(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        [run] = write_runs(tmp_path / str(number), [Shape(seed=number)], title=f"place {number}", instance=None)
        (run.path / "run.json").write_text(json.dumps({**run.run, "id": str(number)}))
        assert lab(capsys, "dataset", "add", str(run.path))[0] == 0
    code, out, _ = lab(capsys, "dataset", "show", "--table", "speeds")
    assert code == 0
    assert "not all of one place: what differs between them is in the numbers" in " ".join(out.split())
    assert [words for words in ("place 2", "5 places", "place 3") if words in out] == ["place 2", "5 places"]
