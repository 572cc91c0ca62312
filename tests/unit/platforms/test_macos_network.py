"""The path between two Macs: proven by ping, which needs space for a jumbo packet."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated_mac import mac, settings_of, state
from support.fake_host import FakeHost

from lab.base.errors import LabFailure
from lab.hosts.command import script
from lab.platforms.macos.network import RAW_SOCKET
from lab.platforms.macos.platform import MacOS
from lab.platforms.network import AWAIT


def test_ping_gets_the_space_that_a_jumbo_packet_needs(tmp_path: Path) -> None:
    host = mac(tmp_path, "26", {"raw.maxdgram": "8192", "raw.recvspace": "8192"})
    network = MacOS(host).network
    assert network.probe_settings(1500) == []
    with pytest.raises(LabFailure, match=r"9000 bytes at once: net\.inet\.raw\.maxdgram and net\.inet\.raw\.recvspace"):
        network.prove_path("192.0.2.2", 9000)
    changes = settings_of(host, tmp_path)
    with changes.scope():
        changes.apply_all(network.probe_settings(9000))
        assert network.probe_settings(9000) == []
    assert state(host)["values"] == "net.inet.raw.recvspace 8192\nnet.inet.raw.maxdgram 8192\n"


def test_a_path_that_does_not_carry_the_packet_is_an_error() -> None:
    host = FakeHost()
    host.on(("sysctl", *RAW_SOCKET), "net.inet.raw.maxdgram: 16384\nnet.inet.raw.recvspace: 16384\n")
    host.on(script(AWAIT, "ping", "-n", "-D", "-s", "56", "-c", "1", "-W", "2000", "192.0.2.2"))
    ping = ("ping", "-n", "-D", "-s", "8972", "-c", "1", "-W", "2000", "192.0.2.2")
    host.on(ping, stderr="ping: sendto: Message too long", exit_code=2, times=3)
    with pytest.raises(LabFailure, match=r"MTU 9000 do not reach 192\.0\.2\.2 in one piece .*Message too long"):
        MacOS(host).network.prove_path("192.0.2.2", 9000)


def test_a_link_that_is_down_for_a_while_is_waited_for(tmp_path: Path) -> None:
    """The third ping is the first that is answered, and only then a long one is sent."""
    ping = 'n=$(cat pings); echo $((n + 1)) > pings; [ "$n" -ge 2 ]'
    sizes = {"raw.maxdgram": "16384", "raw.recvspace": "16384"}
    host = mac(tmp_path, "26", sizes, more={"ping": ping})
    (tmp_path / "pings").write_text("0\n")
    MacOS(host).network.prove_path("192.0.2.2", 9000)
    assert [call.split()[4] for call in host.calls("ping")] == ["56", "56", "56", "8972"]
