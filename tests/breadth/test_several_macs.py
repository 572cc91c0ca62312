"""One server under several emulated Macs of different versions: each is measured, and all are put back."""

import re
from collections.abc import Callable

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench
from support.together import CLIENTS, check_trials, parts_of

PLATFORMS = ("client=macos@15.5", "client.2=macos@10.6", "client.3=macos@27")  # the second knows SMB 1 alone
SET = ("ifconfig en0 mtu 9000", "sysctl -w net.inet.tcp.recvspace=262144")


@pytest.fixture(scope="module")
def macs(new_bench: Callable[..., Bench]) -> Bench:
    """Three, of which the third has a slower link, and a server of Linux."""
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
    done = macs.lab("local", "fault", "--name", macs.name, "client.2", "mtu-refused")
    assert done.returncode == 0, done.stdout + done.stderr
    refused = {client: macs.execute(client, "ifconfig", "en0", "mtu", "1400").stderr for client in CLIENTS[1:]}
    assert refused == {"client.2": "ifconfig: ioctl (set mtu): Invalid argument\n", "client.3": ""}
    for client in CLIENTS[1:]:
        done = macs.lab("local", "reboot", "--name", macs.name, client)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 packets received" in macs.inside(client, "ping -c 1 10.99.0.2; ifconfig en0 | grep 'mtu 1500'")
    status = macs.lab("local", "status").stdout
    of_macs = "client an EMULATED Mac (15.5), client.2 an EMULATED Mac (10.6.8), client.3 an EMULATED Mac (27.0)"
    assert f"{macs.name}: namespaces of this machine's kernel (the default), {of_macs}, 3 clients" in status
