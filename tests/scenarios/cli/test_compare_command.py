"""`lab compare`: what it prints, its JSON, its condition, its page, and what it refuses."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import Command, Lab
from support.runs_to_compare import NEW, OLD, invent, without, write_kernel
from support.synthetic_runs import RUN, make_trials, trial, write_run

from lab.cli import compare
from lab.report.compared.answer import judge_slower
from lab.report.compared.comparison import Comparison
from lab.results.run_folder import RunFolder, Trial

SMALL = make_trials(4, combinations=[("afp", "cp"), ("ssh", "rsync")])
SLOWER = {"smb": 0.8}


@pytest.fixture
def kernels(tmp_path: Path) -> list[RunFolder]:
    """Old, new and old again: SMB is slower in between."""
    states: list[tuple[str, dict[str, float]]] = [(OLD, {}), (NEW, SLOWER), (OLD, {})]
    return [write_kernel(tmp_path, kernel, invent(at, fast), at) for at, (kernel, fast) in enumerate(states)]


def test_text_and_json_say_what_differs_and_by_how_much(tmp_path: Path, done: Command) -> None:
    hosts = {side: facts | {"kernel": "9.9-new"} for side, facts in RUN["hosts"].items()}
    quick = [replace(trial, elapsed_s=trial.elapsed_s and trial.elapsed_s / 1.25) for trial in SMALL]
    a, b = str(write_run(tmp_path, SMALL).path), str(write_run(tmp_path, quick, hosts=hosts).path)
    printed = done("compare", a, b)
    assert printed.startswith("B is faster: 1.25 times as fast as A [1.2")
    kernel = "kernel of both hosts 0.0-synthetic → 9.9-new"
    for text in ("(+25.0 %)", "differ in everything that changed meanwhile", kernel):
        assert text in " ".join(printed.split())
    assert printed.index("9.9-new") < printed.index("AFP cp write,")
    assert f"A:{a}" in "".join(printed.split())  # a long path is folded, and centred
    content = json.loads(done("compare", "--json", a, b))
    assert (content["a"], content["b"]) == (a, b)
    assert {"what": "client kernel", "a": "0.0-synthetic", "b": "9.9-new"} in content["differences"]
    assert [row["change_pct"] for row in content["cases"]] == pytest.approx([25] * 16)
    assert len(content["pooled"]) == 4
    (comparison,) = content["comparisons"]
    assert comparison["overall"]["ratio"] == pytest.approx(1.25)
    assert (comparison["pooled"], comparison["cases"]) == (content["pooled"], content["cases"])


def test_several_runs_have_a_comparison_each(kernels: list[RunFolder], done: Command) -> None:
    paths = [run.path for run in kernels]
    content = json.loads(done("compare", "--json", *paths))
    assert [comparison["run"] for comparison in content["comparisons"]] == ["B", "C"]
    assert [run["run"] for run in content["runs"]] == [str(run.path) for run in kernels]
    assert content["facts"] == [{"what": "server kernel", "A": OLD, "B": NEW, "C": OLD}]
    assert ("a" in content, content["answer"][0][:11]) == (False, "B is slower")
    printed = done("compare", *paths)
    assert printed.count("times as fast as A") >= 3
    assert "C: " in printed


def test_a_run_that_is_slower_is_exit_code_3(kernels: list[RunFolder], lab: Lab) -> None:
    old, new, again = kernels
    slower, alike = Comparison([old, new]), Comparison([old, again])
    for percent, code in ((0, 3), (10, 3), (19, 0), (30, 0)):  # B is 19 % slower
        got, verdicts = judge_slower(slower, percent)
        met = [verdict.split(": ")[2][:6] for verdict in verdicts if verdict.startswith(f"slower-than {percent}%: met")]
        assert (got, met) == (code, ["SMB cp"] * 2 if code else []), percent
        assert judge_slower(alike, percent)[0] == 0, percent
    for condition, code in (("slower-than 10%", 3), ("slower-than 19%", 0)):
        got, printed, _ = lab("compare", old.path, new.path, "--fail-if", condition)
        assert (got, printed.count(f"\n{condition}: met: SMB cp")) == (code, 2 if code else 0)
        got, printed, _ = lab("compare", old.path, new.path, "--fail-if", condition, "--json")
        assert (got, json.loads(printed)["fail_if"]["met"]) == (code, code == 3)


def test_a_row_that_cannot_be_judged_is_exit_code_1(tmp_path: Path, lab: Lab, refused: Command) -> None:
    old = write_kernel(tmp_path, OLD, invent(1, {}), 0).path
    lost = write_kernel(tmp_path, NEW, without(invent(2, {}), "smb"), 1).path
    code, printed, _ = lab("compare", old, lost, "--fail-if", "slower-than 10%")
    message = "slower-than 10%: cannot be told: SMB cp write of B has 6 and 0 blocks"
    assert (code, message in printed) == (1, True)
    assert "slower-than 10%" in refused("compare", old, lost, "--fail-if", "slower than 10")


@pytest.mark.usefixtures("empty_figures")
def test_the_page(kernels: list[RunFolder], tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written and opened, and its paths are printed."""
    opened: list[Path] = []
    monkeypatch.setattr(compare, "open_page", opened.append)
    paths = [run.path for run in kernels[:2]]
    code, printed, _ = lab("compare", *paths, "--to", tmp_path / "page", "--open")
    assert code == 0
    for name in ("compare.html", "compare.md", "figures/times-as-fast.svg", "figures/speeds.png"):
        assert (tmp_path / "page" / name).stat().st_size > 500
        assert str(tmp_path / "page" / name) in printed.splitlines()
    assert opened == [tmp_path / "page" / "compare.html"]
    assert "B is slower" in printed
    monkeypatch.chdir(tmp_path)
    printed, err = lab("compare", *paths, "--open", "--json")[1:]
    assert json.loads(printed)
    assert str(Path("comparison", "compare.html")) in err.splitlines()


