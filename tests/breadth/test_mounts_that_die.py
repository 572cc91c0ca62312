"""Mounts whose process dies, or whose program fails, again and again."""

import re
from collections.abc import Callable, Iterator

import pytest
from support.local_lab import Bench
from support.share_set_up import share_set_up

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.run_folder import RunFolder

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


def test_a_mount_whose_backend_has_died_is_stood_up_again_and_says_why(bench: Bench) -> None:
    before, case = bench.state(), Case("afp", "cp", Direction.READ, 1500, "default", "ram", "file", 1)
    with share_set_up(bench, "afp") as (session, first_stand):
        session.mount_anew(first_stand)
        again = session.set_up(case)
        session.pair.hosts[Role.CLIENT].run("pkill", "-SEGV", "-f", "^/usr/libexec/gvfsd-afp ")
        assert not session.mount_anew(again)
        (why,) = session.mounting.failed
        assert re.fullmatch(
            "client: gvfsd-fuse does not show afp:.*: the process of GVfs that mounted it has died", why
        )
        path = session.set_up(case).attached.path
        session.pair.hosts[Role.CLIENT].shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)
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
