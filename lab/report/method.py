"""How a run was measured, in a few sentences: machines, payload and tools, order, ceiling, clock, version."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from lab import stats
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.prose import capitalised, listed
from lab.results.json_object import RunJson
from lab.results.one_sided import share_of
from lab.results.trial import emulated, read_time

LONGEST = 80  # characters of a fact of a host
STORES = {"ram": "RAM disk", "disk": "disk"}  # others are file systems, and have their own names


def method(run: Analysis) -> str:
    """At most six sentences on how it was measured."""
    described = run.described
    return " ".join([*_hosts(described), *_payload(run), *_ceiling(run), *_clock(run), *_version(described)])


def _hosts(described: RunJson) -> Iterator[str]:
    hosts = described.get("hosts", {})
    machines = {role: machine for role in ("client", "server") if role in hosts and (machine := _machine(hosts[role]))}
    if not machines:
        return
    alike = len(machines) > 1 and len(set(machines.values())) == 1
    named = {"Client and server alike": next(iter(machines.values()))} if alike else machines
    mac = f" ({emulated(described)})" if emulated(described) else ""
    yield capitalised("; ".join(f"{role}: {machine}" for role, machine in named.items()) + f"{mac}.")


def _machine(facts: Mapping[str, object]) -> str:
    cores, cpu, memory = facts.get("cores"), facts.get("cpu"), facts.get("memory_bytes")
    parts = [f"{cores} core{'s' if cores != 1 else ''} of {cpu}" if cores and cpu else ""]
    parts += [f"{memory / 1e9:.1f} GB of memory" if isinstance(memory, int) else ""]
    parts += [str(facts.get(name) or "") for name in ("os", "kernel")]
    return ", ".join(one_line(part, LONGEST) for part in parts if part)


def _payload(run: Analysis) -> Iterator[str]:
    trials, described = run.trials, run.described
    if stats.transfers(trials).empty:
        return
    cells = trials.cells(("tool", "protocol", "store"), trials.transfer)
    tools, protocols, stores = (
        [stats.level_label(name, level) for level in cells.levels[name]] for name in ("tool", "protocol", "store")
    )
    *payloads, _, _ = trials.counts
    effective = (effective for effective in stats.transfers(trials)["effective"] if isinstance(effective, Mapping))
    versions = _listed(dict.fromkeys(str(of["tool_version"]) for of in effective if of.get("tool_version")))
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


def _ceiling(run: Analysis) -> Iterator[str]:
    medians = run.ceilings["median_MB_per_s"].dropna()
    if len(medians):
        low, high = f"{medians.min():.1f}", f"{medians.max():.1f}"
        span = low if low == high else f"{low} to {high}"
        yield f"The bare link carried {span} MB/s by iperf3 in the same blocks: the ceiling."


def _clock(run: Analysis) -> Iterator[str]:
    good = stats.measured(run.trials)
    if good.empty:
        return
    flushes = good["effective"].map(_flush_of)
    flushed, unflushed = flushes[flushes != ""], good[flushes == ""]
    # beside transfers with a flush in their time, those without one look faster than they are
    kinds = unflushed[["protocol", "tool", "direction"]].drop_duplicates().to_dict("records")
    without = f", without it in {_listed(map(stats.row_label, kinds))}" if kinds else ""
    count = "all" if len(flushed) == len(good) else f"{len(flushed)} of {len(good)}"
    how = _listed(dict.fromkeys(flushed))
    flush = f", with the flush of what it wrote ({how}) in {count} trials{without}" if how else ""
    compared = "; every byte was compared afterwards" if good["verified"].astype(bool).all() else ""
    yield f"Time is of the client's own clock{flush}{compared}."


def _flush_of(effective: object) -> str:
    """How a trial flushed what it wrote; empty where it did not, and where nothing says so."""
    text = str(effective.get("flushed") or "") if isinstance(effective, Mapping) else ""
    return "" if text.startswith("none") else text.partition(" ")[0]


def _version(described: RunJson) -> Iterator[str]:
    code = one_line(str(described.get("code_version") or "an unknown version"), LONGEST)
    on = ""
    with suppress(ValueError, TypeError):
        at = read_time(described.get("started_at", ""))
        on = f" on {at.day} {at:%B} {at.year}"
    yield f"Measured{on} by file-share-lab {code}."


def _listed(names: Iterable[str]) -> str:
    return listed([one_line(name, LONGEST) for name in names])
