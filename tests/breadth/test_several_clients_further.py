"""One server under several clients: what each reads, ceilings, clients and mounts that are lost, and many of them."""

import itertools
import json
import re
from collections.abc import Callable

from support.local_lab import Bench
from support.together import CLIENTS, parts_of

SERVER_RATE = 400e6 / 8  # bytes a second that its link carries
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
    sweep = room.sweep(protocol=["nfs"], tool=["cp"], direction=["write"], clients=[3], size="32 MiB", blocks=2)
    # asked for and ended by one shell: a busy machine may take longer than the transfer to start a second one
    killer = ("local", "exec", "--name", room.name, "client.2", "--", "sh", "-c", KILL_A_COPY)
    with room.started(*killer) as watching, room.started("run", "--hosts", str(room.hosts), str(sweep)) as run:
        output, _ = run.communicate(timeout=600)
        assert watching.wait() == 0
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
