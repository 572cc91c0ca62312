"""How far the numbers of a run can be trusted, in plain words, the worst first."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from lab import stats
from lab.hosts import ROLES
from lab.report.analysis import Analysis
from lab.report.answer_points import Point
from lab.report.prose import drift_ends
from lab.results import dataframe
from lab.results.json_object import RunJson
from lab.results.run_keys import DISTURBED_CORES, load_by_block
from lab.results.trial import emulated
from lab.stats.limit import BESIDE, DISTURBED, FAR_ABOVE
from lab.stats.link_ceilings import spreads

WIFI = {"wifi_bits_per_s": (1e-6, "Mbit/s"), "wifi_signal_dbm": (1, "dBm")}  # factor and unit of what is shown
NOTHING: pd.Series[float] = pd.Series(dtype=float)
LEAST_STOLEN = 0.05  # cores; less is shown as none
FEW_BLOCKS = 6  # the fewest of which the exact interval of a median exists


def trust(run: Analysis) -> Point:
    """The machines that were measured, what speaks against the numbers, and how many blocks they rest on."""
    return Point("Trust", [*conditions(run), *_rests_on(run.speeds), *_left_out(run.described)])


def speaks_against(run: Analysis) -> list[str]:
    """The reasons for doubt: :func:`doubts`, too few blocks, and cases that were left out."""
    few = _rests_on(run.speeds) if len(run.speeds.blocks) < FEW_BLOCKS else ()
    return [*doubts(run), *few, *_left_out(run.described)]


def conditions(run: Analysis) -> list[str]:
    """The doubts about the numbers, and that the hosts were idle otherwise if that was observed."""
    # on a host with one core, half a core of other programs may already disturb a case
    cores, role, _ = _most_load(run.described)
    is_idle = role and cores <= DISTURBED_CORES and not run.verdicts["limited_by"].isin([BESIDE, DISTURBED]).any()
    return [*doubts(run), *([f"{_hosts(run.described)} idle otherwise"] if is_idle else [])]


def doubts(run: Analysis) -> list[str]:
    """The doubts about the numbers, those on the machines first."""
    change, low, high = run.drift.over_run_pct
    ends = drift_ends(run.drift)
    drift = f"speeds drifted by {change:+.0f} % while the run went on{f': {ends}' if ends else ''}"
    return [
        *_where(run.described), *_over_wifi(run.some), *_foreign_load(run.trials, run.described),
        *_unsteady_link(run.trials), *_lost(run.trials), *([drift] if low > 0 or high < 0 else []),
    ]  # fmt: skip


def _rests_on(speeds: stats.Grid) -> Iterator[str]:
    blocks = len(speeds.blocks)
    if blocks == 1:
        yield "only one block: chance is in every number"
    elif blocks:
        yield f"{'only ' if blocks < FEW_BLOCKS else ''}{blocks} blocks"


def _where(run: RunJson) -> Iterator[str]:
    """Whether the machines were virtual or emulated. An answer never leaves this out."""
    mac = "an emulated Mac" if emulated(run) else ""
    if run.get("instance") is not None:
        yield f"local lab{f' with {mac}' if mac else ''} on one machine: no number holds for other hardware"
    elif mac:
        yield f"{mac}: no number is of a Mac"


def _left_out(run: RunJson) -> Iterator[str]:
    if left_out := run.get("left_out"):
        yield f"{len(left_out)} cases of the sweep could not be measured on these hosts"


def _foreign_load(trials: stats.Encoded, run: RunJson) -> Iterator[str]:
    cores, role, block = _most_load(run)
    if cores > DISTURBED_CORES:
        used = f"other programs used up to {cores:.1f} cores of the {role} (block {block})"
        if run.get("instance") is not None and (stolen := _stolen(trials, block)) >= LEAST_STOLEN:
            used = f"others used up to {cores:.1f} cores (block {block}), {stolen:.1f} outside this VM"
        yield f"{_hosts(run)} not idle: {used}"


def _stolen(trials: stats.Encoded, block: int) -> float:
    """The cores that the host of a virtual machine kept from it during a block; they count as used by others."""
    transfers = stats.transfers(trials)
    counts = dataframe.observed(transfers[transfers["block"] == block], {"client.steal", "client.cores"})
    if len(counts.columns) < 2:
        return 0.0
    steal, cores_there = (pd.to_numeric(counts[f"client.{name}"], errors="coerce") for name in ("steal", "cores"))
    cores = steal * cores_there
    seconds = transfers["elapsed_s"].reindex(cores.index).where(cores.notna(), 0.0)
    return float((cores * seconds).sum() / seconds.sum()) if seconds.sum() else 0.0


def _most_load(run: RunJson) -> tuple[float, str, int]:
    """The most cores that others used of a host, which host, and in which block; no host where nobody looked."""
    loads = load_by_block(run).items()
    return max(((cores, role, block) for block, roles in loads for role, cores in roles.items()), default=(0.0, "", 0))


def _hosts(run: RunJson) -> str:
    roles = {role for loads in load_by_block(run).values() for role in loads}
    return "the hosts were" if len(roles) > 1 else f"the {next(iter(roles))} was"


def _unsteady_link(trials: stats.Encoded) -> Iterator[str]:
    """By how much the results of iperf3 at one setting differ, if that is more than iperf3's own scatter."""
    over_run, in_block = spreads(trials.frame)
    if over_run > FAR_ABOVE:
        within = f" ({100 * (in_block - 1):.0f} % within a block)" if in_block > 1 else ""
        change = f"{100 * (over_run - 1):.0f} %{within}"
        yield f"the bare link was not steady: its speed at one setting differed by up to {change}"


def _over_wifi(some: pd.DataFrame) -> Iterator[str]:
    """Which host's link was Wi-Fi, with the rates and signals that its radio had right after the trials."""
    counts = dataframe.observed(some, {f"{role}.{name}" for role in ROLES for name in WIFI})
    for role in ROLES:
        spans = [
            f"{_span(numbers * factor)} {unit}"
            for name, (factor, unit) in WIFI.items()
            if len(numbers := pd.to_numeric(counts.get(f"{role}.{name}", NOTHING), errors="coerce").dropna())
        ]
        if spans:
            yield f"the link of the {role} was Wi-Fi, {', '.join(spans)}"


def _span(numbers: pd.Series[float]) -> str:
    low, high = (f"{number:.0f}".replace("-", "−") for number in (numbers.min(), numbers.max()))
    return low if low == high else f"{low} to {high}"


def _lost(trials: stats.Encoded) -> Iterator[str]:
    status = stats.transfers(trials)["status"]
    counts = {name: int((status == name).sum()) for name in ("failed", "void")}
    if lost := [f"{count} {name}" for name, count in counts.items() if count]:
        yield f"{' and '.join(lost)} of {len(status)} trials do not count"
