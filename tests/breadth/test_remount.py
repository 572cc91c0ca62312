"""A read finds another mount than the trial before, and a mount without its process is put back like any other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from support.local_lab import Bench

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role, connected, passwords
from lab.hosts.hosts_file import load_hosts
from lab.results.run_folder import RunFolder
from lab.run.session import Session
from lab.run.standing import Standing
from lab.run.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal

# What stands in the place of gvfsd-fuse, and a count of how often it is to fail
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


@contextmanager
def standing(bench: Bench, protocol: str) -> Iterator[tuple[Session, Standing]]:
    config = load_hosts(bench.hosts)
    password = passwords.resolve(config.share.password, config.share.account, "")
    with connected(config) as hosts:
        session = Session(hosts, config, Settings(hosts, Journal(None, line_format())), password)
        try:
            session.open()
            yield session, session.stand(Case(protocol, "cp", Direction.READ, 1500, "default", "ram", "file", 1))
        finally:
            session.settings.unwind()


def processes(session: Session, name: str) -> list[str]:
    return session.pair.hosts[Role.CLIENT].run("pgrep", "-f", f"^/usr/libexec/{name} ").stdout.split()


@pytest.mark.parametrize("protocol", ["smb", "nfs", "afp"])
def test_a_share_that_was_used_is_mounted_anew_and_its_session_stays(bench: Bench, protocol: str) -> None:
    before = bench.state()
    with standing(bench, protocol) as (session, first_stand):
        path = first_stand.attached.path
        first, daemon = (processes(session, name) for name in ("gvfsd-fuse", f"gvfsd-{protocol}"))
        session.mount_anew(first_stand)
        assert processes(session, "gvfsd-fuse") == first, "nothing was read through it yet"
        again = session.stand(Case(protocol, "cp", Direction.READ, 1500, "default", "ram", "file", 1))
        session.mount_anew(again)
        second = processes(session, "gvfsd-fuse")
        assert len(first) == len(second) == 1
        assert second != first
        assert processes(session, f"gvfsd-{protocol}") == daemon
        session.pair.hosts[Role.CLIENT].shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)
    assert bench.state() == before


def test_a_mount_whose_process_was_killed_is_put_back(bench: Bench) -> None:
    before = bench.state()
    with standing(bench, "smb") as (session, _):
        session.pair.hosts[Role.CLIENT].run("pkill", "-KILL", "gvfsd-fuse")
        assert "fuse.gvfsd-fuse" in session.pair.hosts[Role.CLIENT].run("cat", "/proc/self/mounts").stdout
    assert bench.state() == before


def test_a_mount_whose_backend_has_died_is_stood_up_again_and_says_why(bench: Bench) -> None:
    before, case = bench.state(), Case("afp", "cp", Direction.READ, 1500, "default", "ram", "file", 1)
    with standing(bench, "afp") as (session, first_stand):
        session.mount_anew(first_stand)
        again = session.stand(case)
        session.pair.hosts[Role.CLIENT].run("pkill", "-SEGV", "-f", "^/usr/libexec/gvfsd-afp ")
        assert not session.mount_anew(again)
        (why,) = session.mounting.failed
        assert re.fullmatch(
            "client: gvfsd-fuse does not show afp:.*: the process of GVfs that mounted it has died", why
        )
        path = session.stand(case).attached.path
        session.pair.hosts[Role.CLIENT].shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)
    assert bench.state() == before


def test_a_mount_that_dies_in_the_middle_of_a_transfer_costs_no_trial(bench: Bench) -> None:
    before, daemon = bench.state(), "^/usr/libexec/gvfsd-afp "
    sweep = bench.sweep(protocol=["afp"], tool=["cp"], direction=["read"], size="64 MiB", blocks=2)
    killer = bench.strike_under_way("gvfsd-afp", 8_000_000, "pkill", "-SEGV", "-f", daemon, host="client")
    with bench.started(*killer) as watching, bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        output, _ = run.communicate(timeout=200)
        assert watching.wait() == 0
    assert run.returncode == 0, output
    first, second = (trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp")
    assert (first.status, second.status) == ("ok", "ok")
    tries = first.observed.mount_tries
    assert tries in (2, 3)  # it dies by itself, too
    told = f"the share was mounted at try {tries} only: gone during the transfer: client: cp: exit code 1: "
    assert any(remark.startswith(told) for remark in first.observed.remarks or ())
    assert bench.state() == before


@pytest.fixture
def failing_helper(bench: Bench) -> Iterator[Callable[[int], None]]:
    """Make the program that shows shares of GVfs kill what mounted them, and fail, so many times."""

    def fail(times: int) -> None:
        bench.inside("client", FAILING_HELPER.format(times=times))

    yield fail
    bench.inside("client", "mv /usr/libexec/real/gvfsd-fuse /usr/libexec/; rmdir /usr/libexec/real; rm /var/failures")


def test_a_mount_helper_that_fails_once_costs_no_trial(bench: Bench, failing_helper: Callable[[int], None]) -> None:
    failing_helper(1)
    before = bench.state()
    done = bench.run(protocol=["afp"], tool=["cp"], size="4 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    trials = [trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp"]
    assert [trial.status for trial in trials] == ["ok", "ok"]
    first, second = (trial.observed for trial in trials)
    assert (first.mount_tries, second.mount_tries) == (2, None)
    assert any(remark.startswith("the share was mounted at try 2 only: client: ") for remark in first.remarks or ())
    assert bench.state() == before


def test_a_mount_helper_that_always_fails_is_tried_three_times(
    bench: Bench, failing_helper: Callable[[int], None]
) -> None:
    failing_helper(1000)
    before = bench.state()
    done = bench.run(protocol=["afp"], tool=["cp"], size="4 MiB")
    assert done.returncode == 1, done.stdout + done.stderr
    trials = [trial for trial in RunFolder(bench.newest()).trials() if trial.protocol == "afp"]
    assert [(trial.status, trial.observed.mount_tries) for trial in trials] == [("failed", 3)] * 2
    assert {trial.reason.splitlines()[0].split(" afp:")[0] for trial in trials} == {"client: gvfsd-fuse does not show"}
    assert bench.inside("client", "cat /var/failures").strip() == "994"
    assert bench.state() == before
