"""How commands speak to the terminal and the browser: the width of lines, and --open."""

import sys
import webbrowser
from pathlib import Path

import pytest
from support.commands import Lab
from support.paths import ROOT
from support.synthetic_runs import trial, write_run
from support.terminal import on_screen

from lab.cli import terminal
from lab.cli.terminal import open_page
from lab.results.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("empty_figures")
SCREENS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def test_columns_are_those_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.columns(sys.stdout) is None
    own = "import sys; from lab.cli.terminal import columns; print(columns(sys.stdout))"
    of_rich = "from lab.cli.terminal import console; print(console().width)"
    for script, width, environment, printed in (
        (own, 73, None, "73"), (own, 73, {"COLUMNS": "61"}, "61"), (own, 73, {"COLUMNS": "no"}, "73"),
        (own, 0, None, "80"), (of_rich, 73, {"TERM": "dumb"}, "73"),
    ):  # fmt: skip
        assert on_screen([sys.executable, "-c", script], width, cwd=ROOT, environment=environment)[0] == printed


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    for name in SCREENS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return write_run(Path("results").resolve(), [trial()])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, folder: RunFolder) -> list[str]:
    """What the browser is asked to open; the page must be there by then."""
    addresses: list[str] = []

    def browse(address: str) -> bool:
        assert (folder.report_path / "report.html").exists()
        addresses.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    return addresses


@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_is_opened_on_any_screen_after_it_was_written(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, folder: RunFolder, opened: list[str], command: str, screen: str
) -> None:
    monkeypatch.setenv(screen, "x")
    code, out, err = lab(command, "--open")
    assert (code, opened) == (0, [(folder.report_path / "report.html").as_uri()])
    assert err.startswith("replaced 2 names") == (command == "report")
    assert command == "report" or err == ""
    assert out.startswith("Fastest " if command == "show" else str(folder.report_path.relative_to(Path.cwd())))


def test_without_a_browser_the_path_of_the_page_is_printed(
    lab: Lab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: pytest.fail("it was opened"))
    page = folder.report_path / "report.html"
    message = f"{page}: there is no browser here: open it in one\n"
    assert lab("show", "--open")[::2] == (0, message)
    assert page.exists()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    open_page(page.relative_to(Path.cwd()))
    assert capsys.readouterr().err == message


def test_without_the_option_no_report_is_written(lab: Lab, folder: RunFolder) -> None:
    assert (lab("show")[0], folder.report_path.exists()) == (0, False)
