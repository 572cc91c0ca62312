"""`lab history`: its exit codes, its files, and what it does with runs that it cannot read."""

import json
from pathlib import Path

import pytest
from support.commands import Command, Lab
from support.runs_to_compare import write_history, write_saved_run

RESULTS = Path("results")


def test_the_answer_comes_first_then_the_runs(lab: Lab) -> None:
    write_history(RESULTS, [1.0] * 12)
    code, out, err = lab("history", "nas")
    assert (code, err) == (0, "")
    assert out.startswith("write: steady at 110 MB/s since 3 March (12 runs).\n")
    assert out.index("2030-03-03 03:00") < out.index("2030-03-14 03:00") < out.index("Runs scatter by")


@pytest.mark.parametrize(("newest", "expected"), [(0.7, 3), (1.0, 0)])
def test_a_newest_run_that_is_slower_is_exit_3(lab: Lab, newest: float, expected: int) -> None:
    write_history(RESULTS, [1.0] * 12 + [newest])
    verdict = f"slower-than 10%: {'met' if expected else 'not met'}: the newest read"
    code, out, _ = lab("history", "nas", "--fail-if", "slower-than 10%")
    assert (code, out.splitlines()[-1].startswith(verdict)) == (expected, True)
    code, out, _ = lab("history", "nas", "--fail-if", "slower-than 10%", "--json")
    assert (code, json.loads(out)["fail_if"]["met"]) == (expected, expected == 3)
    assert lab("history", "nas")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nas", "--fail-if", "slower"], "right is 'slower-than 10%'"),
        (["nas", "--plot", "nas.pdf"], "--plot nas.pdf: ends in neither .svg nor .png"),
        (["attic"], "saved as attic; the names there are nas"),
        (["nas", "--results", "elsewhere"], "elsewhere: holds no run that was saved as nas"),
    ],
)
def test_what_is_wrong_is_exit_2(refused: Command, words: list[str], message: str) -> None:
    write_history(RESULTS, [1.0])
    assert message in " ".join(refused("history", *words).split())


@pytest.mark.parametrize(("name", "begin"), [("nas.svg", b"<?xml"), ("nas.png", b"\x89PNG")])
def test_the_figure_is_written_and_named(lab: Lab, name: str, begin: bytes) -> None:
    write_history(RESULTS, [1.0] * 3)
    code, _, err = lab("history", "nas", "--plot", name)
    assert (code, err) == (0, f"drawn: {name}\n")
    first = Path(name).read_bytes()
    assert first.startswith(begin)
    lab("history", "nas", "--plot", name)
    assert Path(name).read_bytes() == first


def test_runs_that_cannot_be_read_are_told_and_left_out(lab: Lab) -> None:
    write_history(RESULTS, [1.0] * 3)
    spoiled = write_saved_run(RESULTS, 9, trials=1)
    (spoiled.path / "run.json").write_text("{")
    code, out, err = lab("history", "nas")
    assert (code, "in 3 runs" in out) == (0, True)
    assert f"not counted: results/{spoiled.path.name}/run.json" in " ".join(err.split())
