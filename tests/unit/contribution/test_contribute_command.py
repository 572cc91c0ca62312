"""`lab contribute`: what it writes, says and refuses."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import lab
from support.contributions import change_lines

from lab.results import examples
from lab.results.run_folder import RunFolder


def test_a_run_is_written_without_names_and_adds_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed, err = lab(capsys, "contribute", "example")
    assert (code, printed) == (0, "example-contribution\n")
    assert "refuse" not in err
    folder = tmp_path / "example-contribution"
    written = json.loads((folder / "contribution.json").read_text())
    example = examples.find("example")
    assert example is not None
    assert written["raw_trials_sha256"] == hashlib.sha256(example.trials_path.read_bytes()).hexdigest()
    for name, about in written["files"].items():
        content = (folder / name).read_bytes()
        assert about == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert written["hosts"]["client"]["cpu"] == "Intel(R) Xeon(R) Processor @ 2.80GHz"
    assert len([trial for trial in written["medians"] if not trial["case_id"].startswith("link")]) == 28
    assert not {"seal", "names", "hosts_digest"} & RunFolder(folder).run.keys()
    assert lab(capsys, "contribute", "--verify", folder) == (0, f"{folder}: adds up\n", "")
    assert lab(capsys, "show", folder)[0] == 0  # it is a run as any other
    (tmp_path / "empty").mkdir()
    for place in (folder, tmp_path / "empty"):
        code, _, err = lab(capsys, "contribute", "example", "--output", place)
        assert (code, "is there already" in err) == (2, True)


def test_what_does_not_add_up_or_comes_twice(copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = copied("good"), copied("bad")
    change_lines(bad, lambda lines: lines[:-4])
    code, printed, _ = lab(capsys, "contribute", "--verify", good, bad)
    assert code == 1
    assert f"{good}: adds up" in printed.splitlines()
    assert f"{bad}: refused, " in printed
    assert "trials.jsonl: has " in printed
    flaws = json.loads(lab(capsys, "contribute", "--verify", "--json", good, bad)[1])
    assert flaws[str(good)] == []
    assert {"file", "line", "what"} == set(flaws[str(bad)][0])
    first, other = copied("one"), copied("other")
    code, printed, _ = lab(capsys, "contribute", "--verify", first, other)
    assert code == 1
    assert f"the same run as {first}" in " ".join(printed.split())


@pytest.mark.parametrize(
    "words", [["--verify"], ["example", "example-delay"], ["example", "--json"], ["--verify", "x", "--output", "y"]]
)
def test_words_that_do_not_go_together_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lab(capsys, "contribute", *words)[0] == 2
    assert list(tmp_path.iterdir()) == []
