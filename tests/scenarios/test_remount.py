"""A read finds another mount than the trial before, and a mount without its process is put back like any other."""

import pytest
from support.local_lab import Bench
from support.share_set_up import share_set_up

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.results.run_folder import RunFolder
from lab.run.case.session import Session


def processes(session: Session, name: str) -> list[str]:
    return session.pair.hosts[Role.CLIENT].run("pgrep", "-f", f"^/usr/libexec/{name} ").stdout.split()


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_that_was_used_is_mounted_anew_and_its_session_stays(bench: Bench, protocol: str) -> None:
    before = bench.state()
    with share_set_up(bench, protocol) as (session, first_stand):
        path = first_stand.attached.path
        first, daemon = (processes(session, name) for name in ("gvfsd-fuse", f"gvfsd-{protocol}"))
        session.mount_anew(first_stand)
        assert processes(session, "gvfsd-fuse") == first, "nothing was read through it yet"
        again = session.set_up(Case(protocol, "cp", Direction.READ, 1500, "default", "ram", "file", 1))
        session.mount_anew(again)
        second = processes(session, "gvfsd-fuse")
        assert len(first) == len(second) == 1
        assert second != first
        assert processes(session, f"gvfsd-{protocol}") == daemon
        session.pair.hosts[Role.CLIENT].shell('echo 1 > "$1/new" && cat "$1/new" && rm "$1/new"', path)
    assert bench.state() == before


def test_a_mount_whose_process_was_killed_is_put_back(bench: Bench) -> None:
    before = bench.state()
    with share_set_up(bench, "smb") as (session, _):
        session.pair.hosts[Role.CLIENT].run("pkill", "-KILL", "gvfsd-fuse")
        assert "fuse.gvfsd-fuse" in session.pair.hosts[Role.CLIENT].run("cat", "/proc/self/mounts").stdout
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
