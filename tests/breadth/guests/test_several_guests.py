"""One server under several clients, each with a kernel of its own: each is measured, and all are put back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.guests import left
from support.local_lab import Bench
from support.several_clients import CLIENTS, check_trials


@pytest.fixture(scope="module")
def room(new_bench: Callable[..., Bench], backend: str) -> Bench:
    """Three clients; the third has a slower link."""
    rates = ("--rate", "400mbit", "--rate", "client.3=50mbit")
    return new_bench("--kernel", "own", "--backend", backend, "--clients", "3", *rates)


def test_a_sweep_of_one_and_three_guests_leaves_all_as_before(room: Bench) -> None:
    before = left(room)
    assert tuple(before) == room.host_names
    done = room.run(protocol=["smb", "nfs"], tool=["cp"], clients=[1, 3], mtu=[9000], tcp_space=["128 KiB"])
    assert left(room) == before
    trials = room.trials()
    good = check_trials(trials, 4 * 2**20)
    assert done.returncode == (len(good) < len(trials)), done.stdout + done.stderr
    mounts = {(trial["protocol"], trial["effective"]["mount"]) for trial in good}
    assert mounts == {("smb", "kernel"), ("nfs", "kernel")}
    log = (room.newest() / "commands.log").read_text().splitlines()
    changes = "".join(line for line in log if "ip link set dev eth0 mtu 9000" in line)
    assert all(f" {client} " in changes for client in CLIENTS)


def test_a_further_guest_is_rebooted_on_its_link(room: Bench) -> None:
    boot_id = "cat /proc/sys/kernel/random/boot_id"
    before = {host: room.inside(host, boot_id) for host in room.host_names}
    assert len({*before.values(), Path("/proc/sys/kernel/random/boot_id").read_text()}) == 5
    room.inside("client.3", "echo kept > /root/kept; sync")
    room.check_output("local", "reboot", "--name", room.name, "client.3")
    after = {host: room.inside(host, boot_id) for host in room.host_names}
    assert [host for host in after if after[host] != before[host]] == ["client.3"]
    assert room.inside("client.3", "cat /root/kept; rm /root/kept") == "kept\n"
    assert "1 received" in room.inside("client.3", "ping -c 1 -W 5 10.99.0.3")
