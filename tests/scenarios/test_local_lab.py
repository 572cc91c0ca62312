"""The local lab itself: what it is made of, and that nothing of it stays."""

import json
import os
import signal
import subprocess
from collections.abc import Callable

import pytest
from support.local_lab import Bench, gone
from support.waiting import wait_until

from lab.base.present import present
from lab.local import state


def test_each_host_is_a_machine_of_its_own(bench: Bench) -> None:
    look = "hostname; readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/mnt"
    client, server = (bench.inside(host, look).splitlines() for host in state.HOSTS)
    assert (client[0], server[0]) == ("client", "server")
    assert client[-3:] != server[-3:]
    keys = [bench.inside(host, "cat /etc/ssh/ssh_host_ed25519_key") for host in state.HOSTS]
    assert keys[0] != keys[1]


def test_the_link_is_shaped_and_frames_are_what_the_mtu_says(bench: Bench) -> None:
    shape = bench.inside("client", "tc qdisc show dev eth0")
    assert "tbf" in shape
    assert "rate 1Gbit" in shape
    features = bench.inside("server", "ethtool -k eth0")
    for offload in ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload"):
        assert f"{offload}: off" in features
    assert bench.inside("client", "ping -q -c 1 -M do -s 1472 server-data").count("1 received") == 1


def test_each_host_sees_what_carries_a_delayed_link(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "1ms")
    if "netem" in bench.inside("client", "tc qdisc show dev eth0"):
        pytest.skip("the kernel delays the link, and no process")
    look = "awk '$1 == \"usage_usec\" { print $2 }' /run/file-share-lab.link"
    before = [int(bench.inside(host, look)) for host in state.HOSTS]
    bench.inside("client", "ping -q -i 0.002 -c 300 server-data")
    assert all(int(bench.inside(host, look)) > was for host, was in zip(state.HOSTS, before, strict=True))


def test_exec_passes_words_exit_code_and_standard_input_through(bench: Bench) -> None:
    words = ("sh", "-c", 'cat; echo "$1"; exit 7', "x", "a  b")
    command = bench.command("local", "exec", "--name", bench.name, "client", "--", *words)
    done = subprocess.run(command, cwd=bench.directory, input="in\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "in\na  b\n")


def test_two_labs_stand_side_by_side_and_down_takes_one(bench: Bench, new_bench: Callable[..., Bench]) -> None:
    other = new_bench()
    bench.inside("client", "echo mine > /run/mark")
    assert other.inside("client", "cat /run/mark 2>/dev/null || echo none") == "none\n"
    bench.inside("client", "rm /run/mark")
    assert "is up already" in other.refusal(2, "local", "up", "--name", other.name)
    other.check_output("local", "down", "--name", other.name)
    assert not gone(other.name)
    assert not other.hosts.exists()
    assert bench.inside("client", "echo alive") == "alive\n"


@pytest.mark.parametrize("victim", ["supervisor", "both"])
def test_nothing_is_left_after_a_kill(new_bench: Callable[..., Bench], victim: str) -> None:
    bench = new_bench("--delay", "1ms")
    lab = present(state.load(bench.name))
    supervisor, cleaner, client = lab.supervisor.pid, lab.cleaner.pid, lab.hosts["client"].pid
    pids = {"supervisor": [supervisor], "its parent": [cleaner], "client": [client], "both": [cleaner, supervisor]}
    if victim == "both":
        os.kill(supervisor, signal.SIGSTOP)  # otherwise it may begin to clean up before it is killed
    for pid in pids[victim]:
        os.kill(pid, signal.SIGKILL)
    if victim == "both":
        # only files can be left, and the next command for this lab removes them
        wait_until(lambda: not any(process.alive() for process in lab.hosts.values()))
        bench.check_output("local", "down", "--name", bench.name)
    assert not gone(bench.name)
    assert not bench.hosts.exists()


def test_a_lab_that_is_not_up_cannot_reboot(bench: Bench) -> None:
    assert "is not up" in bench.refusal(2, "local", "reboot", "--name", "no-such-lab", "server")


def test_status_and_check_tell_what_is_up(bench: Bench) -> None:
    assert bench.name in bench.lab("local", "status").stdout
    report = json.loads(bench.check_output("check", "--json", "--hosts", str(bench.hosts)))
    assert report["hosts"]["client"]["hostname"] == "client"


def test_an_argument_that_cannot_be_is_explained(bench: Bench) -> None:
    for arguments, words in (
        (("--name", "No Good"), "lower-case"),
        (("--name", "x", "--rate", "fast"), "--rate 'fast'"),
        (("--name", "x", "--delay", "long"), "--delay 'long'"),
    ):
        assert words in bench.refusal(2, "local", "up", *arguments)
