"""--open: the report in the browser, once it is written."""

import sys
import webbrowser
from pathlib import Path

import pytest
from support.commands import lab
from support.synthetic_runs import trial, write_run

from lab.cli.browser import open_page
from lab.results.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("empty_place", "empty_figures")
SCREENS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


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
def test_the_page_is_opened_after_it_was_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder, opened: list[str],
    command: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("DISPLAY", "x")
    code, out, err = lab(capsys, command, "--open")
    assert (code, opened) == (0, [(folder.report_path / "report.html").as_uri()])
    assert err.startswith("replaced 2 names") == (command == "report")
    assert out.startswith("Fastest " if command == "show" else str(folder.report_path.relative_to(Path.cwd())))


@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_is_opened_on_any_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder, opened: list[str],
    screen: str,
) -> None:  # fmt: skip
    folder.report_path.mkdir()
    (page := folder.report_path / "report.html").touch()
    monkeypatch.setenv(screen, "x")
    open_page(page.relative_to(Path.cwd()))
    assert (capsys.readouterr().err, opened) == ("", [page.as_uri()])


def test_where_there_is_no_browser_it_is_said_where_the_page_lies(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: pytest.fail("it was opened"))
    page = folder.report_path / "report.html"
    said = f"{page}: there is no browser here: open it in one\n"
    code, _, err = lab(capsys, "show", "--open")
    assert (code, err) == (0, said)
    assert page.exists()
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    open_page(page)
    assert capsys.readouterr().err == said


def test_without_the_option_no_report_is_written(capsys: pytest.CaptureFixture[str], folder: RunFolder) -> None:
    assert lab(capsys, "show")[0] == 0
    assert not folder.report_path.exists()
