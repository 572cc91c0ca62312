"""One server under several clients: what each got, that they started together, and that all is put back."""

import signal
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.several_clients import CLIENTS, check_trials, parts_of
from support.waiting import wait_until


def test_each_host_reaches_the_server_and_has_its_own_rate(room: Bench) -> None:
    for client in CLIENTS:
        assert "1 received" in room.inside(client, "ping -c 1 -W 2 10.99.0.2")
    assert "50Mbit" in room.inside("client.3", "tc qdisc show dev eth0")
    assert "400Mbit" in room.inside("client.2", "tc qdisc show dev eth0")
    assert room.inside("client.2", "hostname") == "client-2\n"
    # a switch passes frames of any length
    for host in room.host_names:
        room.inside(host, "ip link set dev eth0 mtu 9000")
    assert "1 received" in room.inside("client.3", "ping -c 1 -W 2 -s 8972 -M do 10.99.0.2")
    for host in room.host_names:
        room.inside(host, "ip link set dev eth0 mtu 1500")


@pytest.mark.parametrize(("protocols", "tools"), [(["smb", "ssh"], ["cp", "rsync"])])
def test_a_sweep_of_one_and_three_clients(room: Bench, protocols: list[str], tools: list[str]) -> None:
    before = room.state()
    done = room.run(protocol=protocols, tool=tools, clients=[1, 3], size="16 MiB")
    assert room.state() == before
    good = check_trials(room.trials(), 16 * 2**20)
    assert done.returncode == (len(good) < len(room.trials())), done.stdout + done.stderr
    for trial in (trial for trial in good if "together" in trial["observed"]):
        together, parts = trial["observed"]["together"], parts_of(trial)
        slow = parts["client.3"]  # its link has an eighth of the rate
        slowest = slow["size_bytes"] / (slow["ended_s"] - slow["started_s"])
        assert together["slowest_bytes_per_s"] == pytest.approx(slowest, rel=0.01)
        assert slowest < 50e6 / 8
        first_end = min(part["ended_s"] for part in parts.values())
        assert together["tail_s"] == pytest.approx(slow["ended_s"] - first_end, abs=1e-5)


@pytest.mark.parametrize("number", [signal.SIGKILL])
def test_all_clients_are_restored_after_a_run_that_ended_early(room: Bench, number: signal.Signals) -> None:
    before = room.state()
    factors: dict[str, Any] = {"protocol": ["smb"], "tool": ["cp"], "clients": [3], "mtu": [9000]}
    with room.started_run(size="32 MiB", tcp_space=["256 KiB"], **factors) as run:
        wait_until(lambda: "cp" in room.inside("client.3", "ps -eo comm="), "the transfer", 600)
        assert "mtu 9000" in room.inside("client.3", "ip link show dev eth0")
        end(run, number)
    if number is signal.SIGKILL:
        room.wait_until_free()
        room.check_output("restore", "--hosts", str(room.hosts))
    assert room.state() == before


def test_a_sweep_with_more_clients_than_there_are_says_so(room: Bench) -> None:
    message = "the sweep wants 4 clients, and there are 3\ngive [client.4] and so on"
    assert message in room.refused_run(2, clients=[4])


def test_hosts_that_a_lab_does_not_have(room: Bench) -> None:
    words = ("local", "exec", "--name", room.name, "client.4", "--", "true")
    assert "'client.4' is not a host of the local lab" in room.refusal(2, *words)
