"""Commands in an empty folder, with nothing but what comes with the lab."""

import json
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from support.commands import Command, Lab, write
from support.input_files import HOSTS, SWEEP
from support.synthetic_runs import trial, write_run

import lab as package
from lab.base import shipped
from lab.notebook import jupyter_alone

pytestmark = pytest.mark.usefixtures("empty_figures")


@pytest.mark.parametrize("argv", [["--version"], ["plan", "demo"], ["plan", "macs", "--json"], ["show", "example"]])
def test_nothing_is_left_in_the_folder(lab: Lab, argv: list[str]) -> None:
    code, out, err = lab(*argv)
    assert code == 0
    assert argv != ["--version"] or (out, err) == (f"lab {package.__version__}\n", "")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", sorted(shipped.sweeps()))
def test_every_sweep_that_comes_with_the_lab_is_planned_by_its_name(lab: Lab, name: str) -> None:
    by_name = lab("plan", name)
    assert by_name[0] == 0
    assert by_name == lab("plan", shipped.sweeps()[name])


def test_a_name_is_that_of_a_sweep_of_the_labs_whatever_lies_in_the_folder(lab: Lab) -> None:
    of_the_lab = lab("plan", "demo")
    write("demo", SWEEP)
    assert lab("plan", "demo") == of_the_lab
    for path in ("./demo", Path("demo").resolve()):
        assert lab("plan", path)[1].startswith("2 cases")
    Path("kernel").symlink_to("nowhere")
    assert lab("plan", "kernel")[0] == 0
    assert "kernel: no such file" in lab("plan", "./kernel")[2]


@pytest.mark.parametrize("name", ["demmo", "demo.toml", "sweeps/demo", "./demo", "/demo", "demo/", ".."])
def test_an_unknown_sweep_is_an_error_that_lists_those_that_there_are(refused: Command, name: str) -> None:
    err = refused("plan", name)
    listed = "" if name in ("./demo", "demo/") else "; the sweeps that come with the lab are ashift, blog-2011, clients"
    assert name == ".." or f"{Path(name).name}: no such file{listed}" in err


def test_a_run_takes_the_same_names(refused: Command) -> None:
    write("hosts.ini", HOSTS)
    assert "[share] serve = existing" in refused("run", "demo")  # the sweep has been read, and does not fit
    assert "the sweeps that come with the lab are" in refused("run", "demmo")


def test_an_example_is_shown_with_what_it_is(lab: Lab) -> None:
    code, out, err = lab("show", "example")
    assert (code, out[:13]) == (0, "Fastest write")
    assert err.startswith("example: a run that comes with the lab, made in a local lab on one machine")
    content = lab("show", "example", "--json")[1]
    assert json.loads(content)["path"] == "example"
    code, compared, _ = lab("compare", "example", "example-delay")
    assert (code, "A: example" in compared) == (0, True)
    assert "lab-example-" not in out + content + compared


def test_the_report_of_an_example_is_written_to_the_current_folder(lab: Lab) -> None:
    code, out, err = lab("report", "example")
    assert (code, out.splitlines()[-1]) == (0, "report-example/report.html")
    assert "example: a run that comes with the lab" in err
    assert [path.name for path in Path().iterdir()] == ["report-example"]
    page = Path("report-example/report.html").read_text(encoding="utf-8")
    assert "a run that comes with the lab, made in a local lab" in page
    assert "lab-example-" not in page


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


def test_a_notebook_is_copied_and_opened_on_an_example(lab: Lab, started: list[Any]) -> None:
    assert lab("notebook", "example")[:2] == (0, "explore.ipynb: a copy, to be changed as you like\n")
    assert Path("explore.ipynb").read_bytes() == shipped.notebooks()["explore"].read_bytes()
    assert started == [("explore.ipynb", {"LAB_RUN": "example"})]


def test_a_notebook_is_opened_by_its_path_alone(refused: Command, done: Command, started: list[Any]) -> None:
    Path("mine").mkdir()
    write("mine/explore.ipynb", "my own")
    err = refused("notebook", "example", "--to", "mine")
    assert (started, "\nmine/explore.ipynb: is there already, and is not opened unasked\n" in err) == ([], True)
    assert "`lab notebook mine/explore.ipynb` opens it" in err
    done("notebook", "mine/explore.ipynb", "example", "example-delay")
    assert started == [("mine/explore.ipynb", {"LAB_RUN": "example", "LAB_OTHER_RUN": "example-delay"})]
    assert Path("mine/explore.ipynb").read_text() == "my own"


