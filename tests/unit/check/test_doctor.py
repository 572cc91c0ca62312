"""The check as a whole, on two emulated Macs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.checked_macs import PORTS, about, checked
from support.fake_host import EmulatedHost

from lab.base.errors import HostError
from lab.hosts import Result


def test_two_quiet_macs(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    lines = checked(capsys)
    assert about(lines, "client system") == [
        "ok       client system: mini: macOS 26.4.1 (25E253), Darwin 25.4.0, 8 cores, 16.0 GiB of memory"
    ]
    assert about(lines, "client address")[0].startswith("ok ")
    assert about(lines, "client interface") == ["ok       client interface: en0, 10 Gbit/s, full duplex, MTU 1500"]
    assert about(lines, "server memory") == ["ok       server memory: ram_disk = 256 MiB; 11791 MiB are free"]
    assert about(lines, "client clock")[0].startswith("ok ")
    quiet = "ok       client quiet: nothing that disturbs in power, backups and indexers, firewall, load, swap"
    assert about(lines, "client quiet") == [quiet]
    assert about(lines, "nfs")[0] == "ok       nfs: client: kernel nfs; server: served by nfsd"
    assert about(lines, "nfs options") == [
        "note     nfs options: client: nfs.nconnect cannot be named: the nfs of a Mac knows no such option"
    ]
    assert "server: this macOS has no SMB server of its own" in about(lines, "smb")[0]
    assert [line.partition("  -> ")[0] for line in about(lines, "afp")] == [
        "warning  afp: client: no mount_afp: macOS 27 has removed its AFP client",
        "warning  afp: server: this macOS has no AFP server: 11 and later have none",
    ]
    assert about(lines, "ssh")[0].startswith("ok ")
    assert about(lines, "link path") == ["ok       link path: packets of MTU 1500 cross it in one piece, and back"]
    assert "-> `lab check --jumbo`" in about(lines, "link MTU")[0]
    assert about(lines, "client Spotlight") == []  # nothing of the client's is on a disk
    assert not [line for line in lines if "could not be looked at" in line]


def test_what_disturbs_on_a_mac(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    noise = {
        "power": "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t78%; discharging\n",
        "backup": "1\n",
        "processes": " 61.0 /System/Library/Frameworks/Metadata.framework/Support/mds_stores\n  9.5 mds\n",
        "limit": "\ttype: Wi-Fi\n",
        "ports": PORTS.replace("Wi-Fi", "WLAN"),  # of a Mac that speaks German
    }
    for name, text in noise.items():
        (macs["client"].folder / name).write_text(text)
    values = macs["client"].folder / "values"
    values.write_text(values.read_text().replace("{ 1.20", "{ 7,90").replace("used = 0.00M", "used = 407.50M"))
    lines = checked(capsys)
    assert [line.partition("  -> ")[0] for line in about(lines, "client power")] == [
        "warning  client power: it runs on Battery Power",
    ]
    assert [line.partition("  -> ")[0] for line in about(lines, "client backups and indexers")] == [
        "warning  client backups and indexers: Time Machine is backing up",
        "warning  client backups and indexers: Spotlight is at work (70 % of a core)",
    ]
    assert "the load average is 7.9 on 8 cores" in about(lines, "client load")[0]
    assert about(lines, "client swap")[0].startswith("note     client swap: 408 MiB")
    assert "wireless" in about(lines, "client interface")[0]
    assert about(lines, "client quiet") == ["ok       client quiet: nothing that disturbs in firewall"]
    assert about(lines, "server quiet")[0].startswith("ok ")


def test_a_mac_that_prints_what_nobody_knows(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_folder_that_macos_keeps_from_us_is_found_with_the_switch(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("hosts.ini")
    file.write_text(file.read_text().replace("[client]\n", "[client]\nmount_base = /tmp\n"))
    refused = '#!/bin/sh\necho "ls: $1: Operation not permitted" >&2; exit 1\n'
    (macs["client"].folder / "bin" / "ls").write_text(refused)
    (macs["client"].folder / "bin" / "ls").chmod(0o755)
    (line,) = about(checked(capsys), "client folder")
    assert line.startswith("warning  client folder: could not be looked at: ")
    assert "Operation not permitted  -> System Settings > General > Sharing > Remote Login (i) > Allow full" in line


def test_a_host_that_goes_away_in_between(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = macs["client"]._execute

    def lost(argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        if argv[:2] == ("networksetup", "-listallhardwareports"):
            raise HostError("the connection to mac.example was lost", host="client")
        return run(argv, root, given, deadline_s, stop_mark)

    monkeypatch.setattr(macs["client"], "_execute", lost)
    lines = checked(capsys)
    assert lines[0] == "problem  client: the connection to mac.example was lost"
    assert about(lines, "client address") != []
    assert about(lines, "client memory") == []
    assert about(lines, "server quiet")[0].startswith("ok ")
    assert "only the server could be looked at" in about(lines, "link")[0]


def test_a_server_that_nobody_logs_in_to_is_seen_from_the_client(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = Path("hosts.ini")
    text = hosts.read_text().replace("host = nas.example\n", "").replace("serve = lab\npath = /srv", "serve = existing")
    hosts.write_text(text)
    lines = checked(capsys)
    assert [line for line in lines if line[9:].startswith("server ")] == []
    assert "iperf3" not in about(lines, "client programs")[0]
    assert about(lines, "ssh") == ["warning  ssh: server: nobody logs in there  -> give [server] host"]
    assert about(lines, "nfs")[0].startswith("ok       nfs: client: kernel nfs")
    hosts.write_text(text.replace("[server]\n", "[server]\niperf3 = 192.0.2.9\n"))
    assert "iperf3" in about(checked(capsys), "client programs")[0]
