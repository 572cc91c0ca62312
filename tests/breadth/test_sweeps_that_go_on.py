"""Sweeps go on without impossible cases, on a busy machine, after failures, and when mounts die."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from support.local_lab import SMALL, Bench, small_disk
from support.served_shares import share_set_up

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.run_folder import RunFolder

# the hosts of this lab share a kernel, so no host can have its NFS server alone
SERVERS: dict[str, Any] = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "nfs.server": ["kernel"]}
WHY = "server: nfs with nfs.server = kernel: others share this host's kernel, which has one NFS server for all"


def test_a_sweep_goes_on_without_impossible_cases_also_when_resumed(bench: Bench) -> None:
    levels = {"nfs.server": ["kernel", "ganesha"], "nfs.client": ["default", "gvfs"]}
    done = bench.run(blocks=2, size="1 MiB", **SERVERS | levels)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"left out (2 cases): {WHY}" in done.stderr
    chosen = [(trial["effective"]["nfs.client"], trial["effective"]["nfs.server"]) for trial in bench.trials()]
    assert len(chosen) == 4
    assert {server for _, server in chosen} == {"ganesha"}
    assert "gvfs" in {client for client, _ in chosen}
    assert len(bench.run_json()["left_out"]) == 2
    bench.check_output("run", "--resume", str(bench.newest()))
    assert len(bench.trials()) == 4


def test_a_sweep_without_any_possible_case_is_refused(bench: Bench) -> None:
    assert bench.refused_run(1, hosts=bench.with_ceilings(), **SERVERS).startswith(WHY)
    assert not (bench.directory / "results").exists()


def test_the_message_names_the_cases_that_were_left_out_if_the_rest_is_no_sweep(bench: Bench) -> None:
    factors = SERVERS | {"nfs.server": ["kernel", "ganesha"], "effects": ["nfs.server"]}
    left_out, why, *_ = bench.refused_run(2, hosts=bench.with_ceilings(), **factors).splitlines()
    assert left_out.startswith(f"left out (1 case): {WHY}")
    assert "nfs.server" in why
    assert not (bench.directory / "results").exists()


@pytest.fixture
def others() -> Iterator[None]:
    """A program on each core that uses it fully."""
    programs = [subprocess.Popen(["perl", "-e", "alarm 600; 1 while 1"]) for _ in range(os.cpu_count() or 1)]
    yield
    for program in programs:
        program.kill()
        program.wait()


@pytest.mark.usefixtures("others")
def test_a_block_on_a_busy_machine_is_measured_again_and_the_run_says_so(bench: Bench) -> None:
    done = bench.run("--repeat-disturbed", size="32 MiB", direction=["write"])
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder(bench.newest())
    (load,) = folder.run["load"]
    assert load["client"] == load["server"] > 0.5
    assert "disturbed: in block 1 others used" in done.stderr
    transfers = [trial for trial in folder.trials() if trial.protocol == "ssh"]
    assert [trial.trial_id for trial in transfers] == ["b001-0001-disturbed", "b001-0001-disturbed-2", "b001-0001"]
    assert [trial.status for trial in transfers] == ["void", "void", "ok"]
    assert transfers[0].reason.startswith("disturbed: others used ")


def test_a_server_that_falls_silent_is_given_up_and_the_sweep_goes_on(new_bench: Callable[..., Bench]) -> None:
    """The server stops answering in the middle of a transfer, and neither ends nor closes a connection."""
    bench = new_bench("--rate", "40mbit")
    before = bench.state()
    factors = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "size": "16 MiB", "blocks": 2}
    freeze = bench.strike_under_way("ganesha", 4_000_000, "pkill", "-STOP", "ganesha")
    code, output = bench.run_struck(freeze, slowest=8_000_000, **factors)
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok")
    assert "did not end within 32" in first["reason"]
    assert code == 1, output
    assert bench.state() == before


@pytest.mark.parametrize(("policy", "count"), [("stop", 1), ("2", 2), ("continue", 3)])
def test_failures_stop_a_sweep_as_it_was_told(bench: Bench, policy: str, count: int) -> None:
    factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"], "blocks": 3}
    with small_disk(bench, "size=1m,mode=1777"):
        done = bench.run("--on-failure", policy, hosts=bench.changed_hosts(share_path=SMALL), **factors)
    assert done.returncode == 1
    assert [trial["status"] for trial in bench.trials()] == ["failed"] * count
    assert (f"stopped after {count} failed trials in a row" in done.stderr) == (policy != "continue")


# replaces gvfsd-fuse; /var/failures counts how often it still fails
FAILING_HELPER = """
mkdir /usr/libexec/real && mv /usr/libexec/gvfsd-fuse /usr/libexec/real/  # whose name becomes the type of its mount
cat > /usr/libexec/gvfsd-fuse <<'END'
#!/bin/sh
left=$(cat /var/failures)
[ "$left" -eq 0 ] && exec /usr/libexec/real/gvfsd-fuse "$@"
echo $((left - 1)) > /var/failures
pkill -KILL -f '^/usr/libexec/gvfsd-afp '
exit 1
END
chmod 755 /usr/libexec/gvfsd-fuse
echo {times} > /var/failures
chmod 666 /var/failures
"""


def test_a_mount_whose_backend_has_died_is_made_again_and_says_why(bench: Bench) -> None:
    case = Case("afp", "cp", Direction.READ, 1500, "default", "ram", "file", 1)
    with share_set_up(bench, "afp") as (session, first_setup):
        client = session.pair.hosts[Role.CLIENT]
        session.mount_anew(first_setup)
        setup = session.set_up(case)
        client.run("pkill", "-SEGV", "-f", "^/usr/libexec/gvfsd-afp ")
        assert not session.mount_anew(setup)
        (why,) = session.mounting.failed
        dead = "the process of GVfs that mounted it has died"
        assert re.fullmatch(f"client: gvfsd-fuse does not show afp:.*: {dead}", why)
        path = session.set_up(case).attached.path
        client.shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)


def failing_helper(bench: Bench, times: int) -> AbstractContextManager[None]:
    """gvfsd-fuse kills the process that mounted the share, and fails, so many times."""
    restore = "mv /usr/libexec/real/gvfsd-fuse /usr/libexec/; rmdir /usr/libexec/real; rm /var/failures"
    return bench.changed("client", FAILING_HELPER.format(times=times), restore)


def test_a_mount_helper_that_fails_once_costs_no_trial(bench: Bench) -> None:
    with failing_helper(bench, 1):
        before = bench.state()
        bench.measure(protocol=["afp"], tool=["cp"], size="4 MiB")
        assert bench.state() == before
    trials = [trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp"]
    assert [trial.status for trial in trials] == ["ok", "ok"]
    first, second = (trial.observed for trial in trials)
    assert (first.mount_tries, second.mount_tries) == (2, None)
    assert any(remark.startswith("the share was mounted at try 2 only: client: ") for remark in first.remarks or ())


def test_a_mount_helper_that_always_fails_is_tried_three_times(bench: Bench) -> None:
    with failing_helper(bench, 1000):
        before = bench.state()
        done = bench.run(protocol=["afp"], tool=["cp"], size="4 MiB")
        assert bench.state() == before
        assert bench.inside("client", "cat /var/failures").strip() == "994"
    assert done.returncode == 1, done.stdout + done.stderr
    trials = [trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp"]
    assert [(trial.status, trial.observed.mount_tries) for trial in trials] == [("failed", 3)] * 2
    assert {trial.reason.splitlines()[0].split(" afp:")[0] for trial in trials} == {"client: gvfsd-fuse does not show"}
