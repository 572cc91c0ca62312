"""Which effects a sweep asks for, and what a set of cases can and cannot tell about them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.base.errors import BadInput
from lab.design import fraction
from lab.design.case import Case
from lab.design.factors import ABSENT, FACTORS, OPTIONS, crossed, protocol_of
from lab.design.sweep_file import Sweep

MOST_NAMED = 4  # in a list of what is missing or mixed up: more say no more


@dataclass(frozen=True)
class Effect:
    """An effect that is asked for: its name, and in how many pairs a block each of its contrasts stands.

    A contrast compares a level with the first one at the same levels of all other factors; that of an interaction takes
    two such pairs. The numbers are the least and the most of its contrasts.
    """

    name: str
    least_pairs: int
    most_pairs: int


def levels_of(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """The level of every factor in each case; ABSENT for an option of another protocol."""
    options = dict.fromkeys([*OPTIONS, *(name for case in cases for name, _ in case.options)])
    plain = {name: [getattr(case, name) for case in cases] for name in FACTORS}
    return plain | {name: [case.option(name) for case in cases] for name in options}


def varied(levels: Mapping[str, Sequence[Any]]) -> list[str]:
    """The factors that have more than one level."""
    return [name for name in levels if len(distinct(levels, name)) > 1]


def distinct(levels: Mapping[str, Sequence[Any]], name: str) -> list[Any]:
    """The levels of a factor, each once, as they come."""
    return [level for level in dict.fromkeys(levels[name]) if level != ABSENT]


def asked_for(sweep: Sweep, grid: Sequence[Case], cases: Sequence[Case]) -> tuple[Effect, ...]:
    """The effects that the sweep names; else the main effect of every varied factor but the direction.

    Raises BadInput for names of nothing that varies, and where a precision is wanted of what the cases cannot tell.
    """
    levels = levels_of(cases)
    names = varied(levels_of(grid))
    if sweep.effects is None:
        wanted = [name for name in names if name != "direction"]
    else:
        wanted = [_known(sweep, effect, names) for effect in sweep.effects]
    if len(set(wanted)) < len(wanted):
        raise BadInput(f"{sweep.place}effects: {', '.join(wanted)} has an effect twice")
    if sweep.precision is not None:
        _check_precision(sweep, wanted, grid, cases)
    return tuple(Effect(name, *_pairs(levels, name.split(":"))) for name in wanted)


def _known(sweep: Sweep, effect: str, names: Sequence[str]) -> str:
    """The effect with its factors in the order that they have everywhere."""
    parts = effect.split(":")
    if not set(parts) <= set(names) or len(set(parts)) < len(parts) or len(parts) > 2:
        two = f", and two of them such as {names[0]}:{names[1]}" if len(names) > 1 else ""
        may = f"what may stand here is {', '.join(names)}{two}" if names else "no factor has two levels"
        raise BadInput(f"{sweep.place}effects: {effect!r} is no effect of what varies in this sweep; {may}")
    if not crossed(parts[0], parts[-1]):
        raise BadInput(f"{sweep.place}effects: {effect!r}: an option goes with its own protocol only: take it out")
    return ":".join(name for name in names if name in parts)


def _check_precision(sweep: Sweep, wanted: Sequence[str], grid: Sequence[Case], cases: Sequence[Case]) -> None:
    if not wanted:
        raise BadInput(f"{sweep.place}precision: of nothing: give a factor two levels, or leave precision out")
    levels = levels_of(grid)
    untold = [name for name in _lost(levels, grid, cases) if ":" in name]
    untold += [name for name in wanted if ":" in name and not _pairs(levels, name.split(":"))[0]]
    if lost := [name for name in wanted if name in untold]:
        raise BadInput(
            f"{sweep.place}effects: {', '.join(lost)} cannot be told from other effects in these cases, so that no "
            f"number of blocks makes it precise: give a larger fraction, or other effects"
        )


def _lost(levels: Mapping[str, Sequence[Any]], grid: Sequence[Case], cases: Sequence[Case]) -> list[str]:
    """The effects that a fraction of the grid tells less of."""
    return [] if len(cases) == len(grid) else fraction.not_estimable(levels, _chosen(grid, cases))


def _chosen(grid: Sequence[Case], cases: Sequence[Case]) -> list[int]:
    among = set(cases)
    return [index for index, case in enumerate(grid) if case in among]


def _pairs(levels: Mapping[str, Sequence[Any]], parts: Sequence[str]) -> tuple[int, int]:
    """The least and the most groups of cases, over the contrasts of an effect, that differ in nothing but it.

    Protocols are compared over all options that each of them has.
    """
    others = [name for name in levels if name not in parts and not ("protocol" in parts and protocol_of(name))]
    same: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    for case in range(len(levels[parts[0]])):
        rest = tuple(levels[name][case] for name in others)
        same.setdefault(rest, set()).add(tuple(levels[name][case] for name in parts))
    known = [distinct(levels, name) for name in parts]
    found = []
    for contrast in itertools.product(*(at[1:] for at in known)):
        corners = set(itertools.product(*((at[0], level) for at, level in zip(known, contrast, strict=True))))
        found.append(sum(corners <= present for present in same.values()))
    return (min(found), max(found)) if found else (0, 0)


def _missing(levels: Mapping[str, Sequence[Any]]) -> list[str]:
    """The interactions that the grid tells in part only, with the combinations of two levels that it lacks."""
    said = []
    for one, other in itertools.combinations(varied(levels), 2):
        if not crossed(one, other):
            continue
        present = set(zip(levels[one], levels[other], strict=True))
        every = itertools.product(distinct(levels, one), distinct(levels, other))
        if lacking := [f"{first} with {second}" for first, second in every if (first, second) not in present]:
            said.append(f"{one}:{other} as a whole: there is no {_some(lacking)}")
    return said


def _some(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def cannot_tell(sweep: Sweep, grid: Sequence[Case], cases: Sequence[Case]) -> tuple[str, ...]:
    """What these cases and blocks leave open, a line each."""
    levels = levels_of(grid)
    said = []
    if sweep.most_blocks < 2:
        said.append("any interval: one block has no spread; give blocks = 2 or more")
    if single := [f"{name} {known[0]}" for name in levels if len(known := distinct(levels, name)) == 1]:
        said.append(f"what has one level only: {', '.join(single)}")
    said += _missing(levels)
    for name in _lost(levels, grid, cases):
        partners = [f"{other} ({value:.2f})" for other, value in fraction.mixed_up(levels, _chosen(grid, cases), name)]
        said.append(f"{name} from {_some(partners) or 'several others at once'}")
    return tuple(said)
