"""The Macs that tests of the check look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.checked_macs import ADDRESSES, quiet_mac
from support.fake_host import EmulatedHost
from support.input_files import HOSTS

from lab.check import doctor
from lab.hosts.host_config import HostConfig


@pytest.fixture
def macs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, EmulatedHost]:
    """Two quiet Macs, and a hosts file that leads to them."""
    made = {}
    for role in ("client", "server"):
        (tmp_path / role).mkdir()
        made[role] = quiet_mac(tmp_path / role, role)

    def connect(role: str, _: HostConfig) -> EmulatedHost:
        return made[role]

    monkeypatch.setattr(doctor, "SshHost", connect)
    monkeypatch.setenv("LAB_PASSWORD", "x")
    monkeypatch.chdir(tmp_path)
    text = HOSTS.replace("192.0.2.1", ADDRESSES["client"]).replace("192.0.2.2", ADDRESSES["server"])
    (tmp_path / "hosts.ini").write_text(
        text.replace("[share]", "ram_disk = 256 MiB\n[share]\nserve = lab\npath = /srv")
    )
    return made
