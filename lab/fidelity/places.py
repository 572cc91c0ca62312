"""The places of a survey: protocols, stores and options of mounts, without what two hosts cannot do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

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

Level: TypeAlias = bool | int | str
MOST_DIGITS = 19  # of a number that may be a level
SIZE = "64 MiB"  # of RAM disk, for all copies of all probes


@dataclass(frozen=True)
class Asked:
    """What the user asks for; an empty field stands for everything.

    ``options`` have levels, as in ``smb.time_machine=default,false``.
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
class PlaceCase:
    """A place, and a case of a sweep that has the same protocol, store and options."""

    place: Place
    case: Case


def make_sweep(asked: Asked, config: Hosts, mtu: int) -> Sweep:
    """The sweep with the cases of the places. Raises BadInput."""
    options: dict[str, dict[str, list[Level]]] = {}
    for owner, name, levels in map(_parse_option, asked.options):
        options.setdefault(owner, {})[name] = levels
    stores = ["disk"] if config.share.serve != "lab" else ["ram", "disk"] if config.share.path else ["ram"]
    factors = options | {
        "protocol": list(asked.protocols or sorted(protocols.by_name())), "store": list(asked.stores or stores),
        "tool": ["cp", "rsync"], "direction": ["write"], "mtu": [mtu],
    }  # fmt: skip
    content = {"name": "fidelity", "workload": {"size": SIZE}, "factors": factors}
    return sweep_file.make_sweep(content, Path("lab fidelity"))


def _parse_option(text: str) -> tuple[str, str, list[Level]]:
    """Owner, name and levels of an option such as ``smb.time_machine=default,false``. Raises BadInput."""
    option = re.fullmatch(r"([a-z0-9_]+)\.([a-z0-9_]+)=(.*)", text, re.IGNORECASE | re.DOTALL)
    if not option:
        raise BadInput(f"--option {text!r:.80}: is not an option with levels", "as in smb.time_machine=default,false")
    return option[1], option[2], list(map(_level, option[3].split(",")))


def _level(text: str) -> Level:
    """A truth value, a number, or any other text."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else text


def list_places(sweep: Sweep) -> list[PlaceCase]:
    """Each place with its first case. Raises BadInput."""
    places: dict[str, PlaceCase] = {}
    for case in grid_of(sweep, CATALOGUE)[0]:
        options = {f"{case.protocol}.{name}": level for name, level in case.mount_options.items() if level != DEFAULT}
        place = Place(case.protocol, case.store, options)
        places.setdefault(place.label, PlaceCase(place, case))
    return list(places.values())


def copiers_for(protocol: str, chosen: Sequence[Copier]) -> list[Copier]:
    """The tools that can copy over a protocol."""
    mounted = protocols.find(protocol).mounted
    return [copier for copier in chosen if mounted or not copier.needs_mount]


def choose(places: Sequence[PlaceCase], capability: Capability, asked: Asked) -> tuple[list[PlaceCase], list[str]]:
    """The places that these hosts can have, and why they cannot have the others.

    Raises Unsupported if no place is left, or if a place is impossible whose protocol was asked for by name.
    """
    chosen, reasons = [], []
    for place_case in places:
        try:
            capability.left_out([place_case.case])
            chosen.append(place_case)
        except Unsupported as error:
            if place_case.place.protocol in asked.protocols:
                raise
            reasons.append(f"{place_case.place.label}: {error.on_one_line()}")
    if not chosen:
        raise Unsupported("\n".join(dict.fromkeys(reasons)), several=True)
    return chosen, reasons
