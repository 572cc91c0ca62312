"""The package of emulated Macs, beside the lab or not there."""

import sys
from pathlib import Path

import pytest

from lab.base.errors import BadInput
from lab.local import emulated_macs, platforms


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab that is installed from its wheel."""
    monkeypatch.setattr(emulated_macs, "find_spec", lambda _: None)
    monkeypatch.setattr(emulated_macs, "CHECKOUT", tmp_path)


def test_a_checkout_has_them() -> None:
    assert (emulated_macs.folder() / "boot.sh").exists()
    assert platforms.parse(["macos@15"], ["client"]) == {"client": "macos@15.5"}
    assert "eject-busy" in emulated_macs.faults()


@pytest.mark.usefixtures("installed")
def test_an_installed_lab_says_how_to_add_them() -> None:
    assert platforms.parse(["linux"], ["client"]) == {"client": "linux"}
    with pytest.raises(BadInput) as caught:
        platforms.parse(["macos@15.5"], ["client"])
    assert "`pip install ./emulated_mac`" in str(caught.value)
    assert emulated_macs.faults() == {}


def test_they_are_found_beside_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `pip install -e .`, which puts `lab` alone where Python looks."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(emulated_macs.CHECKOUT))])
    monkeypatch.delitem(sys.modules, "emulated_mac", raising=False)
    assert emulated_macs.folder() == emulated_macs.CHECKOUT / "emulated_mac"
