"""One server under several clients: what each got, that they started together, and that all is put back."""

import signal
import subprocess
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.room import wait_for_transfer
from support.together import CLIENTS, check_trials, parts_of


def test_each_host_reaches_the_server_and_has_its_own_rate(room: Bench) -> None:
    for client in CLIENTS:
        assert "1 received" in room.inside(client, "ping -c 1 -W 2 10.99.0.2")
    assert "50Mbit" in room.inside("client.3", "tc qdisc show dev eth0")
    assert "400Mbit" in room.inside("client.2", "tc qdisc show dev eth0")
    assert room.inside("client.2", "hostname") == "client-2\n"
    # a switch passes frames of any length on; hosts decide
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
    for trial in good:
        if "together" in trial["observed"]:
            assert_third_is_slowest(trial)


def assert_third_is_slowest(trial: dict[str, Any]) -> None:
    """That the client whose link has an eighth of the rate is the slowest, and the tail is its own."""
    together, parts = trial["observed"]["together"], parts_of(trial)
    slowest = parts["client.3"]["size_bytes"] / (parts["client.3"]["ended_s"] - parts["client.3"]["started_s"])
    assert together["slowest_bytes_per_s"] == pytest.approx(slowest, rel=0.01)
    assert slowest < 50e6 / 8
    ends = [part["ended_s"] for part in parts.values()]
    assert together["tail_s"] == pytest.approx(parts["client.3"]["ended_s"] - min(ends), abs=1e-5)


@pytest.mark.parametrize("number", [signal.SIGKILL])
def test_all_clients_are_put_back_after_a_run_that_ended_early(room: Bench, number: signal.Signals) -> None:
    before = room.state()
    sweep = room.sweep(protocol=["smb"], tool=["cp"], clients=[3], size="32 MiB", mtu=[9000], tcp_space=["256 KiB"])
    with room.started("run", "--hosts", str(room.hosts), str(sweep)) as run:
        wait_for_transfer(room, "client.3")
        assert "mtu 9000" in room.inside("client.3", "ip link show dev eth0")
        end(run, number)
    if number is signal.SIGKILL:
        room.wait_until_free()
        restored = room.lab("restore", "--hosts", str(room.hosts))
        assert restored.returncode == 0, restored.stdout + restored.stderr
    assert room.state() == before


def test_a_sweep_with_more_clients_than_there_are_says_so(room: Bench) -> None:
    done = room.run(clients=[4])
    assert done.returncode == 2
    assert "the sweep wants 4 clients, and there are 3\ngive [client.4] and so on" in done.stderr


def test_hosts_that_a_lab_does_not_have(room: Bench) -> None:
    done: subprocess.CompletedProcess[str] = room.lab("local", "exec", "--name", room.name, "client.4", "--", "true")
    assert done.returncode == 2
    assert "'client.4' is not a host of the local lab" in done.stderr
