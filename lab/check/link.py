"""The link between both hosts: whether packets of today's size get through, and how large they may be."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from lab.base import durable
from lab.base.errors import LabFailure, RestoreError, Unsupported
from lab.check.finding import Finding, examine, of_error
from lab.check.machine import Machine
from lab.hosts import ROLES, Host
from lab.hosts.hosts_file import Hosts
from lab.hosts.ssh import connected
from lab.platforms import Facts
from lab.platforms.network import ORDINARY_MTU, SMALLEST_MTU
from lab.results.run_folder import RunFolder
from lab.run.begin.look import check_free
from lab.run.begin.origin import origin
from lab.run.case.network import set_mtu
from lab.run.case.pair import Pair
from lab.run.lifecycle import changing

PATH, MTU, JUMBO = "link path", "link MTU", "link jumbo"
JUMBO_MTU = 9000
SEGMENT = "other machines on the segment that do not carry jumbo frames may lose a host while it has such an MTU"
TRY_JUMBO = f"`lab check --jumbo` raises the MTU of both for a moment and tries it; {SEGMENT}"


def findings(client: Machine, server: Machine) -> Iterator[Finding]:
    """All findings about the link. Raises HostError if a connection is lost."""
    if client.facts is None or server.facts is None:
        message = "not looked at: that needs the facts of both hosts"
        yield Finding("note", "link", message, "solve the problems above first")
        return
    yield from _check_mtu(client.facts, server.facts, "" if server.watched else TRY_JUMBO)
    yield from examine(PATH, partial(_check_path, client, server, min(client.facts.mtu, server.facts.mtu)))


def _check_mtu(client: Facts, server: Facts, how_to_try: str) -> Iterator[Finding]:
    """The largest MTU of both interfaces. Only a packet shows what the path between them carries."""
    if client.mtu != server.mtu:
        message = f"the client's is {client.mtu}, the server's {server.mtu}: large packets may get lost one way"
        yield Finding("warning", MTU, message, "set both to the same, as a run does where it may tune the host")
    limits = [limit or "an unknown MTU" for limit in (client.mtu_max, server.mtu_max)]
    reach = f"the interfaces take up to {limits[0]} (client) and {limits[1]} (server)"
    today = f"today {client.mtu} and {server.mtu}; {reach}"
    if min(client.mtu_max or JUMBO_MTU, server.mtu_max or JUMBO_MTU) < JUMBO_MTU:
        yield Finding("note", MTU, f"{today}: this pair cannot do {JUMBO_MTU}", f"leave MTU {JUMBO_MTU} out of sweeps")
    elif min(client.mtu, server.mtu) >= JUMBO_MTU:
        yield Finding("ok", MTU, today)
    else:
        yield Finding("note", MTU, f"{today}; only trying tells if the path carries {JUMBO_MTU}", how_to_try)


def _check_path(client: Machine, server: Machine, mtu: int) -> Iterator[Finding]:
    """Whether a packet of today's MTU and its answer get through, from a host that can send it without a change."""
    for sender, receiver in ((client, server), (server, client)):
        if sender.platform.network.probe_settings(mtu):
            continue
        address = sender.way_to(receiver.config.data_address)
        try:
            sender.platform.network.check_probe(address)
        except Unsupported as error:
            is_needed = client.config.tune != "no" or server.config.tune != "no"
            yield of_error("problem" if is_needed else "note", PATH, error)
            return
        reason = sender.platform.network.path_refusal(address, mtu)
        if not reason:
            yield Finding("ok", PATH, f"packets of MTU {mtu} cross it in one piece, and back")
        elif small := sender.platform.network.path_refusal(address, SMALLEST_MTU):
            message = f"the {sender.role} gets no answer to a ping of {address}: {small}"
            remedy = "look at both data_address, at the cable, and at firewalls, which must let ping through"
            yield Finding("problem", PATH, message, remedy)
        else:
            message = f"packets of MTU {mtu} do not cross it, of {SMALLEST_MTU} they do: {reason}"
            remedy = f"set the MTU of both hosts to {ORDINARY_MTU}, or let every switch between them carry more"
            yield Finding("problem", PATH, message, remedy)
        return
    message = f"ping cannot send {mtu} bytes at once on either host before its socket buffers are raised"
    yield Finding("note", PATH, message, "a run raises them, and proves the path for each MTU")


def try_jumbo(config: Hosts, results: Path, tell: Callable[[str], None]) -> Finding:
    """Raise the MTU of both hosts, send a packet of that size, and restore the MTU, as a run does.

    The folder in ``results`` with the journal stays only if something could not be restored.
    """
    if why := config.unseen:
        return Finding("note", JUMBO, f"not tried: {why.cause()}", why.remedy)
    untuned = [f"[{role}] is not to be tuned" for role in ROLES if not config.may_tune(role)]
    if untuned:
        return Finding("note", JUMBO, f"not tried: {' and '.join(untuned)}", "tune = yes there lets the lab try it")
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
        return of_error("problem" if isinstance(error, RestoreError) else "warning", JUMBO, error)


def _raise_mtu(folder: RunFolder, hosts: dict[str, Host], config: Hosts, tell: Callable[[str], None]) -> Finding:
    with changing(folder, hosts, config, tell) as settings:
        try:
            with settings.scope():
                set_mtu([Pair.of(hosts, config)], settings, JUMBO_MTU)
        except RestoreError:
            raise
        except LabFailure as error:
            return of_error("note", JUMBO, error)
    return Finding("ok", JUMBO, f"packets of {JUMBO_MTU} bytes cross the path in one piece", SEGMENT)
