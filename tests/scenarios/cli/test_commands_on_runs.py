"""The commands that read a run: show and report."""

import json
from pathlib import Path

import pytest
from support.commands import lab
from support.synthetic_runs import make_trials, trial, write_run

from lab.report.registry import OF_RUN
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.runner import Ending

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "results", make_trials(2, combinations=[("smb", "cp"), ("ssh", "rsync")]))


def test_show_prints_the_answer_of_the_newest_run(capsys: pytest.CaptureFixture[str], folder: RunFolder) -> None:
    """The answer also stands after all tables, and in the JSON."""
    code, answer, err = lab(capsys, "show")
    assert (code, err) == (0, "")
    assert answer.startswith("Fastest ")
    assert 3 <= len(answer.splitlines()) <= 10
    assert f"lab show results/{folder.path.name} --full" in " ".join(answer.split())
    assert lab(capsys, "show", folder.path.relative_to(Path.cwd()))[1] == answer
    code, out, _ = lab(capsys, "show", "--full")
    assert (code, out[-len(answer) :]) == (0, answer)
    assert "SMB cp" in out
    assert "Change of throughput in percent" in " ".join(out.split())
    code, out, _ = lab(capsys, "show", "--json")
    assert (code, json.loads(out)["answer"]) == (0, answer.splitlines())


def test_show_prints_one_table_by_its_name(capsys: pytest.CaptureFixture[str], folder: RunFolder) -> None:
    printed = {name: lab(capsys, "show", "--table", name) for name in OF_RUN}
    assert {code for code, _, _ in printed.values()} == {0}
    assert "write MB/s" in printed["speeds"][1]
    assert "write MB/s" not in printed["effects"][1]
    assert "void" in printed["lost"][1]
    assert printed["remarks"][1] == "nothing: the run has none\n"
    code, _, err = lab(capsys, "show", "--table", "x")
    assert code == 2
    assert "choose from" in err


def test_tables_go_through_a_pager_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder
) -> None:
    pages: list[str] = []
    monkeypatch.setattr("pydoc.pager", pages.append)
    plain = lab(capsys, "show", folder.path, "--full")[1]
    assert not pages
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    answer = lab(capsys, "show", folder.path)[1]
    assert not pages
    after = lab(capsys, "show", folder.path, "--full")[1]
    assert "SMB cp" in pages[0]
    assert after == answer
    assert plain.endswith(answer)


@pytest.fixture
def small(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "results", [trial()])


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_run_without_a_trial_is_no_table(capsys: pytest.CaptureFixture[str], small: RunFolder, command: str) -> None:
    empty = RunFolder.create(small.path.parent, "zzz", {"ended": "failed: server: no iperf3"})
    empty.path.rename(later := small.path.parent / "99990101T000000Z-zzz")
    code, out, err = lab(capsys, command, later)
    assert (code, out) == (2, "")
    assert err.startswith(f"{later}: holds no trial: failed: server: no iperf3\n`lab run --resume {later}`")
    code, out, err = lab(capsys, command)
    newest = f"results/{small.path.name}: the newest run that holds a trial; there is none in {later.name}\n"
    assert (code, err.startswith(newest)) == (0, True)
    assert out == lab(capsys, command, Path("results", small.path.name))[1]


def test_a_run_that_its_time_cap_ended_exits_with_1_and_says_how_to_resume(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small: RunFolder
) -> None:
    for early, expected in {"the time cap of 5 s was reached after 3 of 16 trials": 1, "": 0}.items():
        monkeypatch.setattr(lifecycle, "start", lambda *_, early=early: (small, Ending(early, 0)))
        code, out, err = lab(capsys, "run", "a.toml")
        assert (code, out.splitlines()[-1]) == (expected, str(small.path))
        assert err == (f"not all was measured: {early}; `lab run --resume {small.path}` goes on\n" if early else "")


def test_report_writes_and_names_its_files(capsys: pytest.CaptureFixture[str], small: RunFolder) -> None:
    code, out, err = lab(capsys, "report", small.path)
    assert (code, err.splitlines()) == (0, [
        "replaced 2 names; look for others before you publish:",
        "  synthetic-client (host): host-1", "  synthetic-server (host): host-2",
    ])  # fmt: skip
    paths = [Path(line) for line in out.splitlines()]
    assert {path.name for path in paths} > {"report.html", "post.md", "post-appendix.md"}
    assert all(path.stat().st_size > 0 for path in paths)


def test_a_gist_is_one_file(capsys: pytest.CaptureFixture[str], small: RunFolder, tmp_path: Path) -> None:
    place = tmp_path / "place"
    words = ("report", small.path, "--format", "gist", "--front-matter", "toml", "--to", place)
    assert lab(capsys, *words)[:2] == (0, f"{place}/gist.md\n")
    assert [path.name for path in place.iterdir()] == ["gist.md"]
    assert (place / "gist.md").read_text().startswith("+++\ntitle = ")
    code, out, err = lab(capsys, "report", small.path, "--format", "gist", "--open")
    assert (code, out) == (2, "")
    assert err == "--open: --format gist writes no page\nleave one of the two out\n"


def test_a_run_that_cannot_be_read_names_the_line(capsys: pytest.CaptureFixture[str], folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write("{}\n")
    code, _, err = lab(capsys, "show")
    assert code == 2
    assert "trials.jsonl: line " in err
