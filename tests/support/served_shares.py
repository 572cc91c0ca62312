"""A share that is set up as in the middle of a run."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


PROGRAM = {"nfs": "ganesha.nfsd", "smb": "smbd", "afp": "afpd"}


def during_a_run(bench: Bench, program: str, look: Callable[[list[str]], Any], **factors: Any) -> Any:
    """Run a sweep, which must succeed; returns what ``look`` returns for the PIDs here of the server's program."""
    argv = ["pgrep", "--ns", str(bench.init("server")), "--nslist", "pid", "-x", program]
    with bench.started_run(**factors) as run:
        while not (pids := subprocess.run(argv, stdout=subprocess.PIPE, text=True).stdout.split()):
            assert run.poll() is None, run.communicate()
            time.sleep(0.01)
        result = look(pids)
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    return result
