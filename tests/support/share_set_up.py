"""A share that stands as in the middle of a run."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import passwords
from lab.hosts.hosts_file import load_hosts
from lab.hosts.ssh import connected
from lab.run.case.session import Session
from lab.run.case.sharing import Setup
from lab.run.restore.vocabulary import line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from support.local_lab import Bench


@contextmanager
def share_set_up(bench: Bench, protocol: str) -> Iterator[tuple[Session, Setup]]:
    config = load_hosts(bench.hosts)
    password = passwords.resolve(config.share.password, config.share.account, "")
    with connected(config) as hosts:
        session = Session(hosts, config, Settings(hosts, Journal(None, line_format())), password)
        try:
            session.open()
            yield session, session.set_up(Case(protocol, "cp", Direction.READ, 1500, "default", "ram", "file", 1))
        finally:
            session.settings.unwind()