def test_a_file_is_no_page_folder(kernels: list[RunFolder], tmp_path: Path, lab: Lab) -> None:
    (tmp_path / "file").touch()
    code, _, err = lab("compare", kernels[0].path, kernels[1].path, "--to", tmp_path / "file")
    assert (code, "not a folder" in err) == (2, True)


OTHER_MTU = [replace(trial, mtu=trial.mtu + 1) for trial in SMALL]


@pytest.mark.parametrize("trials", [[], OTHER_MTU, [replace(trial, status="void") for trial in SMALL]])
def test_runs_with_nothing_in_common(tmp_path: Path, refused: Command, trials: list[Trial]) -> None:
    a, b = write_run(tmp_path, SMALL), write_run(tmp_path, trials)
    printed = refused("compare", a.path, b.path)
    assert ("no case has a good trial in both" if trials else "holds no trial") in printed
    assert ("MTU: 1500, 9000 and 1501, 9001" in printed) == (trials == OTHER_MTU)


def test_what_cannot_be_compared_is_bad_input(kernels: list[RunFolder], refused: Command) -> None:
    a, b, c = kernels
    c.update(schema=99)
    a.update(id="0123")
    copy = shutil.copytree(a.path, b.path.parent / "copy")
    for others, why in (
        ([b.path, a.path / ".." / a.path.name], "the same run as"), ([copy], "the same run as"),
        ([c.path], "schema 99 is newer"), ([b.path] * 12, "at most 12"),
    ):  # fmt: skip
        assert why in refused("compare", a.path, *others)


def test_an_unfinished_run(kernels: list[RunFolder], done: Command, refused: Command) -> None:
    a, b, _ = kernels
    b.update(finished_at=None)
    assert "not finished" in refused("compare", a.path, b.path)
    assert "B is slower" in done("compare", a.path, b.path, "--unfinished")


def test_the_published_tables_stand_for_a(done: Command, refused: Command) -> None:
    out = done("compare", "published", "example")
    assert out.startswith("B has 8 of the 146 published figures.")
    assert "every interval is of B alone" in out
    assert "-90.57, right -56.4" in out
    for more in (["--fail-if", "slower-than 10%"], ["example-delay"]):
        assert "not with published" in refused("compare", "published", "example", *more)


def test_ratios_to_published_figures_are_those_of_medians(lab: Lab) -> None:
    content = json.loads(lab("compare", "published", "example", "--json")[1])
    assert (content["a"], content["b"]) == ("published", "example")
    own = [(figure, figure["own"]) for figure in content["figures"] if figure["own"]]
    assert len(own) == 8
    for figure, measured in own:
        assert figure["unit"] == "MB/s"
        for ratio, speed in (("ratio", "median"), ("ratio_low", "low"), ("ratio_high", "high")):
            assert measured[ratio] == pytest.approx(measured[speed] / 1e6 / figure["value"])
    least = min(measured["ratio"] for _, measured in own)
    assert f"B is at least {least:.2f} times as fast as published [" in content["answer"][1]


def test_a_run_without_a_published_case_is_bad_input(tmp_path: Path, refused: Command) -> None:
    run = write_run(tmp_path, [trial(protocol="smb", store="disk")])
    assert "nothing in it is what was published" in refused("compare", "published", run.path)


def test_a_sweep_called_published(tmp_path: Path, done: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for at, name in enumerate(("published", "after")):
        run = write_kernel(tmp_path / "results", OLD, invent(at, {}), at)
        run.path.rename(run.path.with_name(f"2030010{at + 1}T000000Z-{name}"))
    assert "all 12 cases together" in done("compare", "published", "after")
