"""What a survey goes through: protocols, stores and options of mounts, less what two hosts cannot do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import BadInput, Unsupported
from lab.design import sweep_file
from lab.design.case import Case
from lab.design.factors import DEFAULT, Direction
from lab.design.grid import grid_of
from lab.design.sweep_file import Sweep
from lab.fidelity import copiers
from lab.fidelity.copiers import Copier
from lab.fidelity.copies import Place
from lab.hosts.hosts_file import Hosts
from lab.run.begin.capability import Capability
from lab.run.case.catalogue import CATALOGUE
from lab.run.case.pair import Pair
from lab.run.case.sharing import Shares

MOST_DIGITS = 19  # of a number that may be a level
SIZE = "64 MiB"  # of RAM disk: what all copies of all probes take


@dataclass(frozen=True)
class Asked:
    """What a person wants to know; what is empty is everything.

    ``options`` are such as ``smb.time_machine=default,false``: an option of a mount, and its levels.
    """

    protocols: Sequence[str] = ()
    tools: Sequence[str] = ()
    directions: Sequence[str] = ()
    stores: Sequence[str] = ()
    options: Sequence[str] = ()

    @property
    def copiers(self) -> tuple[Copier, ...]:
        """The tools. Raises BadInput."""
        return tuple(copiers.find(name) for name in self.tools) or copiers.COPIERS

    def goes(self, direction: Direction) -> bool:
        """Whether this direction is asked for."""
        return not self.directions or direction.value in self.directions


@dataclass(frozen=True)
class Stand:
    """A place, and the case of a sweep by which the engine stands it up."""

    place: Place
    case: Case


def make_sweep(asked: Asked, config: Hosts, mtu: int) -> Sweep:
    """The sweep whose cases are the places. Raises BadInput."""
    names = asked.protocols or sorted(protocols.by_name())
    options: dict[str, dict[str, Any]] = {}
    for owner, name, levels in map(_parse_option, asked.options):
        options.setdefault(owner, {})[name] = levels
    factors = options | {
        "protocol": list(names), "tool": ["cp", "rsync"], "direction": ["write"], "mtu": [mtu],
        "store": list(asked.stores or _stores(config)),
    }  # fmt: skip
    content = {"name": "fidelity", "workload": {"size": SIZE}, "factors": factors}
    return sweep_file.make_sweep(content, Path("lab fidelity"))


def _stores(config: Hosts) -> list[str]:
    if config.share.serve != "lab":
        return ["disk"]
    return ["ram", "disk"] if config.share.path else ["ram"]


def _parse_option(text: str) -> tuple[str, str, list[bool | int | str]]:
    """Owner, name and levels of an option such as ``smb.time_machine=default,false``. Raises BadInput."""
    option = re.fullmatch(r"([a-z0-9_]+)\.([a-z0-9_]+)=(.*)", text, re.IGNORECASE | re.DOTALL)
    if not option:
        raise BadInput(f"--option {text!r:.80}: is not an option with levels", "as in smb.time_machine=default,false")
    return option[1], option[2], list(map(_level, option[3].split(",")))


def _level(text: str) -> bool | int | str:
    """A level: truth values and numbers as such, anything else as text."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else text


def list_stands(sweep: Sweep) -> list[Stand]:
    """A stand for each place, by the first case that has it. Raises BadInput."""
    stands: dict[str, Stand] = {}
    for case in grid_of(sweep, CATALOGUE)[0]:
        options = {f"{case.protocol}.{name}": level for name, level in case.mount_options.items() if level != DEFAULT}
        place = Place(case.protocol, case.store, options)
        stands.setdefault(place.label, Stand(place, case))
    return list(stands.values())


def copiers_for(protocol: str, chosen: Sequence[Copier]) -> list[Copier]:
    """Those of these tools that can copy over a protocol."""
    mounted = protocols.find(protocol).mounted
    return [copier for copier in chosen if mounted or not copier.needs_mount]


def choose(stands: Sequence[Stand], pair: Pair, password: SecretStr, asked: Asked) -> tuple[list[Stand], list[str]]:
    """The stands that these hosts can have, and why not the others.

    Raises Unsupported where none is left, or one is impossible whose protocol was asked for by its name.
    """
    capability, chosen, reasons = Capability(Shares(pair, password)), [], []
    for stand in stands:
        try:
            capability.left_out([stand.case])
            chosen.append(stand)
        except Unsupported as error:
            if stand.place.protocol in asked.protocols:
                raise
            reasons.append(f"{stand.place.label}: {error.on_one_line()}")
    if not chosen:
        raise Unsupported("\n".join(dict.fromkeys(reasons)), several=True)
    return chosen, reasons
