"""Commands in an empty folder, with nothing but what comes with the lab."""

import json
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from support.commands import lab, write
from support.input_files import HOSTS, SWEEP
from support.synthetic_runs import trial, write_run

import lab as package
from lab.base import shipped
from lab.notebook import jupyter_alone

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")


@pytest.mark.parametrize("argv", [["--version"], ["plan", "demo"], ["plan", "macs", "--json"], ["show", "example"]])
def test_nothing_is_left_in_the_folder(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert lab(capsys, *argv)[0] == 0
    assert list(Path().iterdir()) == []


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab(capsys, "--version") == (0, f"lab {package.__version__}\n", "")


# --- sweeps


@pytest.mark.parametrize("name", sorted(shipped.sweeps()))
def test_every_sweep_that_comes_with_the_lab_is_planned_by_its_name(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    by_name = lab(capsys, "plan", name)
    assert by_name[0] == 0
    assert by_name == lab(capsys, "plan", shipped.sweeps()[name])


def test_a_name_is_that_of_a_sweep_of_the_labs_whatever_lies_in_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    of_the_lab = lab(capsys, "plan", "demo")
    write("demo", SWEEP)
    assert lab(capsys, "plan", "demo") == of_the_lab
    for path in ("./demo", Path("demo").resolve()):
        assert lab(capsys, "plan", path)[1].startswith("2 cases")
    Path("kernel").symlink_to("nowhere")
    assert lab(capsys, "plan", "kernel")[0] == 0
    assert "kernel: no such file" in lab(capsys, "plan", "./kernel")[2]


@pytest.mark.parametrize("name", ["demmo", "demo.toml", "sweeps/demo", "./demo", "/demo", "demo/", ".."])
def test_an_unknown_sweep_is_an_error_that_lists_those_that_there_are(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, out, err = lab(capsys, "plan", name)
    assert (code, out) == (2, "")
    listed = "" if name in ("./demo", "demo/") else "; the sweeps that come with the lab are ashift, blog-2011, clients"
    assert name == ".." or f"{Path(name).name}: no such file{listed}" in err


def test_a_run_takes_the_same_names(capsys: pytest.CaptureFixture[str]) -> None:
    write("hosts.ini", HOSTS)
    code, _, err = lab(capsys, "run", "demo")
    assert code == 2
    assert "[share] serve = existing" in err  # the sweep has been read, and does not fit
    assert "the sweeps that come with the lab are" in lab(capsys, "run", "demmo")[2]


# --- example runs


def test_an_example_is_shown_with_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lab(capsys, "show", "example")
    assert code == 0
    assert out.startswith("Fastest write")
    assert "lab-example-" not in out
    assert err.startswith("example: a run that comes with the lab, made in a local lab on one machine")
    shown = json.loads(lab(capsys, "show", "example", "--json")[1])
    assert shown["path"] == "example"
    assert "lab-example-" not in json.dumps(shown)


def test_examples_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = lab(capsys, "compare", "example", "example-delay")
    assert code == 0
    assert "A: example" in out
    assert "lab-example-" not in out


def test_the_report_of_an_example_is_written_to_the_current_folder(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lab(capsys, "report", "example")
    assert code == 0
    assert out.splitlines()[-1] == "report-example/report.html"
    assert "example: a run that comes with the lab" in err
    assert [path.name for path in Path().iterdir()] == ["report-example"]
    page = Path("report-example/report.html").read_text(encoding="utf-8")
    assert "a run that comes with the lab, made in a local lab" in page
    assert "lab-example-" not in page


def test_without_a_run_an_example_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert "`lab show example` shows one that comes with the lab" in lab(capsys, "show")[2]


# --- notebooks


CHOOSING = ("LAB_NAMES", "LAB_OTHER_RUN", "LAB_RUN")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What jupyter was started with: its command, and the runs that it is to show."""
    calls: list[Any] = []

    def execve(program: str, command: list[str], environment: dict[str, str]) -> None:
        assert program == sys.executable
        assert command[1:3] == ["-P", jupyter_alone.__file__]
        assert (environment["PYTHONSAFEPATH"], environment["LAB_FOLDER"]) == ("1", str(Path.cwd()))
        calls.append((command[3], {name: environment[name] for name in sorted(environment) if name in CHOOSING}))
        raise SystemExit(0)

    for name in CHOOSING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "execve", execve)
    monkeypatch.setattr(metadata, "version", lambda name: {"notebook": "7.4"}[name])
    return calls


def test_a_notebook_is_copied_and_opened_on_an_example(capsys: pytest.CaptureFixture[str], started: list[Any]) -> None:
    code, out, _ = lab(capsys, "notebook", "example")
    assert (code, out) == (0, "explore.ipynb: a copy, to be changed as you like\n")
    assert Path("explore.ipynb").read_bytes() == shipped.notebooks()["explore"].read_bytes()
    assert started == [("explore.ipynb", {"LAB_RUN": "example"})]


def test_a_notebook_that_is_there_is_opened_by_its_path_alone(
    capsys: pytest.CaptureFixture[str], started: list[Any]
) -> None:
    Path("mine").mkdir()
    write("mine/explore.ipynb", "my own")
    code, out, err = lab(capsys, "notebook", "example", "--to", "mine")
    assert (code, out, started) == (2, "", [])
    assert "\nmine/explore.ipynb: is there already, and is not opened unasked\n" in err
    assert "`lab notebook mine/explore.ipynb` opens it" in err
    assert lab(capsys, "notebook", "mine/explore.ipynb", "example", "example-delay")[0] == 0
    assert started == [("mine/explore.ipynb", {"LAB_RUN": "example", "LAB_OTHER_RUN": "example-delay"})]
    assert Path("mine/explore.ipynb").read_text() == "my own"


def test_no_notebook_of_a_run_folder_is_run(capsys: pytest.CaptureFixture[str], started: list[Any]) -> None:
    """Neither by its name, nor by its path, nor by a link to it."""
    run = write_run(Path("handed-over"), [trial()]).path
    shutil.copy(shipped.notebooks()["design"], run / "design.ipynb")
    Path("link.ipynb").symlink_to(run / "design.ipynb")
    Path("folder").symlink_to(run, target_is_directory=True)
    for words in ([run / "design.ipynb"], ["link.ipynb"], ["folder/design.ipynb"]):
        for more in ([], ["--export", "page.html"]):
            code, out, err = lab(capsys, "notebook", *words, *more)
            assert (code, out, started) == (2, "", [])
            assert f"lies in {run.resolve()}, among results, and those may be somebody else's: it is not run" in err
    os.chdir(run)
    for words in (["design", "."], ["explore", "."]):
        assert "holds results, and no notebook is put there" in lab(capsys, "notebook", *words)[2]
    assert sorted(path.name for path in Path().glob("*.ipynb")) == ["design.ipynb"]
    assert not started


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["mine.ipynb", "--to", "x"], "--to: mine.ipynb is opened where it is"),
        (["design", "example", "--to", "x", "--export", "y.html"], "--to: a page is made without a copy"),
        (["no.ipynb"], "no.ipynb: no such notebook"),
        (["folder.ipynb"], "folder.ipynb: no such notebook"),
    ],
)
def test_a_notebook_that_cannot_be_opened_is_refused(
    capsys: pytest.CaptureFixture[str], started: list[Any], words: list[str], why: str
) -> None:
    write("mine.ipynb", "mine")
    Path("folder.ipynb").mkdir()
    code, out, err = lab(capsys, "notebook", *words)
    assert (code, out, started) == (2, "", [])
    assert why in err
    assert not Path("x").exists()


NEWEST = {"LAB_RUN": "{results}/20300102T000000Z-demo"}


@pytest.mark.parametrize(
    ("words", "notebook", "chosen"),
    [
        ([], "explore", NEWEST),
        (["start"], "start", {}),
        (["why-slow"], "why-slow", NEWEST),
        (["design", "-2"], "design", {"LAB_RUN": "{results}/20300101T000000Z-demo"}),
        (["demo", "--no-redact"], "explore", NEWEST | {"LAB_NAMES": "shown"}),
        (["explore", "https://example.org/x.zip"], "explore", {"LAB_RUN": "https://example.org/x.zip"}),
        (["compare"], "compare", {}),
        (["compare", "-2", "example"], "compare",
         {"LAB_OTHER_RUN": "example", "LAB_RUN": "{results}/20300101T000000Z-demo"}),
        (["is-it-true"], "is-it-true", {}),
    ],
)  # fmt: skip
def test_a_notebook_is_opened_by_its_name_on_the_runs_that_are_named(
    capsys: pytest.CaptureFixture[str], started: list[Any], words: list[str], notebook: str, chosen: dict[str, str]
) -> None:
    for name in ("20300101T000000Z-demo", "20300102T000000Z-demo"):
        write_run(Path("made"), [trial()]).path.rename(Path("made") / name)
    Path("made").rename("results")
    code, _, err = lab(capsys, "notebook", *words)
    assert code == 0, err
    results = Path("results").resolve()
    expected = {name: value.format(results=results) for name, value in chosen.items()}
    assert started == [(f"{notebook}.ipynb", expected)]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["compare", "example"], "compare: needs two runs"),
        (["is-it-true", "example"], "is-it-true: shows no run"),
        (["example", "example-delay"], "explore shows one run"),
        (["design", "no-such-run"], "no-such-run: not a run folder"),
    ],
)
def test_a_notebook_of_more_or_fewer_runs_than_it_shows_is_refused(
    capsys: pytest.CaptureFixture[str], started: list[Any], words: list[str], why: str
) -> None:
    code, out, err = lab(capsys, "notebook", *words)
    assert (code, out, started) == (2, "", [])
    assert why in err
    assert list(Path().iterdir()) == []


def test_without_jupyter_nothing_is_copied(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    code, out, err = lab(capsys, "notebook", "example")
    assert (code, out) == (2, "")
    assert err == "jupyter is not installed\n`pip install 'file-share-lab[notebook]'`\n"
    assert list(Path().iterdir()) == []


def test_without_a_run_a_newcomer_is_shown_one(capsys: pytest.CaptureFixture[str], started: list[Any]) -> None:
    assert lab(capsys, "notebook")[0] == 0
    assert started == [("start.ipynb", {})]
