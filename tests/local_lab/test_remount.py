"""A read finds another mount than the trial before, and a mount without its process is put back like any other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.local_lab import Bench

from lab.base.errors import CommandError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role, connected, passwords
from lab.hosts.hosts_file import load_hosts
from lab.run.session import Session, Standing
from lab.settings.changes import Settings
from lab.settings.journal import Journal


@contextmanager
def standing(bench: Bench, protocol: str) -> Iterator[tuple[Session, Standing]]:
    config = load_hosts(bench.hosts)
    password = passwords.resolve(config.share.password, config.share.account, "")
    with connected(config) as hosts:
        session = Session(hosts, config, Settings(hosts, Journal(None)), password, "deadbeef")
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


def test_a_mount_whose_backend_has_died_says_so(bench: Bench) -> None:
    before = bench.state()
    with standing(bench, "afp") as (session, first_stand):
        session.mount_anew(first_stand)
        again = session.stand(Case("afp", "cp", Direction.READ, 1500, "default", "ram", "file", 1))
        session.pair.hosts[Role.CLIENT].run("pkill", "-SEGV", "-f", "^/usr/libexec/gvfsd-afp ")
        with pytest.raises(CommandError, match=r"afp:.*: the process of GVfs that mounted it has died"):
            session.mount_anew(again)
    assert bench.state() == before
