"""`lab check` of two emulated Macs where something is in the way."""

from pathlib import Path

import pytest
from support.checked_macs import Macs, about, checked

from lab.base.errors import HostError
from lab.hosts import Result


def test_a_mac_that_prints_what_nobody_knows(macs: Macs, capsys: pytest.CaptureFixture[str]) -> None:
    (macs["client"].folder / "power").write_text("Kein Netzteil \x1b[2J\n")
    (macs["client"].folder / "ports").write_text("")
    lines = checked(capsys)
    assert about(lines, "client power") == [
        "warning  client power: could not be looked at: what a command printed cannot be read: "
        "no power source in what `pmset -g batt` printed: 'Kein Netzteil \\x1b[2J\\n'"
    ]
    assert "could not be looked at" in about(lines, "client interface")[0]
    assert "load, swap" in about(lines, "client quiet")[0]
    assert about(lines, "link path")[0].startswith("ok ")


def test_a_folder_that_macos_protects(macs: Macs, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("hosts.ini")
    file.write_text(file.read_text().replace("[client]\n", "[client]\nmount_base = /tmp\n"))
    listing = macs["client"].folder / "bin" / "ls"
    listing.write_text('#!/bin/sh\necho "ls: $1: Operation not permitted" >&2; exit 1\n')
    listing.chmod(0o755)
    (line,) = about(checked(capsys), "client folder")
    assert line.startswith("warning  client folder: could not be looked at: ")
    assert "Operation not permitted  -> System Settings > General > Sharing > Remote Login (i) > Allow full" in line


def test_a_lost_host(macs: Macs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run = macs["client"]._execute

    def lost(argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        if argv[:2] == ("networksetup", "-listallhardwareports"):
            raise HostError("the connection to mac.example was lost", host="client")
        return run(argv, root, given, deadline_s, stop_mark)

    monkeypatch.setattr(macs["client"], "_execute", lost)
    lines = checked(capsys)
    assert lines[0] == "problem  client: the connection to mac.example was lost"
    assert [bool(about(lines, subject)) for subject in ("client address", "client memory")] == [True, False]
    assert about(lines, "server quiet")[0].startswith("ok ")
    assert "only the server could be looked at" in about(lines, "link")[0]


def test_a_server_without_a_login(macs: Macs, capsys: pytest.CaptureFixture[str]) -> None:
    hosts = Path("hosts.ini")
    text = hosts.read_text().replace("host = nas.example\n", "").replace("serve = lab\npath = /srv", "serve = existing")
    hosts.write_text(text)
    lines = checked(capsys)
    assert [line for line in lines if line[9:].startswith("server ")] == []
    assert "iperf3" not in about(lines, "client programs")[0]
    nobody = "note     ssh: nobody logs in to the server  -> give [server] host in the hosts file"
    assert about(lines, "ssh") == [nobody]
    assert about(lines, "nfs")[0].startswith("ok       nfs: client: kernel nfs")
    hosts.write_text(text.replace("[server]\n", "[server]\niperf3 = 192.0.2.9\n"))
    assert "iperf3" in about(checked(capsys), "client programs")[0]
