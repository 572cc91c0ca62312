"""One server under several clients: what each got, that they started together, and that all is put back."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.together import CLIENTS, check_trials, parts_of

SERVER_RATE = 400e6 / 8  # bytes a second that its link carries


@pytest.fixture(scope="module")
def room(new_bench: Callable[..., Bench]) -> Bench:
    """Three clients, of which the third has a slower link, and one server."""
    return new_bench("--clients", "3", "--rate", "400mbit", "--rate", "client.3=50mbit")


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


def test_a_sweep_of_one_and_three_clients(room: Bench) -> None:
    before = room.state()
    done = room.run(protocol=["smb", "nfs", "ssh"], tool=["cp", "rsync", "bands"], clients=[1, 3], size="16 MiB")
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


def test_a_client_reads_what_it_wrote_itself_or_what_the_next_one_wrote(room: Bench) -> None:
    before = room.state()
    levels = {"own": CLIENTS, "other": (*CLIENTS[1:], CLIENTS[0])}
    done = room.run(protocol=["smb", "nfs"], tool=["cp"], direction=["read"], clients=[3], read_from=[*levels])
    assert room.state() == before
    trials, log = room.trials(), (room.newest() / "commands.log").read_text()
    late = [trial["reason"] for trial in trials if trial["status"] != "ok"]
    assert all(reason.startswith("the clients did not start together") for reason in late), late  # on a busy machine
    assert done.returncode == bool(late), done.stdout + done.stderr
    assert len(trials) == 4 > len(late)
    for trial in trials:
        level = trial["options"]["read_from"]
        assert (trial["effective"]["written_by"], trial["verified"]) == (level, True)
        for number, (reader, part) in enumerate(parts_of(trial).items(), 1):
            assert part["written_by"] == levels[level][number - 1]
            assert part["rx_bytes"] > part["size_bytes"] == 4 * 2**20
            name = rf"{trial['trial_id']}-{number}-\w+\.bin"
            # the client that made it in its memory and copied it to the share, and the one that read it from there
            made = set(re.findall(rf"^\S+ (\S+) .* -- make \S+/{name} ", log, re.MULTILINE))
            read = set(re.findall(rf"^\S+ (\S+) .* together cp .*/{name}$", log, re.MULTILINE))
            assert (made, read) == ({part["written_by"]}, {reader})


def test_ceilings_are_of_one_client_and_of_all(room: Bench) -> None:
    factors = {"protocol": ["ssh"], "tool": ["rsync"], "direction": ["write"], "clients": [1, 3], "size": "1 MiB"}
    room.run(hosts=room.with_ceilings(), **factors)
    lines = map(json.loads, (room.newest() / "trials.jsonl").read_text().splitlines())
    links = [trial for trial in lines if trial["protocol"] == "link"]
    rates: dict[tuple[str, str], list[float]] = {}
    for link in links:
        rates.setdefault((link["direction"], link["options"]["clients"]), []).append(
            link["size_bytes"] / link["elapsed_s"]
        )
    assert set(rates) == set(itertools.product(("write", "read"), "13"))
    assert all(0 < rate < 1.2 * SERVER_RATE for of_link in rates.values() for rate in of_link)  # however many share it


def test_a_client_that_is_lost_fails_the_trial_and_the_others_numbers_are_kept(room: Bench) -> None:
    before = room.state()
    arguments = (
        "run",
        "--hosts",
        str(room.hosts),
        str(room.sweep(protocol=["nfs"], tool=["cp"], clients=[3], size="32 MiB", blocks=2)),
    )
    with room.started(*arguments) as run:
        wait_for_transfer(room, "client.2")
        room.inside("client.2", "pkill -KILL -x cp")
        output, _ = run.communicate(timeout=600)
    assert run.returncode == 1, output
    failed = [trial for trial in room.trials() if trial["status"] == "failed"]
    assert len(failed) == 1
    assert failed[0]["reason"].startswith("client.2: cp: exit code 137")
    parts = parts_of(failed[0])
    assert parts["client.2"]["problem"]
    assert all(parts[name]["ended_s"] > 0 for name in ("client", "client.3"))
    assert room.state() == before


def test_a_mount_of_another_client_that_dies_costs_no_trial(room: Bench) -> None:
    before, daemon = room.state(), "^/usr/libexec/gvfsd-smb "
    sweep = room.sweep(protocol=["smb"], tool=["cp"], direction=["read"], clients=[3], size="32 MiB", blocks=1)
    killer = room.strike_under_way("gvfsd-smb", 8_000_000, "pkill", "-KILL", "-f", daemon, host="client.2")
    with room.started(*killer) as watching, room.started("run", "--hosts", str(room.hosts), str(sweep)) as run:
        output, _ = run.communicate(timeout=600)
        assert watching.wait() == 0
    (trial,) = room.trials()
    late = trial["reason"].startswith("the clients did not start together")  # on a busy machine
    assert trial["status"] == ("void" if late else "ok"), output
    assert trial["observed"]["mount_tries"] == 2
    assert any("gone during the transfer: client.2: cp: " in remark for remark in trial["observed"]["remarks"])
    assert room.state() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
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


def wait_for_transfer(room: Bench, client: str) -> None:
    """Wait until a client copies."""
    deadline = time.monotonic() + 600
    while "cp" not in room.inside(client, "ps -eo comm="):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_sweep_with_more_clients_than_there_are_says_so(room: Bench) -> None:
    done = room.run(clients=[4])
    assert done.returncode == 2
    assert "the sweep wants 4 clients, and there are 3\ngive [client.4] and so on" in done.stderr


def test_a_lab_of_many_clients_is_up_and_one_is_rebooted(new_bench: Callable[..., Bench]) -> None:
    many = new_bench("--clients", "8")
    assert len(many.host_names) == 9
    done = many.lab("local", "reboot", "--name", many.name, "client.8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 received" in many.inside("client.8", "ping -c 1 -W 2 10.99.0.2")
    status = many.lab("local", "status").stdout
    assert f"{many.name}: namespaces of this machine's kernel (the default), 8 clients, rate 1gbit" in status
    checked = many.lab("check", "--hosts", str(many.hosts), "--json")
    assert set(json.loads(checked.stdout)["hosts"]) == set(many.host_names)


def test_hosts_that_a_lab_does_not_have(room: Bench) -> None:
    done: subprocess.CompletedProcess[str] = room.lab("local", "exec", "--name", room.name, "client.4", "--", "true")
    assert done.returncode == 2
    assert "'client.4' is not a host of the local lab" in done.stderr
