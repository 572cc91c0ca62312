"""The plan of a sweep: its cases and blocks, how long they take, and how exact the answers will be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from lab.base.errors import BadInput
from lab.design.blocks import First, Ordering, Slot, block_slots, first_levels, plot_factors, plot_keys
from lab.design.case import Case
from lab.design.catalogue import Catalogue
from lab.design.cost import Cost, cost_of
from lab.design.effects import Effect, Levels, asked_for, cannot_tell, distinct, levels_of
from lab.design.factors import Level
from lab.design.grid import grid_of
from lab.design.pace import Pace
from lab.design.payload_size import size_for
from lab.design.sweep_file import Sweep

ASSUMED_PACE = Pace()
USUAL_IMAGE_BYTES = 2 << 30  # image_size, if there is no hosts file


@dataclass(frozen=True)
class Stratum:
    """Factors that change together; a block has ``groups`` with the same levels of them."""

    plot: str
    factors: tuple[str, ...]
    groups: int


@dataclass(frozen=True)
class Plan:
    """What a sweep would do. ``left_out`` says why combinations are missing.

    ``slots``, ``changes``, ``bytes_moved`` and ``estimated_s`` are for the least number of blocks, ``most`` for the
    most. ``estimated_by`` is the run whose speeds are used, empty for assumed ones. ``d_efficiency`` compares the
    fraction with the whole grid of ``grid_cases``.
    """

    slots: tuple[Slot, ...]
    cases: tuple[Case, ...]
    left_out: tuple[str, ...]
    changes: dict[str, int]
    bytes_moved: int
    estimated_s: float
    estimated_by: str
    most: Cost
    factors: dict[str, tuple[Level, ...]]
    strata: tuple[Stratum, ...]
    first: tuple[First, ...]
    grid_cases: int
    d_efficiency: float
    effects: tuple[Effect, ...]
    cannot_tell: tuple[str, ...]


def _fraction_of(sweep: Sweep, grid: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases of the fraction that the sweep asks for. Raises BadInput if it is too small."""
    runs = sweep.runs_of(len(grid))
    if runs == len(grid):
        return grid
    from lab.design import fraction  # NumPy is slow to import, and most sweeps take the whole grid

    levels = levels_of(grid)
    if runs < (least := fraction.least_runs(levels)):
        problem = f"{sweep.place}fraction: {runs} of {len(grid)} cases cannot keep the main effects apart"
        raise BadInput(problem, f'give at least fraction = "{least}/{len(grid)}"')
    return tuple(grid[index] for index in fraction.choose(levels, runs, sweep.seed))


def _d_efficiency(levels: Levels, grid: Sequence[Case], cases: Sequence[Case]) -> float:
    if len(cases) == len(grid):
        return 1.0
    from lab.design import fraction

    return fraction.efficiency(levels, [grid.index(case) for case in cases])


def plan(
    sweep: Sweep,
    catalogue: Catalogue,
    refused: Mapping[str, str] = MappingProxyType({}),
    ordering: Ordering = Ordering.MIRRORED,
    pace: Pace = ASSUMED_PACE,
    image_bytes: int = USUAL_IMAGE_BYTES,
) -> Plan:
    """All that a run would do, in order. Touches no host.

    ``refused`` has the cases that the hosts cannot do, by ``case_id``, and why. ``pace`` is how fast the hosts are.
    ``image_bytes`` is the size of a file system that the lab makes.
    """
    sweep = _with_likely_size(sweep, pace)
    grid, left_out = grid_of(sweep, catalogue, refused)
    cases = _fraction_of(sweep, grid)
    _check_anchors(sweep, cases)
    blocks = [block_slots(sweep, cases, block, ordering) for block in range(1, sweep.most_blocks + 1)]
    slots = tuple(slot for block in blocks[: sweep.blocks] for slot in block)
    made_anew = {name for name in sweep.factors.names("store") if catalogue.store(name).is_made_anew}
    cost = partial(cost_of, sweep, cases, pace=pace, made_anew=made_anew, image_bytes=image_bytes)
    least, most = cost(blocks[: sweep.blocks]), cost(blocks)
    levels, factors = levels_of(grid), plot_factors(cases)
    keys = plot_keys(cases).items()
    strata = tuple(Stratum(plot.value, factors[plot], len(set(map(key, cases)))) for plot, key in keys)
    return Plan(
        slots=slots, cases=cases, left_out=left_out, changes=least.changes, bytes_moved=least.bytes_moved,
        estimated_s=least.estimated_s, estimated_by=pace.source, most=most,
        factors={name: tuple(distinct(levels, name)) for name in levels}, strata=strata,
        first=tuple(first_levels(slots)), grid_cases=len(grid), d_efficiency=_d_efficiency(levels, grid, cases),
        effects=asked_for(sweep, grid, cases), cannot_tell=cannot_tell(sweep, grid, cases),
    )  # fmt: skip


def check_design(sweep: Sweep, grid: tuple[Case, ...]) -> None:
    """Raise BadInput for a fraction, anchors or effects that these cases cannot have."""
    cases = _fraction_of(sweep, grid)
    _check_anchors(sweep, cases)
    asked_for(sweep, grid, cases)


def _check_anchors(sweep: Sweep, cases: Sequence[Case]) -> None:
    """Raise BadInput for more anchors than places before, between and after the cases."""
    places = len(cases) + 1
    if sweep.anchors > places:
        message = f"{sweep.place}anchors: {sweep.anchors} do not fit between {len(cases)} cases"
        raise BadInput(message, f"give at most {places}")


def _with_likely_size(sweep: Sweep, pace: Pace) -> Sweep:
    """The sweep with the size that the link will likely give, if the sweep leaves it to the link."""
    workload = sweep.workload
    if workload.size is not None or workload.seconds is None or not pace.link_bytes_per_s:
        return sweep
    return sweep.sized(size_for(workload.seconds, pace.link_bytes_per_s))
