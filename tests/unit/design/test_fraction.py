"""A fraction of a grid: what is promised can be estimated, what cannot is named, and classic designs are found."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most

from lab.design import fraction

Levels = dict[str, list[Any]]


def grid(*counts: int, without: Callable[[Sequence[int]], bool] = lambda _: False) -> Levels:
    """The grid of factors a, b, … with so many levels each, less the cases that are left out."""
    cases = [case for case in itertools.product(*(range(count) for count in counts)) if not without(case)]
    return {chr(ord("a") + index): [case[index] for case in cases] for index in range(len(counts))}


def size(levels: Levels) -> int:
    return len(levels["a"])


def rank(levels: Levels, chosen: Sequence[int], terms: Sequence[str]) -> int:
    columns = fraction.model_terms(levels)
    parts = [np.ones((len(chosen), 1)), *(columns[term][list(chosen)] for term in terms)]
    return int(np.linalg.matrix_rank(np.hstack(parts)))


def main_effects(levels: Levels) -> list[str]:
    return [term for term in fraction.model_terms(levels) if ":" not in term]


GRIDS = st.builds(
    lambda counts, hole: grid(*counts, without=lambda case: hole and case[0] == counts[0] - 1 and case[1] == 0),
    st.lists(st.integers(1, 3), min_size=2, max_size=5).filter(lambda counts: np.prod(counts) > 3),
    st.booleans(),
).filter(lambda levels: size(levels) > 2)


@given(GRIDS, st.floats(0, 1), st.integers(0, 1000))
@at_most(60)
def test_what_is_promised_can_be_estimated(levels: Levels, share: float, seed: int) -> None:
    least = fraction.least_runs(levels)
    runs = least + round(share * (size(levels) - least))
    chosen = fraction.choose(levels, runs, seed)
    assert len(chosen) == len(set(chosen)) == runs
    assert chosen == sorted(chosen)
    assert chosen[0] == 0
    everything = range(size(levels))
    assert rank(levels, chosen, main_effects(levels)) == rank(levels, everything, main_effects(levels)) == least
    terms = list(fraction.model_terms(levels))
    whole = rank(levels, everything, terms)
    lost = fraction.not_estimable(levels, chosen)
    assert (rank(levels, chosen, terms) == whole) == (lost == [])
    assert bool(lost) == (fraction.efficiency(levels, chosen) == 0)
    assert runs < whole or lost == []


@pytest.mark.parametrize(
    ("factors", "runs", "seed"),
    [*((5, 16, seed) for seed in range(10)), (6, 32, 1), (6, 32, 2), (7, 64, 1), (8, 64, 1)],
)
def test_regular_fractions_of_two_levels_lose_nothing(factors: int, runs: int, seed: int) -> None:
    """2^(5−1), 2^(6−1), 2^(7−1) and 2^(8−2) of resolution V and more (Box, Hunter and Hunter, table 12.15)."""
    levels = grid(*[2] * factors)
    chosen = fraction.choose(levels, runs, seed)
    assert fraction.efficiency(levels, chosen) == pytest.approx(1)
    assert fraction.not_estimable(levels, chosen) == []


@pytest.mark.parametrize(("factors", "runs"), [(4, 8), (6, 16), (7, 16)])
def test_with_too_few_runs_main_effects_are_clear_of_two_way_interactions(factors: int, runs: int) -> None:
    """2^(4−1), 2^(6−2) and 2^(7−3) of resolution IV: every interaction is aliased, and no main effect."""
    levels = grid(*[2] * factors)
    chosen = fraction.choose(levels, runs, 1)
    lost = fraction.not_estimable(levels, chosen)
    assert lost == [term for term in fraction.model_terms(levels) if ":" in term]
    assert all(fraction.aliases(levels, chosen, name) == [] for name in main_effects(levels))
    for name in lost:
        assert {round(value, 6) for _, value in fraction.aliases(levels, chosen, name)} == {1}


def test_aliases_are_those_of_the_defining_relation() -> None:
    """The half fraction of three factors with I = abc: each main effect is the interaction of the other two."""
    levels = grid(2, 2, 2)
    chosen = [index for index, case in enumerate(zip(*levels.values(), strict=True)) if sum(case) % 2 == 0]
    assert fraction.not_estimable(levels, chosen) == ["a", "b", "c", "a:b", "a:c", "b:c"]
    for name, other in (("a", "b:c"), ("b", "a:c"), ("c", "a:b")):
        assert dict(fraction.aliases(levels, chosen, name)) == pytest.approx({other: 1})


def test_the_whole_grid_mixes_nothing_up_and_its_coding_sums_to_zero() -> None:
    levels = grid(3, 2, 4)
    everything = range(size(levels))
    assert fraction.not_estimable(levels, everything) == []
    assert fraction.efficiency(levels, everything) == pytest.approx(1)
    assert all(fraction.aliases(levels, everything, name) == [] for name in fraction.model_terms(levels))
    terms = fraction.model_terms(grid(3, 2, 1))
    assert {name: columns.shape for name, columns in terms.items()} == {"a": (6, 2), "b": (6, 1), "a:b": (6, 2)}
    assert all(np.allclose(columns.sum(axis=0), 0) for columns in terms.values())


def test_a_choice_is_better_than_chance_and_good_in_a_large_incomplete_grid() -> None:
    levels = grid(4, 3, 2, 2, without=lambda case: case[0] == 3 and case[2] == 0)
    chosen = fraction.choose(levels, 30, 1)
    chance = np.random.default_rng(1)
    others = [chance.choice(size(levels), 30, replace=False).tolist() for _ in range(500)]
    assert fraction.efficiency(levels, chosen) > max(fraction.efficiency(levels, other) for other in others)
    levels = grid(4, 2, 2, 2, 3, 2, 3, without=lambda case: case[0] == 3 and case[1] == 0)
    assert size(levels) == 504
    assert fraction.efficiency(levels, fraction.choose(levels, 126, 1)) > 0.95
