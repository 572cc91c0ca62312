"""Runs that are killed, stopped, cut off or refused: the hosts are restored, and the run can be resumed."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.local_lab import HOSTS, Bench, end, succeeded
from support.other_servers import other_samba

from lab.base.present import present
from lab.local import state

HOST_JOURNAL = "/var/lib/file-share-lab/journal"


def test_a_host_is_restored_by_what_it_has_noted_itself(bench: Bench) -> None:
    before = bench.state()
    bench.kill_run('"b001-0001"', protocol=["smb"], mtu=[9000], tcp_space=["64 KiB"], blocks=5)
    shutil.rmtree(bench.directory / "results")
    bench.wait_until_free()
    assert bench.state() != before
    message = bench.refused_run(1)
    assert "an earlier run left it changed" in message
    assert "lab restore --hosts" in message
    other = str(bench.changed_hosts(lab_instance=None))  # names the same hosts, but nobody knows that
    assert "by what the hosts had noted" in bench.check_output("restore", "--hosts", other)
    assert bench.state() == before
    assert "its folder is gone, and its hosts have noted nothing that is left" in bench.check_output("restore")
    assert "nothing is left" in bench.lab("restore", "--hosts", str(bench.hosts)).stdout


def test_a_second_controller_is_told_that_the_hosts_are_in_use(bench: Bench, tmp_path: Path) -> None:
    with bench.started_run(protocol=["smb"], blocks=50) as run:
        bench.wait_for('"b001-0001"', run)
        other = Bench(bench.name, tmp_path)
        for words in (["run", str(bench.directory / "sweep.toml")], ["restore"]):
            message = other.refusal(1, *words, "--hosts", str(bench.hosts))
            assert "in use by root@" in message
            assert f"(process {run.pid}, since " in message
        assert list(tmp_path.glob("results/*")) == []
        code, _ = end(run, signal.SIGINT)
    assert code == 130
    assert {trial["status"] for trial in bench.trials()} == {"ok"}


def test_a_connection_that_is_cut_fails_its_trial_and_the_sweep_goes_on(bench: Bench) -> None:
    with bench.started_run(protocol=["smb"], tool=["cp"], mtu=[9000], blocks=3, size="32 MiB") as run:
        bench.wait_for("stopwatch.pl eth0", run)
        # the session that the lab's lock names
        bench.inside("client", f"read -r run pid start < {HOST_JOURNAL}/lock; kill -9 $pid")
        output, _ = run.communicate(timeout=200)
    statuses = [trial["status"] for trial in bench.trials()]
    assert len(statuses) == 6
    assert "client: connection lost; trying" in output
    # no trial fails if the connection was lost during a restore
    assert set(statuses) <= {"ok", "failed"}
    assert statuses.count("failed") <= 1, statuses
    assert all("lost" in trial["reason"] for trial in bench.trials() if trial["status"] == "failed")


@pytest.mark.parametrize("transport", ["paramiko"])
def test_a_sweep_over_the_link_it_changes(bench: Bench, transport: str) -> None:
    """The controller is the client, and reaches the server over the interface whose MTU it sets."""
    lab = present(state.load(bench.name))
    known = bench.directory / "known_over_link"
    lines = (state.directory(bench.name) / "known_hosts").read_text().splitlines()
    keys = [line.split(" ", 1)[1] for line in lines]
    known.write_text(f"127.0.0.1 {keys[0]}\n10.99.0.2 {keys[1]}\n")
    here = {"known_hosts": str(known), "proxy_command": "none", "transport": transport}
    changes = {f"{role}_{key}": value for role in HOSTS for key, value in here.items()}
    hosts = bench.changed_hosts(client_host="127.0.0.1", server_host="10.99.0.2", **changes)
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], mtu=[1500, 9000], tcp_space=["64 KiB"])
    enter = ["nsenter", "--target", str(lab.hosts["client"].pid), "--net", "--"]
    command = [*enter, *bench.command("run", "--hosts", str(hosts), str(sweep))]
    environment = os.environ | bench.environment
    succeeded(subprocess.run(command, cwd=bench.directory, env=environment, capture_output=True, text=True))
    assert [trial["status"] for trial in bench.trials()] == ["ok"] * 4
    assert [bench.run_json()["hosts"][role]["transport"] for role in HOSTS] == [transport] * 2


def test_a_server_that_is_only_to_be_looked_at_is_not_changed(bench: Bench) -> None:
    """On a server with a share of its own, the lab makes no RAM disk, and changes no MTU, TCP buffer or server."""
    with other_samba(bench, "media"):
        hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name="media")
        message = bench.refused_run(1, hosts=hosts, protocol=["smb"], mtu=[9000], store=["disk"])
        assert "its MTU is 1500, the sweep wants 9000, and the lab is not to change it" in message
        message = bench.refused_run(2, hosts=hosts, protocol=["smb"], tcp_space=["64 KiB"], store=["disk"])
        assert "[server] tune: the lab is not to change this host" in message
        bench.measure(hosts=hosts, protocol=["smb"], tool=["cp"], store=["disk"])
    log = (bench.newest() / "commands.log").read_text().splitlines()
    on_server = [line for line in log if " server " in line]
    assert on_server
    for word in ("mount -t", "ip link set", "tcp_rmem >", "smbd"):
        assert not any(word in line for line in on_server), word


def test_killed_restored_and_resumed_without_losing_or_repeating_a_trial(bench: Bench) -> None:
    before = bench.state()
    bench.kill_run('"b001-0003"', protocol=["smb"], mtu=[1500, 9000], tcp_space=["64 KiB"], blocks=2)
    assert bench.state() != before
    assert "lab restore" in bench.refusal(2, "run", "--resume", str(bench.newest()))
    bench.check_output("restore")
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore").stdout
    kept = [trial["trial_id"] for trial in bench.trials()]
    bench.check_output("run", "--resume", str(bench.newest()))
    names = [trial["trial_id"] for trial in bench.trials()]
    assert names[: len(kept)] == kept
    assert len(names) == len(set(names)) == 8
    assert all(trial["status"] == "ok" for trial in bench.trials())


@pytest.mark.parametrize(
    ("moment", "number"),
    [("mkdir -m", signal.SIGINT), ("stopwatch.pl eth0", signal.SIGTERM), ("gvfsd-fuse", signal.SIGINT)],
)
def test_stopped_at_any_moment_a_run_restores_everything(bench: Bench, moment: str, number: signal.Signals) -> None:
    before = bench.state()
    factors = {"protocol": ["smb"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 5}
    with bench.started_run(hosts=bench.with_ceilings(), **factors) as run:
        bench.wait_for(moment, run)
        code, output = end(run, number)
    assert code == 128 + number, output
    assert "lab run --resume" in output
    assert "Traceback" not in output
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore").stdout


def test_a_lab_that_went_down_took_its_changes_with_it(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    bench.kill_run('"b001-0001"', mtu=[9000], blocks=50)
    bench.check_output("local", "down", "--name", bench.name)
    assert "went with the local lab" in bench.check_output("restore")
    assert "nothing is left" in bench.lab("restore").stdout


def test_hosts_that_vanish_in_the_middle_end_the_run_with_one_message(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    with bench.started_run(protocol=["smb"], blocks=50) as run:
        bench.wait_for('"b001-0001"', run)
        bench.check_output("local", "down", "--name", bench.name)
        output, _ = run.communicate(timeout=600)
    assert run.returncode == 1, output
    # which it meets first is chance
    assert any(words in output for words in ("was taken down", "is not up", "there is no key"))
    assert "Traceback" not in output
