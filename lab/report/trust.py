"""How far the numbers of a run can be trusted, in plain words, what is worst first."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from lab import stats
from lab.hosts import ROLES
from lab.report.analysis import Analysis
from lab.report.findings import Point
from lab.results import dataframe
from lab.results.run_keys import DISTURBED_CORES, load_by_block
from lab.results.trial import RunJson, emulated
from lab.stats.limit import DISTURBED, FAR_ABOVE
from lab.stats.link_ceilings import spreads

WIFI = {"wifi_bits_per_s": (1e-6, "Mbit/s"), "wifi_signal_dbm": (1, "dBm")}  # factor and unit of what is shown
NOTHING: pd.Series[float] = pd.Series(dtype=float)
LEAST_STOLEN = 0.05  # cores: less is shown as none
FEW_BLOCKS = 6  # the fewest of which the exact interval of a median exists


def trust(analysis: Analysis) -> Point:
    """The machines that were measured, what speaks against the numbers, and how many blocks they rest on."""
    run = analysis.trials.frame.attrs.get("run", {})
    return Point("Trust", [*conditions(analysis), *_rests_on(analysis.speeds), *_left_out(run)])


def speaks_against(analysis: Analysis) -> list[str]:
    """The same without what is as it should be: :func:`doubts`, too few blocks, and what was left out."""
    few = (text for text in _rests_on(analysis.speeds) if text.startswith("only"))
    return [*doubts(analysis), *few, *_left_out(analysis.trials.frame.attrs.get("run", {}))]


def conditions(analysis: Analysis) -> list[str]:
    """The doubts about the numbers, and whether anybody else used the hosts."""
    return [*doubts(analysis), *_idle(analysis)]


def doubts(analysis: Analysis) -> list[str]:
    """What speaks against the numbers: the machines first."""
    trials = analysis.trials
    run = trials.frame.attrs.get("run", {})
    return [
        *_where(run),
        *_over_wifi(analysis.some),
        *_foreign_load(trials, run),
        *_unsteady_link(trials),
        *_lost(trials),
        *_drift(analysis.drift),
    ]


def _rests_on(speeds: stats.Grid) -> Iterator[str]:
    blocks = len(speeds.blocks)
    if blocks == 1:
        yield "only one block: chance is in every number"
    elif blocks:
        yield f"{'only ' if blocks < FEW_BLOCKS else ''}{blocks} blocks"


def _where(run: RunJson) -> Iterator[str]:
    """Whether the machines were virtual or emulated: never to be left out."""
    mac = "an emulated Mac" if emulated(run) else ""
    if run.get("instance") is not None:
        yield f"local lab{f' with {mac}' if mac else ''} on one machine: no number holds for other hardware"
    elif mac:
        yield f"{mac}: no number is of a Mac"


def _left_out(run: RunJson) -> Iterator[str]:
    if left_out := run.get("left_out"):
        yield f"{len(left_out)} cases of the sweep could not be measured on these hosts"


def _foreign_load(trials: stats.Encoded, run: RunJson) -> Iterator[str]:
    """What others than the lab used of the hosts' cores, where that disturbs."""
    cores, role, block = _most_load(run)
    if cores > DISTURBED_CORES:
        stolen = _stolen(trials, block) if run.get("instance") is not None else 0
        used = f"other programs used up to {cores:.1f} cores of the {role} (block {block})"
        if stolen >= LEAST_STOLEN:
            used = f"others used up to {cores:.1f} cores (block {block}), {stolen:.1f} outside this VM"
        yield f"{_hosts(run)} not idle: {used}"


def _stolen(trials: stats.Encoded, block: int) -> float:
    """The cores that the host of a virtual machine kept from it during the transfers of a block of a local lab.

    They count among those that others used, and no program on the machine explains them.
    """
    transfers = stats.transfers(trials)
    counts = dataframe.observed(transfers[transfers["block"] == block], {"client.steal", "client.cores"})
    if len(counts.columns) < 2:
        return 0.0
    steal, cores_there = (pd.to_numeric(counts[f"client.{name}"], errors="coerce") for name in ("steal", "cores"))
    cores = steal * cores_there
    seconds = transfers["elapsed_s"].reindex(cores.index).where(cores.notna(), 0.0)
    return float((cores * seconds).sum() / seconds.sum()) if seconds.sum() else 0.0


def _idle(analysis: Analysis) -> list[str]:
    """That nobody else used the hosts, where that was observed; of a host with one core, half of one may disturb."""
    run = analysis.trials.frame.attrs.get("run", {})
    cores, role, _ = _most_load(run)
    is_idle = role and cores <= DISTURBED_CORES and not (analysis.verdicts["limited_by"] == DISTURBED).any()
    return [f"{_hosts(run)} idle otherwise"] if is_idle else []


def _most_load(run: RunJson) -> tuple[float, str, int]:
    """The most cores that others used of a host, which host, and in which block; no host where nobody looked."""
    loads = load_by_block(run).items()
    return max(((cores, role, block) for block, roles in loads for role, cores in roles.items()), default=(0.0, "", 0))


def _hosts(run: RunJson) -> str:
    """Those whose load was looked at, and the verb."""
    roles = {role for loads in load_by_block(run).values() for role in loads}
    return "the hosts were" if len(roles) > 1 else f"the {next(iter(roles))} was"


def _unsteady_link(trials: stats.Encoded) -> Iterator[str]:
    """By how much what iperf3 measured at one setting differs, where that is more than iperf3's own scatter."""
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
    """From the least to the largest; one number where they are the same."""
    low, high = (f"{number:.0f}".replace("-", "−") for number in (numbers.min(), numbers.max()))
    return low if low == high else f"{low} to {high}"


def _lost(trials: stats.Encoded) -> Iterator[str]:
    status = stats.transfers(trials)["status"]
    counts = {name: int((status == name).sum()) for name in ("failed", "void")}
    if lost := [f"{count} {name}" for name, count in counts.items() if count]:
        yield f"{' and '.join(lost)} of {len(status)} trials do not count"


def _drift(drift: stats.Drift) -> Iterator[str]:
    change, low, high = drift.over_run_pct
    if low > 0 or high < 0:
        yield f"speeds drifted by {change:+.0f} % while the run went on"
