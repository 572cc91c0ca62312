"""The package of emulated Macs, beside the lab or not there."""

import sys
from pathlib import Path

import pytest

from lab.base.errors import BadInput
from lab.local import platforms


def test_a_checkout_has_them_and_they_are_found_beside_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (platforms.emulated_mac_folder() / "boot.sh").exists()
    assert platforms.parse(["macos@15"], ["client"]) == {"client": "macos@15.5"}
    assert "eject-busy" in platforms.emulated_mac_faults()
    # as after `pip install -e .`, which puts `lab` alone where Python looks
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(platforms.CHECKOUT))])
    monkeypatch.delitem(sys.modules, "emulated_mac", raising=False)
    assert platforms.emulated_mac_folder() == platforms.CHECKOUT / "emulated_mac"


def test_a_lab_installed_from_its_wheel_says_how_to_add_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "find_spec", lambda _: None)
    monkeypatch.setattr(platforms, "CHECKOUT", tmp_path)
    assert platforms.parse(["linux"], ["client"]) == {"client": "linux"}
    with pytest.raises(BadInput, match=r"`pip install \./emulated_mac`"):
        platforms.parse(["macos@15.5"], ["client"])
    assert platforms.emulated_mac_faults() == {}
