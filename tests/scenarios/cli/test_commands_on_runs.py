"""The commands that read a run: show and report."""

import json
from pathlib import Path

import pytest
from support.commands import Command, Lab
from support.synthetic_runs import make_trials, trial, write_run

from lab.report.registry import OF_RUN
from lab.results.run_folder import RunFolder
from lab.run import lifecycle
from lab.run.runner import Ending

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "results", make_trials(2, combinations=[("smb", "cp"), ("ssh", "rsync")]))


def test_show_prints_the_answer_of_the_newest_run(lab: Lab, folder: RunFolder) -> None:
    """The answer also stands after all tables, and in the JSON."""
    code, answer, err = lab("show")
    assert (code, answer[:8], err) == (0, "Fastest ", "")
    assert 3 <= len(answer.splitlines()) <= 10
    assert f"lab show results/{folder.path.name} --full" in " ".join(answer.split())
    assert lab("show", folder.path.relative_to(Path.cwd()))[1] == answer
    code, out, _ = lab("show", "--full")
    assert (code, out[-len(answer) :]) == (0, answer)
    assert "SMB cp" in out
    assert "Change of throughput in percent" in " ".join(out.split())
    code, out, _ = lab("show", "--json")
    assert (code, json.loads(out)["answer"]) == (0, answer.splitlines())


def test_show_prints_one_table_by_its_name(done: Command, refused: Command, folder: RunFolder) -> None:
    printed = {name: done("show", "--table", name) for name in OF_RUN}
    assert ["write MB/s" in printed[name] for name in ("speeds", "effects")] == [True, False]
    assert "void" in printed["lost"]
    assert printed["remarks"] == "nothing: the run has none\n"
    assert "choose from" in refused("show", "--table", "x")


def test_tables_are_paged_on_a_terminal_only(done: Command, monkeypatch: pytest.MonkeyPatch, folder: RunFolder) -> None:
    pages: list[str] = []
    monkeypatch.setattr("pydoc.pager", pages.append)
    plain = done("show", folder.path, "--full")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    answer = done("show", folder.path)
    assert not pages
    assert done("show", folder.path, "--full") == answer
    assert "SMB cp" in pages[0]
    assert plain.endswith(answer)


@pytest.fixture
def small(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path / "results", [trial()])


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_run_without_a_trial_is_no_table(lab: Lab, refused: Command, small: RunFolder, command: str) -> None:
    empty = RunFolder.create(small.path.parent, "zzz", {"ended": "failed: server: no iperf3"})
    empty.path.rename(later := small.path.parent / "99990101T000000Z-zzz")
    message = f"{later}: holds no trial: failed: server: no iperf3\n`lab run --resume {later}`"
    assert refused(command, later).startswith(message)
    code, out, err = lab(command)
    newest = f"results/{small.path.name}: the newest run that holds a trial; there is none in {later.name}\n"
    assert (code, err.startswith(newest)) == (0, True)
    assert out == lab(command, Path("results", small.path.name))[1]


def test_a_run_that_its_time_cap_ended_is_exit_1(lab: Lab, monkeypatch: pytest.MonkeyPatch, small: RunFolder) -> None:
    for early, expected in {"the time cap of 5 s was reached after 3 of 16 trials": 1, "": 0}.items():
        monkeypatch.setattr(lifecycle, "start", lambda *_, early=early: (small, Ending(early, 0)))
        code, out, err = lab("run", "a.toml")
        assert (code, out.splitlines()[-1]) == (expected, str(small.path))
        assert err == (f"not all was measured: {early}; `lab run --resume {small.path}` goes on\n" if early else "")


def test_report_writes_and_names_its_files(lab: Lab, small: RunFolder) -> None:
    code, out, err = lab("report", small.path)
    assert (code, err.splitlines()) == (0, [
        "replaced 2 names; look for others before you publish:",
        "  synthetic-client (host): host-1", "  synthetic-server (host): host-2",
    ])  # fmt: skip
    paths = [Path(line) for line in out.splitlines()]
    assert {path.name for path in paths} > {"report.html", "post.md", "post-appendix.md"}
    assert all(path.stat().st_size > 0 for path in paths)


def test_a_gist_is_one_file(done: Command, refused: Command, small: RunFolder, tmp_path: Path) -> None:
    place, words = tmp_path / "place", ("report", small.path, "--format", "gist")
    assert done(*words, "--front-matter", "toml", "--to", place) == f"{place}/gist.md\n"
    assert {path.name: path.read_text()[:12] for path in place.iterdir()} == {"gist.md": "+++\ntitle = "}
    assert refused(*words, "--open") == "--open: --format gist writes no page\nleave one of the two out\n"
