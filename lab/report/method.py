"""How a run was measured, in a few sentences: machines, payload and tools, order, ceiling, clock, version."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

import pandas as pd

from lab import stats
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.answer import capitalised
from lab.results.one_sided import share_of
from lab.results.trial import RunJson, emulated, read_time

MOST_NAMED = 6  # of tools, protocols and payloads
LONGEST = 80  # characters of what a host says of itself
STORES = {"ram": "RAM disk", "disk": "disk"}  # others are file systems, and have their own names


def method(run: Analysis) -> str:
    """At most six sentences on how it was measured."""
    described: RunJson = run.trials.frame.attrs.get("run", {})
    return " ".join([*_hosts(described), *_payload(run, described), *_ceiling(run), *_clock(run), *_version(described)])


def _hosts(described: RunJson) -> Iterator[str]:
    """What both hosts are, once where they are alike."""
    hosts = described.get("hosts", {})
    machines = {role: _machine(hosts[role]) for role in ("client", "server") if role in hosts}
    machines = {role: machine for role, machine in machines.items() if machine}
    if not machines:
        return
    alike = len(machines) > 1 and len(set(machines.values())) == 1
    named = {"Client and server alike": next(iter(machines.values()))} if alike else machines
    mac = f" ({emulated(described)})" if emulated(described) else ""
    yield capitalised("; ".join(f"{role}: {machine}" for role, machine in named.items()) + f"{mac}.")


def _machine(facts: Mapping[str, object]) -> str:
    """Processor, memory and system of a host, as it says."""
    cores, memory, texts = facts.get("cores"), facts.get("memory_bytes"), facts.get
    parts = [f"{cores} core{'s' if cores != 1 else ''} of {texts('cpu')}" if cores and texts("cpu") else ""]
    parts += [f"{memory / 1e9:.1f} GB of memory" if isinstance(memory, int) else ""]
    parts += [str(texts(name)) for name in ("os", "kernel") if texts(name)]
    return ", ".join(one_line(part, LONGEST) for part in parts if part)


def _payload(run: Analysis, described: RunJson) -> Iterator[str]:
    """What was moved by what, how often, and in which order."""
    trials = run.trials
    moved = stats.transfers(trials)
    if moved.empty:
        return
    tools, protocols, stores = (_levels(run, name) for name in ("tool", "protocol", "store"))
    *payloads, _, _ = trials.counts
    versions = _listed(dict.fromkeys(_in_effect(moved, "tool_version")))
    on = _listed(STORES.get(store, store) for store in stores)
    where = "" if share_of(described).protocol else f", on the server's {on}"
    blocks = len(trials.number_values("block")[1])
    cases = len(run.summary)
    seed = f", in an order drawn with the seed {described['seed']}" if "seed" in described else ""
    yield (
        f"Payload: {_listed(payloads)}, moved by {_listed(tools)}{f' ({versions})' if versions else ''} over "
        f"{_listed(protocols)}{where}: {cases} case{'s' if cases != 1 else ''} in {blocks} block"
        f"{'s' if blocks != 1 else ''}, each case once a block{seed}."
    )


def _levels(run: Analysis, name: str) -> list[str]:
    return [stats.level_label(name, level) for level in run.trials.cells((name,), run.trials.transfer).levels[name]]


def _ceiling(run: Analysis) -> Iterator[str]:
    """What the bare link carried."""
    medians = run.ceilings["median_MB_per_s"].dropna()
    if len(medians):
        low, high = f"{medians.min():.1f}", f"{medians.max():.1f}"
        span = low if low == high else f"{low} to {high}"
        yield f"The bare link carried {span} MB/s by iperf3 in the same blocks: the ceiling."


def _clock(run: Analysis) -> Iterator[str]:
    """Whose clock it was, what its time holds, and whether what arrived was looked at."""
    good = stats.measured(run.trials)
    if good.empty:
        return
    flushes = good["effective"].map(_flush_of)
    flushed = flushes[flushes != ""]
    count = "all" if len(flushed) == len(good) else f"{len(flushed)} of {len(good)}"
    kinds, without = _listed(dict.fromkeys(flushed)), _without(good[flushes == ""])
    flush = f", with the flush of what it wrote ({kinds}) in {count} trials{without}" if len(flushed) else ""
    compared = "; every byte was compared afterwards" if good["verified"].astype(bool).all() else ""
    yield f"Time is of the client's own clock{flush}{compared}."


def _flush_of(effective: object) -> str:
    """How a trial flushed what it wrote; empty where it did not, and where nothing says so."""
    text = str(effective.get("flushed") or "") if isinstance(effective, Mapping) else ""
    return "" if text.startswith("none") else text.partition(" ")[0]


def _without(unflushed: pd.DataFrame) -> str:
    """Which transfers have no flush in their time: beside those that have one they look faster than they are."""
    kinds = unflushed[["protocol", "tool", "direction"]].drop_duplicates().to_dict("records")
    return f", without it in {_listed(map(stats.row_label, kinds))}" if kinds else ""


def _version(described: RunJson) -> Iterator[str]:
    code = one_line(str(described.get("code_version") or "an unknown version"), LONGEST)
    on = ""
    with suppress(ValueError, TypeError):
        at = read_time(described.get("started_at", ""))
        on = f" on {at.day} {at:%B} {at.year}"
    yield f"Measured{on} by file-share-lab {code}."


def _in_effect(trials: pd.DataFrame, name: str) -> list[str]:
    """What was in effect in each trial that tells, as text."""
    values = (effective.get(name) for effective in trials["effective"] if isinstance(effective, Mapping))
    return [str(value) for value in values if value]


def _listed(names: Iterable[str]) -> str:
    """``a, b and c``; of more than MOST_NAMED, how many the others are."""
    texts = [one_line(name, LONGEST) for name in names]
    if len(texts) > MOST_NAMED:
        texts = [*texts[:MOST_NAMED], f"{len(texts) - MOST_NAMED} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))
