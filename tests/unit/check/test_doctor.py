"""The check as a whole, on two emulated Macs."""

import pytest
from support.checked_macs import PORTS, Macs, about, checked

from lab.check import storage


def test_two_quiet_macs(macs: Macs, capsys: pytest.CaptureFixture[str]) -> None:
    lines = checked(capsys)
    for subject, told in {
        "client system": "ok       {}: mini: macOS 26.4.1 (25E253), Darwin 25.4.0, 8 cores, 16.0 GiB of memory",
        "client interface": "ok       {}: en0, 10 Gbit/s, full duplex, MTU 1500",
        "server memory": "ok       {}: ram_disk = 256 MiB; 11791 MiB are free",
        "client quiet": "ok       {}: nothing that disturbs in power, backups and indexers, firewall, load, swap",
        "nfs options": "note     {}: client: nfs.nconnect cannot be named: the nfs of a Mac knows no such option",
        "link path": "ok       {}: packets of MTU 1500 cross it in one piece, and back",
    }.items():
        assert about(lines, subject) == [told.format(subject)]
    assert [about(lines, name)[0][:3] for name in ("client address", "client clock", "ssh")] == ["ok "] * 3
    assert about(lines, "nfs")[0] == "ok       nfs: client: kernel nfs; server: served by nfsd"
    assert "server: this macOS has no SMB server of its own" in about(lines, "smb")[0]
    assert [line.partition("  -> ")[0] for line in about(lines, "afp")] == [
        "warning  afp: client: no mount_afp: macOS 27 has removed its AFP client",
        "warning  afp: server: this macOS has no AFP server: 11 and later have none",
    ]
    assert "-> `lab check --jumbo`" in about(lines, "link MTU")[0]
    assert len([call for host in macs.values() for call in host.calls("ping")]) == 1
    subjects = ("link networks", "client extra programs", storage.VOLUME, "server extra programs", "client Spotlight")
    # nothing of the client's is on a disk
    assert [bool(about(lines, subject)) for subject in subjects] == [True, True, True, False, False]
    assert not [line for line in lines if "could not be looked at" in line]


def test_what_disturbs_on_a_mac(macs: Macs, capsys: pytest.CaptureFixture[str]) -> None:
    changes = {
        "power": "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t78%; discharging\n",
        "backup": "1\n",
        "processes": " 61.0 /System/Library/Frameworks/Metadata.framework/Support/mds_stores\n  9.5 mds\n",
        "limit": "\ttype: Wi-Fi\n",
        "ports": PORTS.replace("Wi-Fi", "WLAN"),  # of a Mac that speaks German
    }
    for name, text in changes.items():
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
