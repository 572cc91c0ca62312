"""Whether the path carries jumbo frames, tried for a moment: the only part of the check that changes anything."""

import shutil
from collections.abc import Callable
from pathlib import Path

from lab.base import durable
from lab.base.errors import LabFailure, RestoreError
from lab.check.finding import Finding, of_error
from lab.check.link import JUMBO_MTU, SEGMENT
from lab.hosts import ROLES, Host
from lab.hosts.hosts_file import Hosts
from lab.hosts.ssh import connected
from lab.results.run_folder import RunFolder
from lab.run.begin.look import check_free
from lab.run.begin.origin import origin
from lab.run.case.network import try_mtu
from lab.run.case.pair import Pair
from lab.run.lifecycle import changing

SUBJECT = "link jumbo"


def try_jumbo(config: Hosts, hosts_file: Path, results: Path, tell: Callable[[str], None]) -> Finding:
    """Raise the MTU of both hosts, send a packet of that size, and put it back, as a run does.

    The folder in ``results`` with its journal stays only where something could not be put back.
    """
    untuned = [f"[{role}] is not to be tuned" for role in ROLES if not config.may_tune(role)]
    if untuned:
        return Finding("note", SUBJECT, f"not tried: {' and '.join(untuned)}", "tune = yes there lets the lab try it")
    try:
        config = config.with_clients(1)
        with connected(config) as hosts:
            check_free(hosts)
            folder = RunFolder.create(results, "check", origin(config, {}))
            with durable.claimed(folder.path):
                finding = _raise_mtu(folder, hosts, config, tell)
            shutil.rmtree(folder.path)
            return finding
    except LabFailure as error:
        return of_error("problem" if isinstance(error, RestoreError) else "warning", SUBJECT, error)


def _raise_mtu(folder: RunFolder, hosts: dict[str, Host], config: Hosts, tell: Callable[[str], None]) -> Finding:
    with changing(folder, hosts, config, tell) as settings:
        try:
            try_mtu(Pair.of(hosts, config), settings, JUMBO_MTU)
        except RestoreError:
            raise
        except LabFailure as error:
            return of_error("note", SUBJECT, error)
    return Finding("ok", SUBJECT, f"packets of {JUMBO_MTU} bytes cross the path in one piece", SEGMENT)
