"""The check as a whole, on two emulated Macs."""

import pytest
from support.checked_macs import PORTS, about, checked
from support.fake_host import EmulatedHost

from lab.check import storage


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
    assert len([call for host in macs.values() for call in host.calls("ping")]) == 1
    for subject in ("link networks", "client extra programs", storage.VOLUME):
        assert about(lines, subject) != [], subject
    assert about(lines, "server extra programs") == []
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
        "warning  client power: it runs on Battery Power"
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
