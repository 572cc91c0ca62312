"""`lab init` where nobody can be asked, and the template that nobody filled in."""

from pathlib import Path

import pytest
from support.commands import lab
from support.paths import ROOT

pytestmark = pytest.mark.usefixtures("empty_place")


def test_without_a_terminal_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = lab(capsys, "init")
    assert (code, out) == (2, "")
    assert "there is no terminal to ask at" in err
    assert "fill in the lines marked <--" in " ".join(err.split())


@pytest.mark.parametrize("argv", [["check"], ["run", "a.toml"]])
def test_the_untouched_template_asks_for_no_password(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    Path("hosts.ini").write_text((ROOT / "hosts.ini").read_text(encoding="utf-8"))
    Path("a.toml").write_text((ROOT / "sweeps" / "macs.toml").read_text(encoding="utf-8"))
    code, out, err = lab(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("hosts.ini: fill in the lines marked <--: line 10 ([client] host), line 12 ([client] user)")
