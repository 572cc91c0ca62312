"""--open: the report in the browser, once it is written."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import pytest
from support.commands import lab
from support.synthetic_runs import make_trials, write_run

from lab.results.run_folder import RunFolder

pytestmark = pytest.mark.usefixtures("empty_place")
SCREENS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    for name in SCREENS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return write_run(Path("results").resolve(), make_trials(2, combinations=[("smb", "cp")]))


@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize("screen", SCREENS)
def test_the_page_is_opened_after_it_was_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder, command: str, screen: str
) -> None:
    opened: list[str] = []
    page = folder.report_path / "report.html"

    def browse(address: str) -> bool:
        assert page.exists()
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setenv(screen, "x")
    code, out, err = lab(capsys, command, "--open")
    assert (code, err, opened) == (0, "", [page.as_uri()])
    assert out.startswith("Fastest " if command == "show" else str(folder.report_path.relative_to(Path.cwd())))


@pytest.mark.parametrize("has_screen", [False, True])
def test_where_there_is_no_browser_it_is_said_where_the_page_lies(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: RunFolder, has_screen: bool
) -> None:
    if has_screen:
        monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda _: False if has_screen else pytest.fail("it was opened"))
    code, _, err = lab(capsys, "show", "--open")
    page = folder.report_path / "report.html"
    assert (code, err) == (0, f"{page}: there is no browser here: open it in one\n")
    assert page.exists()


def test_without_the_option_no_report_is_written(capsys: pytest.CaptureFixture[str], folder: RunFolder) -> None:
    assert lab(capsys, "show")[0] == 0
    assert not folder.report_path.exists()
