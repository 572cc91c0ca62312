"""`lab compare --over-pairs`: what it prints, its JSON, its page, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.runs_of_pairs import write_pairs

from lab.cli import main as cli


def lab(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_effects_over_pairs_are_printed_and_their_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [run.path for run in write_pairs(tmp_path, [0.2, 0.25, 0.3], [{"kernel": f"6.{n}"} for n in range(3)])]
    code, said, _ = lab(capsys, "compare", *paths, "--over-pairs")
    plain = " ".join(said.split())
    assert code == 0
    assert plain.startswith("3 pairs of hosts, taken as a sample of pairs")
    assert "over 3 pairs" in plain
    assert "One pair a value: server kernel. What that does cannot be told from the pair" in plain
    assert "all cases, P2" in plain
    found = json.loads(lab(capsys, "compare", "--json", "--over-pairs", *paths)[1])
    assert len(found["pairs"]) == 3
    assert found["answer"][0].startswith("3 pairs of hosts")


def test_the_page_is_written_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [run.path for run in write_pairs(tmp_path, [0.2, 0.25, 0.3])]
    code, said, _ = lab(capsys, "compare", *paths, "--over-pairs", "--to", tmp_path / "page")
    assert code == 0
    assert said.startswith("3 pairs of hosts")
    assert str(tmp_path / "page" / "compare.html") in said.splitlines()
    assert "pair1-client" not in (tmp_path / "page" / "compare.html").read_text()
    lab(capsys, "compare", *paths, "--over-pairs", "--to", tmp_path / "named", "--no-redact")
    assert "pair1-client" in (tmp_path / "named" / "compare.html").read_text()


@pytest.mark.parametrize("words", [["--fail-if", "slower-than 10%"]])
def test_there_is_no_condition_without_a_base(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    paths = [run.path for run in write_pairs(tmp_path, [0.2, 0.25])]
    code, _, err = lab(capsys, "compare", *paths, "--over-pairs", *words)
    assert code == 2
    assert "not with --over-pairs" in err


def test_a_run_twice_and_the_published_tables_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = [run.path for run in write_pairs(tmp_path, [0.2])]
    code, _, err = lab(capsys, "compare", path, path, "--over-pairs")
    assert code == 2
    assert "the same run as" in err
    code, _, err = lab(capsys, "compare", "published", path, "--over-pairs")
    assert code == 2
    assert "--over-pairs: not with published" in err