def test_no_notebook_of_a_run_folder_is_run(refused: Command, started: list[Any]) -> None:
    """Neither by its name, nor by its path, nor by a link to it."""
    run = write_run(Path("handed-over"), [trial()]).path
    shutil.copy(shipped.notebooks()["design"], run / "design.ipynb")
    Path("link.ipynb").symlink_to(run / "design.ipynb")
    Path("folder").symlink_to(run, target_is_directory=True)
    message = f"lies in {run.resolve()}, among results, and those may be somebody else's: it is not run"
    for name in (run / "design.ipynb", "link.ipynb", "folder/design.ipynb"):
        for more in ([], ["--export", "page.html"]):
            assert message in refused("notebook", name, *more)
    os.chdir(run)
    for name in ("design", "explore"):
        assert "holds results, and no notebook is put there" in refused("notebook", name, ".")
    assert (sorted(path.name for path in Path().glob("*.ipynb")), started) == (["design.ipynb"], [])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["mine.ipynb", "--to", "x"], "--to: mine.ipynb is opened where it is"),
        (["design", "example", "--to", "x", "--export", "y.html"], "--to: a page is made without a copy"),
        (["design", "example", "--export", "nowhere/y.html"], "nowhere: no such folder"),
        (["no.ipynb"], "no.ipynb: no such notebook"),
        (["folder.ipynb"], "folder.ipynb: no such notebook"),
        (["compare", "example"], "compare: needs two runs"),
        (["is-it-true", "example"], "is-it-true: shows no run"),
        (["example", "example-delay"], "explore shows one run"),
        (["design", "no-such-run"], "no-such-run: not a run folder"),
    ],
)
def test_a_wrong_notebook_is_refused(refused: Command, started: list[Any], words: list[str], why: str) -> None:
    write("mine.ipynb", "mine")
    Path("folder.ipynb").mkdir()
    assert why in refused("notebook", *words)
    assert (started, sorted(map(str, Path().iterdir()))) == ([], ["folder.ipynb", "mine.ipynb"])


FIRST, NEWEST = ({"LAB_RUN": f"{{results}}/2030010{day}T000000Z-demo"} for day in (1, 2))


@pytest.mark.parametrize(
    ("words", "notebook", "chosen"),
    [
        ([], "explore", NEWEST),
        (["start"], "start", {}),
        (["why-slow"], "why-slow", NEWEST),
        (["design", "-2"], "design", FIRST),
        (["demo", "--no-redact"], "explore", NEWEST | {"LAB_NAMES": "shown"}),
        (["explore", "https://example.org/x.zip"], "explore", {"LAB_RUN": "https://example.org/x.zip"}),
        (["compare"], "compare", {}),
        (["compare", "-2", "example"], "compare", FIRST | {"LAB_OTHER_RUN": "example"}),
        (["is-it-true"], "is-it-true", {}),
    ],
)
def test_a_notebook_is_opened_by_its_name_on_the_runs_that_are_named(
    done: Command, started: list[Any], words: list[str], notebook: str, chosen: dict[str, str]
) -> None:
    for name in ("20300101T000000Z-demo", "20300102T000000Z-demo"):
        write_run(Path("made"), [trial()]).path.rename(Path("made") / name)
    Path("made").rename("results")
    done("notebook", *words)
    expected = {name: value.format(results=Path("results").resolve()) for name, value in chosen.items()}
    assert started == [(f"{notebook}.ipynb", expected)]


def test_without_jupyter_nothing_is_copied(refused: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", Mock(side_effect=metadata.PackageNotFoundError("notebook")))
    install = "`pip install 'file-share-lab[notebook]'`"
    assert refused("notebook", "example") == f"jupyter is not installed\n{install}\n"
    assert list(Path().iterdir()) == []


def test_without_a_run_a_newcomer_is_shown_one(lab: Lab, started: list[Any]) -> None:
    assert "`lab show example` shows one that comes with the lab" in lab("show")[2]
    assert (lab("notebook")[0], started) == (0, [("start.ipynb", {})])
