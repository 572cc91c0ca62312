"""The effects that a sweep asks for, and what its cases can and cannot tell about them."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lab.base.errors import BadInput
from lab.base.untrusted import listing
from lab.design.case import Case
from lab.design.factors import ABSENT, BY_NAME, CHOOSERS, Level, can_be_combined, chooser_of
from lab.design.stopping import INTERVAL_BLOCKS
from lab.design.sweep_file import Sweep

SPEED = "speed"  # instead of an effect: the speed of each case
MOST_NAMED = 4  # in a list of what is missing or confounded; nobody reads a longer one

Levels: TypeAlias = Mapping[str, Sequence[Level]]


@dataclass(frozen=True)
class Effect:
    """An effect that is asked for, with the least and the most pairs in a block over its contrasts.

    A contrast compares a level with the first one at the same levels of all other factors. A contrast of an interaction
    takes two such pairs.
    """

    name: str
    least_pairs: int
    most_pairs: int


def levels_of(cases: Sequence[Case]) -> dict[str, list[Level]]:
    """The level of every factor in each case; ABSENT for an option of another protocol, tool or store."""
    names = dict.fromkeys([*BY_NAME, *(name for case in cases for name, _ in case.options)])
    return {name: [case.level(name) for case in cases] for name in names}


def varied_factors(levels: Levels) -> list[str]:
    """The factors that have more than one level."""
    return [name for name in levels if len(distinct(levels, name)) > 1]


def distinct(levels: Levels, name: str) -> list[Level]:
    """The distinct levels of a factor, in order."""
    return [level for level in dict.fromkeys(levels[name]) if level != ABSENT]


def asked_for(sweep: Sweep, grid: Sequence[Case], cases: Sequence[Case]) -> tuple[Effect, ...]:
    """The effects that the sweep names, or of all that varies but the direction. Raises BadInput."""
    levels = levels_of(cases)
    names = varied_factors(levels_of(grid))
    if sweep.effects is None:
        effects = [name for name in names if name != "direction"]
    elif sweep.effects == (SPEED,):
        effects = []
    else:
        effects = [_in_registry_order(sweep, effect, names) for effect in sweep.effects]
    if len(set(effects)) < len(effects):
        twice = listing(name for name, count in Counter(effects).items() if count > 1)
        raise BadInput(f"{sweep.place}effects: {twice}: the list has an effect twice", "name each effect once")
    if sweep.precision is not None:
        _check_precision(sweep, effects, grid, cases)
    return tuple(Effect(name, *_count_pairs(levels, name.split(":"))) for name in effects)


def _in_registry_order(sweep: Sweep, effect: str, names: Sequence[str]) -> str:
    """The effect with its factors in the order of the registry. Raises BadInput if the sweep does not have it."""
    parts = effect.split(":")
    if not set(parts) <= set(names) or len(set(parts)) < len(parts) or len(parts) > 2:
        two = f", and two of them such as {names[0]}:{names[1]}" if len(names) > 1 else ""
        remedy = f"what may stand here is {', '.join(names)}{two}" if names else "give a factor two levels"
        raise BadInput(f"{sweep.place}effects: {effect!r:.80} is no effect of what varies in this sweep", remedy)
    chosen = {name: sweep.factors.names(name) for name in CHOOSERS}
    if not can_be_combined(parts[0], parts[-1], chosen):
        problem = f"{effect!r:.80}: an option goes with its own protocol, tool or store only"
        raise BadInput(f"{sweep.place}effects: {problem}", "take it out")
    return ":".join(name for name in names if name in parts)


def _check_precision(sweep: Sweep, effects: Sequence[str], grid: Sequence[Case], cases: Sequence[Case]) -> None:
    """Raise BadInput for a precision of no effect, or of an interaction that the cases cannot tell."""
    if not effects and sweep.effects != (SPEED,):
        remedy = f'give a factor two levels, or effects = ["{SPEED}"], or leave precision out'
        raise BadInput(f"{sweep.place}precision: of nothing", remedy)
    levels = levels_of(grid)
    confounded = [name for name in _lost_in_fraction(levels, grid, cases) if ":" in name]
    confounded += [name for name in effects if ":" in name and not _count_pairs(levels, name.split(":"))[0]]
    if refused := [name for name in effects if name in confounded]:
        raise BadInput(
            f"{sweep.place}effects: {listing(refused)} cannot be told from other effects in these cases, so that no "
            f"number of blocks makes it precise",
            "give a larger fraction, or other effects",
        )


def _lost_in_fraction(levels: Levels, grid: Sequence[Case], cases: Sequence[Case]) -> list[str]:
    """The effects of which a fraction of the grid tells less."""
    if len(cases) == len(grid):
        return []
    from lab.design import fraction  # NumPy is slow to import, and most sweeps take the whole grid

    return fraction.not_estimable(levels, _chosen(grid, cases))


def _partners(levels: Levels, grid: Sequence[Case], cases: Sequence[Case], name: str) -> list[str]:
    """The effects that a fraction confounds with this one, each with its correlation."""
    from lab.design.fraction import aliases

    return [f"{alias} ({share:.2f})" for alias, share in aliases(levels, _chosen(grid, cases), name)]


def _chosen(grid: Sequence[Case], cases: Sequence[Case]) -> list[int]:
    chosen = set(cases)
    return [index for index, case in enumerate(grid) if case in chosen]


def _count_pairs(levels: Levels, parts: Sequence[str]) -> tuple[int, int]:
    """The least and the most groups of cases that differ only in one contrast of an effect, over all its contrasts."""
    others = [name for name in levels if name not in parts and chooser_of(name, levels) not in parts]
    groups: dict[tuple[Level, ...], set[tuple[Level, ...]]] = {}
    for case in range(len(levels[parts[0]])):
        rest = tuple(levels[name][case] for name in others)
        groups.setdefault(rest, set()).add(tuple(levels[name][case] for name in parts))
    distinct_levels = [distinct(levels, name) for name in parts]
    counts = []
    for contrast in itertools.product(*(values[1:] for values in distinct_levels)):
        pairs = ((values[0], level) for values, level in zip(distinct_levels, contrast, strict=True))
        corners = set(itertools.product(*pairs))
        counts.append(sum(corners <= present for present in groups.values()))
    return (min(counts), max(counts)) if counts else (0, 0)


def _missing_combinations(levels: Levels) -> list[str]:
    """The interactions that the grid tells only in part, with the combinations of two levels that it lacks."""
    lines = []
    for one, other in itertools.combinations(varied_factors(levels), 2):
        if not can_be_combined(one, other, levels):
            continue
        present = set(zip(levels[one], levels[other], strict=True))
        every = itertools.product(distinct(levels, one), distinct(levels, other))
        if lacking := [f"{first} with {second}" for first, second in every if (first, second) not in present]:
            lines.append(f"{one}:{other} as a whole: there is no {_abridge(lacking)}")
    return lines


def _abridge(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def cannot_tell(sweep: Sweep, grid: Sequence[Case], cases: Sequence[Case]) -> tuple[str, ...]:
    """What these cases and blocks cannot answer, a line each."""
    levels = levels_of(grid)
    lines = []
    if sweep.most_blocks < INTERVAL_BLOCKS:
        lines.append(f"any interval: too few blocks to know their spread; give blocks = {INTERVAL_BLOCKS} or more")
    if single := [f"{name} {only[0]}" for name in levels if len(only := distinct(levels, name)) == 1]:
        lines.append(f"what has one level only: {', '.join(single)}")
    lines += _missing_combinations(levels)
    for name in _lost_in_fraction(levels, grid, cases):
        partners = _abridge(_partners(levels, grid, cases, name))
        lines.append(f"{name} from {partners or 'several others at once'}")
    return tuple(lines)
