"""Refusals before a host is reached: `lab plan --hosts` says the same as `lab run`."""

import os
from collections.abc import Sequence
from pathlib import Path

from lab import protocols
from lab.base.errors import BadInput, Unsupported
from lab.design.case import Case
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES, passwords, ssh
from lab.hosts.hosts_file import Hosts
from lab.run.begin.capability import check_server
from lab.settings import register


def check(config: Hosts, sweep: Sweep, cases: Sequence[Case], results: Path) -> None:
    """Raise BadInput for what the two files, and this machine, show to be impossible. Asks nobody for a password.

    ``cases`` are those of the sweep's grid. ``results`` is where a run folder is to be made.
    """
    _check_untuned(config, sweep)
    for case in cases if not sweep.is_local else ():
        try:
            check_server(case, protocols.find(case.protocol), config.share.serve)
        except Unsupported as error:
            raise BadInput(error.message, error.remedy) from error
    for name in config.names:
        ssh.check(name, config.section(name))
    if needs_password(config, sweep):
        passwords.check(config.share.password, config.share.account, f"{config.place}[share] password")
    register.check_place()
    _check_results(results)


def needs_password(config: Hosts, sweep: Sweep) -> bool:
    """Whether a mount of this sweep takes the share's password."""
    names = sweep.factors.names("protocol") if not sweep.is_local else ()
    return config.share.mounted is None and any(protocols.find(name).takes_password for name in names)


def _check_untuned(config: Hosts, sweep: Sweep) -> None:
    """A host that is not changed has one MTU, and a sweep of several wants another one of it, whichever that is."""
    mtus = sweep.factors.of("mtu")
    for role in ROLES:
        if not config.may_tune(role) and len(mtus) > 1:
            raise BadInput(
                f"{config.place}[{role}] tune: the lab is not to change this host, but the sweep wants "
                f"{len(mtus)} MTUs of it",
                "give mtu one level in the sweep, that which the host has, or tune = yes",
            )


def _check_results(results: Path) -> None:
    """Raise BadInput where no run folder can be made."""
    folder = results.absolute()
    while not os.path.lexists(folder):
        folder = folder.parent
    wrong = "not a folder" if not folder.is_dir() else "" if os.access(folder, os.W_OK | os.X_OK) else "not writable"
    if wrong:
        raise BadInput(f"{folder}: {wrong}, and runs are to be kept in {results.absolute()}", "go to another folder")
