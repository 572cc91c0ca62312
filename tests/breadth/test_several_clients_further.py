"""One server under several clients or emulated Macs: reads, ceilings, lost clients and mounts, and many clients."""

import itertools
import json
import re
from collections.abc import Callable

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench
from support.several_clients import CLIENTS, check_trials, parts_of

SERVER_RATE = 400e6 / 8  # bytes a second, the rate of the server's link
KILL_A_COPY = """
tries=0
until pkill -KILL -x cp; do tries=$((tries + 1)); [ $tries -gt 6000 ] && exit 1; sleep 0.02; done
"""


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
            # the client that made the payload, and the client that read it
            made = set(re.findall(rf"^\S+ (\S+) .* -- make \S+/{name} ", log, re.MULTILINE))
            read = set(re.findall(rf"^\S+ (\S+) .* together cp .*/{name}$", log, re.MULTILINE))
            assert (made, read) == ({part["written_by"]}, {reader})


def test_ceilings_are_of_one_client_and_of_all(room: Bench) -> None:
    factors = {"protocol": ["ssh"], "tool": ["rsync"], "direction": ["write"], "clients": [1, 3], "size": "1 MiB"}
    room.run(hosts=room.with_ceilings(), **factors)
    lines = map(json.loads, (room.newest() / "trials.jsonl").read_text().splitlines())
    links = [trial for trial in lines if trial["protocol"] == "link"]
    measured = {(link["direction"], link["options"]["clients"]) for link in links}
    assert measured == set(itertools.product(("write", "read"), "13"))
    # the server's link has this rate, however many clients share it
    assert all(0 < link["size_bytes"] / link["elapsed_s"] < 1.2 * SERVER_RATE for link in links)


def test_a_client_that_is_lost_fails_the_trial_and_the_others_numbers_are_kept(room: Bench) -> None:
    before = room.state()
    factors = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "clients": [3], "size": "32 MiB"}
    # one shell waits and kills: a busy machine may take longer than the transfer to start a second shell
    kill = ("local", "exec", "--name", room.name, "client.2", "--", "sh", "-c", KILL_A_COPY)
    code, output = room.run_struck(kill, blocks=2, **factors)
    assert code == 1, output
    (failed,) = [trial for trial in room.trials() if trial["status"] == "failed"]
    assert failed["reason"].startswith("client.2: cp: exit code 137")
    parts = parts_of(failed)
    assert parts["client.2"]["problem"]
    assert all(parts[name]["ended_s"] > 0 for name in ("client", "client.3"))
    assert room.state() == before


def test_a_mount_of_another_client_that_dies_costs_no_trial(room: Bench) -> None:
    before, daemon = room.state(), "^/usr/libexec/gvfsd-smb "
    kill = room.strike_under_way("gvfsd-smb", 8_000_000, "pkill", "-KILL", "-f", daemon, host="client.2")
    factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["read"], "clients": [3], "size": "32 MiB"}
    _, output = room.run_struck(kill, **factors)
    (trial,) = room.trials()
    late = trial["reason"].startswith("the clients did not start together")  # on a busy machine
    assert trial["status"] == ("void" if late else "ok"), output
    assert trial["observed"]["mount_tries"] == 2
    assert any("gone during the transfer: client.2: cp: " in remark for remark in trial["observed"]["remarks"])
    assert room.state() == before


def test_a_lab_of_many_clients_is_up_and_one_is_rebooted(new_bench: Callable[..., Bench]) -> None:
    many = new_bench("--clients", "8")
    assert len(many.host_names) == 9
    many.check_output("local", "reboot", "--name", many.name, "client.8")
    assert "1 received" in many.inside("client.8", "ping -c 1 -W 2 10.99.0.2")
    status = many.lab("local", "status").stdout
    assert f"{many.name}: namespaces of this machine's kernel (the default), 8 clients, rate 1gbit" in status
    checked = many.lab("check", "--hosts", str(many.hosts), "--json")
    assert set(json.loads(checked.stdout)["hosts"]) == set(many.host_names)


PLATFORMS = ("client=macos@15.5", "client.2=macos@10.6", "client.3=macos@27")  # the second knows SMB 1 alone
SET = ("ifconfig en0 mtu 9000", "sysctl -w net.inet.tcp.recvspace=262144")


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    """Three emulated Macs, the third with a slower link, and a Linux server."""
    platforms = (word for platform in PLATFORMS for word in ("--platform", platform))
    return new_bench("--clients", "3", *platforms, "--rate", "400mbit", "--rate", "client.3=50mbit")


def test_a_sweep_of_one_and_three_macs_leaves_all_as_before(macs: Bench) -> None:
    observer = Observer(macs.name)
    observer.settle()
    before = observer.state()
    done = macs.run(protocol=["smb", "nfs"], tool=["cp"], clients=[1, 3], mtu=[9000], tcp_space=["256 KiB"])
    observer.settle()
    assert {what.partition(":")[0] for what in before} == {*CLIENTS, "server"}
    assert difference(before, observer.state()) == []
    trials = macs.trials()
    good = check_trials(trials, 4 * 2**20)
    assert done.returncode == (len(good) < len(trials)), done.stdout + done.stderr
    together = [trial for trial in good if "together" in trial["observed"]]
    assert {trial["protocol"] for trial in good} == {"smb", "nfs"}
    for trial in together:
        own = parts_of(trial)["client.3"]
        assert own["size_bytes"] / (own["ended_s"] - own["started_s"]) < 1.1 * 50e6 / 8  # a burst is free
    log = (macs.newest() / "commands.log").read_text()
    for client in CLIENTS:
        assert [words for words in SET if not re.search(rf" {re.escape(client)} \S+ exit=0 # {words}", log)] == []


def test_a_further_mac_has_faults_and_is_rebooted(macs: Bench) -> None:
    macs.check_output("local", "fault", "--name", macs.name, "client.2", "mtu-refused")
    refused = {client: macs.execute(client, "ifconfig", "en0", "mtu", "1400").stderr for client in CLIENTS[1:]}
    assert refused == {"client.2": "ifconfig: ioctl (set mtu): Invalid argument\n", "client.3": ""}
    for client in CLIENTS[1:]:
        macs.check_output("local", "reboot", "--name", macs.name, client)
        assert "1 packets received" in macs.inside(client, "ping -c 1 10.99.0.2; ifconfig en0 | grep 'mtu 1500'")
    status = macs.lab("local", "status").stdout
    platforms = "client an EMULATED Mac (15.5), client.2 an EMULATED Mac (10.6.8), client.3 an EMULATED Mac (27.0)"
    assert f"{macs.name}: namespaces of this machine's kernel (the default), {platforms}, 3 clients" in status
