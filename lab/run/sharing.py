"""Serving a share and attaching it: what the drivers of a protocol do on each host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from lab import protocols
from lab.base.errors import CommandError, DeadlineExceeded
from lab.hosts import ROLES, Role
from lab.protocols import Attached, Driver, Share, durability_in_effect, options_in_effect
from lab.run.pair import Pair
from lab.settings.changes import Settings
from lab.settings.journal import Record

Drivers = Mapping[Role, Driver]


@dataclass(frozen=True)
class Served:
    """What serves a share. ``durability`` is as read back from the server; empty where it is not the lab's."""

    drivers: Drivers
    durability: Mapping[str, str]


@dataclass(frozen=True)
class Mount:
    """A share as the client has it; ``record`` is the journal's of the mount, None where there is none to renew."""

    attached: Attached
    record: Record | None


def drivers_of(pair: Pair, protocol: str) -> dict[Role, Driver]:
    """A fresh driver of a protocol for each host."""
    factory = protocols.find(protocol)
    return {role: factory.driver(pair.sides[role].platform) for role in ROLES}


def serve(pair: Pair, settings: Settings, drivers: Drivers, share: Share, folder: str) -> Served:
    """Have the folder there, offer the share where the lab serves it, and prepare the client."""
    client, server = pair.sides[Role.CLIENT], pair.sides[Role.SERVER]
    if not folder.startswith(server.directory):
        settings.apply(pair.platforms[Role.SERVER].files.folder(folder, "1777"))
    effective: Mapping[str, str] = {}
    with explained(drivers):
        if share.served_by_lab:
            share = replace(share, old_dialect=drivers[Role.CLIENT].old_dialect(client))
            settings.follow(drivers[Role.SERVER].serve(server, share))
            effective = durability_in_effect(drivers[Role.SERVER], server, share)
        settings.follow(drivers[Role.CLIENT].prepare(client))
    return Served(drivers, effective)


def attach(pair: Pair, settings: Settings, drivers: Drivers, protocol: str, share: Share) -> Mount:
    """Attach the share on the client, and read back the options that were asked for."""
    steps = drivers[Role.CLIENT].attach(pair.sides[Role.CLIENT], pair.sides[Role.SERVER], share)
    mark = len(settings.journal.open)
    with explained(drivers):
        attached = settings.follow(steps)
    program = drivers[Role.SERVER].server_program() if share.served_by_lab else ""
    options = {**attached.options, **({"server": program} if program else {})}
    effective = {**attached.effective, **options_in_effect(protocol, share, options)}
    made = settings.journal.open[mark:]
    return Mount(replace(attached, effective=effective), made[-1] if made else None)


@contextmanager
def explained(drivers: Drivers) -> Iterator[None]:
    """Add what the driver knows about a failure as the remedy of the command that failed."""
    try:
        yield
    except DeadlineExceeded:
        raise
    except CommandError as error:
        remedy = drivers[Role(error.host)].explain(error.output)
        if not remedy:
            raise
        raise CommandError(error.host, error.argv, error.exit_code, error.output, remedy) from error
