"""The comparison with real hardware: against a Mac that is as assumed, and one that is not."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.checked_macs import machine, says
from support.fake_host import EmulatedHost, FakeHost

from lab.check.finding import Finding
from lab.check.hardware import assumptions_about, findings
from lab.check.machine import Machine
from lab.hosts.host_config import HostConfig
from lab.platforms.linux.platform import Linux
from lab.platforms.macos.platform import MacOS

ASSUMPTIONS = assumptions_about(MacOS)
ASKED = [row for row in ASSUMPTIONS if row.ask and row.holds_for((15, 5))]


def compare(mac: Machine) -> list[Finding]:
    return list(findings(mac, "192.0.2.7", []))


def test_a_mac_that_is_as_assumed(tmp_path: Path) -> None:
    lines = compare(machine(tmp_path))
    counts = Counter(finding.level for finding in lines)
    assert (counts["warning"], counts["ok"]) == (0, len(ASKED))
    assert all(finding.remedy for finding in lines if finding.level == "note")
    assert {finding.subject for finding in lines} == {"client hardware"}


# A command that says something else, which assumption that concerns, and what is shown
DIFFERENT = [
    ("ifconfig", "echo 'en0: flags=8863<UP> mtu 1500'", "whether its link is up", "en0: flags=8863<UP> mtu 1500"),
    ("netstat", says("Name Mtu Network Coll\nen0 1500 <Link#4> 00:00 1 0 2048 1 0 4096 0"), "exactly", "2048 4096:"),
    ("iostat", "echo '  cpu'; echo 'us sy id  1m  5m  15m'", "a row of iostat", "us sy id"),
    ("hdiutil", "exit 1", "property list", "it says nothing"),
    ("ping", "exit 2", "local network", "exit code 2"),
    ("nfsd", "echo 'nfsd service is enabled'", "whether it is enabled", "nfsd service is enabled"),
    ("launchctl", "echo 'Unrecognized subcommand' >&2; exit 64", "old words", "Unrecognized subcommand"),
    ("stat", "echo 1 2; echo 3 4", "on the data volume", "/System/Volumes/Data / 2"),
]


@pytest.fixture(scope="module")
def different(tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    """What is found to differ on a Mac whose commands all say something else."""
    mac = machine(tmp_path_factory.mktemp("different"), {command: text for command, text, *_ in DIFFERENT})
    return [finding for finding in compare(mac) if finding.level == "warning"]


@pytest.mark.parametrize(("assumption", "printed"), [row[2:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT])
def test_what_differs_is_shown_beside_what_is_assumed(different: list[Finding], assumption: str, printed: str) -> None:
    (finding,) = [finding for finding in different if assumption in finding.message]
    assert finding.message.startswith("differs: ")
    assert [text for text in (printed, "assumed is ") if text not in finding.message] == []
    assert "macOS 15.5" in finding.remedy


def test_what_only_root_sees_cannot_be_told_without(tmp_path: Path) -> None:
    told = [finding for finding in compare(machine(tmp_path, no_root=True)) if "without root" in finding.message]
    assert len(told) == len([row for row in ASKED if row.root])


@pytest.mark.parametrize(("system", "without"), [("Mac OS X 10.6.8 (10K549)", "caffeinate"), ("macOS 27.0", "noidle")])
def test_a_mac_is_asked_what_its_version_has(tmp_path: Path, system: str, without: str) -> None:
    mac = machine(tmp_path, system=system)
    compare(mac)
    assert isinstance(mac.host, EmulatedHost)
    assert not [call for call in mac.host.calls() if without in call]


def test_of_linux_nothing_is_asked() -> None:
    host = FakeHost()
    linux = Machine("client", HostConfig(host="h", data_address="192.0.2.1"), host, Linux(host), None)
    assert ([finding.level for finding in compare(linux)], host.sent) == (["ok"], [])


def test_every_row_can_be_asked_and_compared() -> None:
    assert len({row.what for row in ASSUMPTIONS}) == len({row.name for row in ASSUMPTIONS}) == len(ASSUMPTIONS)
    for row in ASSUMPTIONS:
        assert subprocess.run(["sh", "-n", "-c", row.ask], capture_output=True).stderr == b""
        assert not row.ask or re.compile(row.expected).search("") is None
        assert row.source
