"""A plan as text: what varies, the design, what it can and cannot tell, and what it costs."""

from collections.abc import Iterable, Iterator

from lab.base.units import size_label
from lab.design import stopping
from lab.design.effects import Effect
from lab.design.factors import BY_NAME, label_of
from lab.design.pace import ASSUMED_BYTES_PER_S
from lab.design.payload_size import GIGABIT_BYTES_PER_S, size_for
from lab.design.plan import Plan
from lab.design.sweep_file import Sweep

SPEEDS = (1, 2.5, 10, 20)  # of links between Macs, in Gbit/s
COLUMN = 12  # the least width of names
EXAMPLE_SPREAD = 0.02  # of a block's ratio, as a share of it


def describe(sweep: Sweep, planned: Plan) -> Iterator[str]:
    """The lines that `lab plan` prints, without the order of the slots."""
    trials = _range(len(planned.slots), planned.most.trials)
    moved = _range(planned.bytes_moved / 1e9, planned.most.bytes_moved / 1e9, digits=1)
    yield f"{len(planned.cases)} cases, {trials} trials, {moved} GB to move"
    yield from _add_title("size", _size(sweep, planned))
    varied = {name: ", ".join(map(str, levels)) for name, levels in planned.factors.items() if len(levels) > 1}
    yield from _add_title("factors", _align(varied.items()))
    yield from _add_title("left out", planned.left_out)
    yield from _add_title("design", _design(sweep, planned))
    yield from _add_title("it can tell", _can_tell(sweep, planned))
    yield from _add_title("it cannot tell", planned.cannot_tell)
    yield from _add_title("cost", _cost(planned))
    if warning := exceeds_cap(sweep, planned):
        yield f"warning: {warning}"


def exceeds_cap(sweep: Sweep, planned: Plan) -> str:
    """What a time cap cuts off, if it is shorter than the least number of blocks takes; else empty."""
    if sweep.time_cap is None or planned.estimated_s <= sweep.time_cap:
        return ""
    fit = int(len(planned.slots) * sweep.time_cap / planned.estimated_s)
    return (
        f"time_cap = {sweep.time_cap:g} s ends the run after about {fit} of {len(planned.slots)} trials, which are "
        f"estimated to take {planned.estimated_s:.0f} s: raise it, or take fewer levels or blocks"
    )


def _add_title(title: str, content: Iterable[str]) -> Iterator[str]:
    for index, line in enumerate(content):
        if not index:
            yield f"{title}:"
        yield f"  {line}"


def _align(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = list(named)
    width = max((len(name) for name, _ in lines), default=0)
    for name, text in lines:
        yield f"{name:{max(width, COLUMN)}} {text}"


def _range(least: float, most: float, digits: int = 0) -> str:
    return " to ".join(dict.fromkeys(f"{value:.{digits}f}" for value in (least, most)))


def _size(sweep: Sweep, planned: Plan) -> Iterator[str]:
    """How the size is chosen if the sweep leaves it to the link, and which is likely."""
    workload = sweep.workload
    if workload.kind == "tree":
        tree = workload.tree(workload.planned_size)
        mean = workload.planned_size / len(tree.files)
        yield (
            f"{workload.label}: {len(tree.files):,} files in {len(tree.folders) + 1:,} folders, "
            f"{workload.planned_size:,} bytes, {mean / 1024:,.0f} KiB a file on average"
        )
    seconds = workload.seconds
    if seconds is None:
        return
    yield f"before the first trial: a power of two that takes {seconds:g} s or more at what iperf3 measures then,"
    yield "or as much as RAM disks and disk have room for; written into run.json"
    at = ", ".join(f"{size_label(size_for(seconds, speed * GIGABIT_BYTES_PER_S))} at {speed:g} Gbit/s"
                   for speed in SPEEDS)  # fmt: skip
    yield f"{at}; planned with {size_label(planned.cases[0].size_bytes)}"


def _design(sweep: Sweep, planned: Plan) -> Iterator[str]:
    blocks = f"{_range(sweep.blocks, sweep.most_blocks)} randomised complete blocks (seed {sweep.seed})"
    if sweep.precision is not None:
        blocks += f", until every interval is within ± {100 * sweep.precision:g} %"
    yield blocks
    if planned.grid_cases > len(planned.cases):
        chosen = f"fraction: {len(planned.cases)} of {planned.grid_cases} cases, the same in each block, D-optimal"
        clear = f"; D-efficiency {planned.d_efficiency:.2f} of the whole grid's" if planned.d_efficiency else ""
        yield chosen + clear
    for stratum in planned.strata:
        yield f"{stratum.plot:{COLUMN}} {', '.join(stratum.factors)} ({stratum.groups} a block)"
    yield f"{'inside':{COLUMN}} all other factors, in random order"
    if sweep.blocks > 1:
        yield "each second block has the order of the one before it backwards"
    for first in planned.first:
        times = {level: first.times.get(level, 0) for level in planned.factors[first.factor]}
        usual = max(times, key=times.__getitem__)
        level = BY_NAME[first.factor].write(usual) if first.factor in BY_NAME else usual
        count = f"{times[usual]} of {first.groups} {first.within}s"
        yield f"{label_of(first.factor)} {level} first in {count}"
    if sweep.anchors:
        yield f"{'anchors':{COLUMN}} {sweep.anchors} a block: {planned.cases[0].case_id}"


def _can_tell(sweep: Sweep, planned: Plan) -> Iterator[str]:
    effects = planned.effects if sweep.most_blocks > 1 else ()
    yield from _align((effect.name, _pairs_of(effect)) for effect in effects)
    for blocks in dict.fromkeys((sweep.blocks, sweep.most_blocks)):
        if blocks > 1:
            factor = stopping.half_width_factor(blocks)
            example = f"a spread of {100 * EXAMPLE_SPREAD:g} % gives ± {100 * EXAMPLE_SPREAD * factor:.1f} %"
            yield f"after {blocks} blocks: ± {factor:.2f} × the spread of its ratio over blocks: {example}"
    if sweep.precision is not None:
        widest = 100 * sweep.precision / stopping.half_width_factor(sweep.most_blocks)
        yield f"± {100 * sweep.precision:g} % cannot be reached where that spread is more than {widest:.1f} %"


def _pairs_of(effect: Effect) -> str:
    if not effect.most_pairs:
        return "by a fit to all cases: no pairs differ in it alone"
    return f"from {_range(effect.least_pairs, effect.most_pairs)} pairs a block"


def _cost(planned: Plan) -> Iterator[str]:
    most = planned.most
    changes = [f"{name} {_range(count, most.changes[name])}" for name, count in planned.changes.items()]
    yield f"changes: {', '.join(changes)}"
    minutes = _range(planned.estimated_s / 60, most.estimated_s / 60)
    seconds = _range(planned.estimated_s, most.estimated_s)
    by = f"by {planned.estimated_by}" if planned.estimated_by else f"at {ASSUMED_BYTES_PER_S / 1e6:.0f} MB/s"
    yield f"estimated {by}: {minutes} min ({seconds} s)"
