"""Published figures as tables: with their percentages recomputed, and beside the figures of a run."""

import math
from collections.abc import Sequence

from lab import stats
from lab.base.groups import grouped
from lab.base.units import size_label
from lab.report.prose import times
from lab.report.tables import TextTable, between, number
from lab.results.json_object import RunJson
from lab.results.published import Published
from lab.results.trial import DD
from lab.stats.recomputed import Own, Recomputed
from lab.stats.store_numbers import OF_STORES, measurements, store_numbers

# What contradicts itself, or measured something else than it says, by the beginning of the tables' names
SLIPS = (
    ("network-1", "from disk to disk: the slower of two disks is in every figure, as a later post says itself"),
    ("network-2-table-1", "the two printed changes stand in each other's row"),
    ("network-2-table-2", "the two printed changes stand in each other's row; the MTU is not stated"),
    ("network-3", "the printed changes of SMB and of NFS read are against AFP with default TCP buffers, from the table "
     "before: two settings changed at once; that of NFS write fits neither"),
    ("kernel", "the new kernel is called 14 % and 10.5 % faster by dd; the post's own bonnie++ has 1.8 % and 0.5 % "
     "less by blocks, and a third of the file reads; dd wrote zeros, in one order, and flushed nothing"),
    ("zfs-", "dd wrote 10000 MiB of zeros, which any compression makes free, and flushed nothing in its time; the lab "
     "writes noise, flushes it, and reads with cold caches"),
    ("bonnie++ 1.03d", "a file of 300 MB on a machine with 4 GB of memory: the cache answered"),
    ("bonnie++ 1.97", "a file of 999 MB on a machine with 16 GB of memory: the cache answered, reads by blocks had no "
     "number at all"),
    ("raidz3-24", "dd wrote 100000 MiB of zeros, once, and flushed nothing in its time"),
)  # fmt: skip
HARDWARE = (
    ("network-", "Macs of 2011 at 1 Gbit/s"),
    ("raidz3-24", "24 disks of 4 TB, Linux, 2014"),
    ("bonnie++ 1.97", "a Mac with 16 GB and O3X, 2015"),
    ("", "HP Microserver of 1.3 GHz with 4 GB, disks of 2 and 3 TB, MacZFS 74.1, 2011"),
)


def slips_of(table: str) -> list[str]:
    """The slips of a published table, and what else a reader has to know of it."""
    return [text for begin, text in SLIPS if table.startswith(begin)]


def hardware_of(table: str) -> str:
    """The hardware of a published table."""
    return next(text for begin, text in HARDWARE if table.startswith(begin))


def published_tables(recomputed: Sequence[Recomputed]) -> list[TextTable]:
    """One table for each published one: the printed changes, and the changes that its figures give."""
    tables = []
    for entries in grouped((entry.figure.table, entry) for entry in recomputed).values():
        changes = [number(entry.change_pct, "+.1f") + (" WRONG" if entry.is_slip else "") for entry in entries]
        rows = [[*_printed(entry), change] for entry, change in zip(entries, changes, strict=True)]
        tables.append(TextTable(["", "published", "change %", "recomputed %"], rows, _caption(entries[0].figure)))
    return tables


def tables_beside(recomputed: Sequence[Recomputed], own: Sequence[Own | None], run: RunJson) -> list[TextTable]:
    """The published tables that have any figure in the run, each figure beside the run's own."""
    tables, pairs = [], zip(recomputed, own, strict=True)
    by_table = grouped((entry.figure.table, (entry, measured)) for entry, measured in pairs)
    for entries in by_table.values():
        known = [(entry, measured) for entry, measured in entries if measured]
        if not known:
            continue
        rows = []
        for entry, measured in known:
            *named, change = _printed(entry)
            right = f", right {entry.change_pct:+.1f}" if entry.is_slip else ""
            rows.append([*named, f"{change}{right}", *_own_cells(entry.figure, measured)])
        here = "; ".join([describe_hosts(run), *dict.fromkeys(text for _, own in known for text in own.differs)])
        lacking = len(entries) - len(known)
        more = f" {lacking} more figures of it are not in this run." if lacking else ""
        caption = f"{_caption(known[0][0].figure)} Here: {here}.{more}"
        headings = ["", "published", "change %", "own median", "times as fast", "own %", "95 % interval", "n"]
        tables.append(TextTable(headings, rows, caption))
    return tables


def describe_hosts(run: RunJson) -> str:
    """The hardware of a run, as far as it matters for a comparison."""
    facts = run.get("hosts", {}).get("server", {})
    cpu, cores, memory = facts.get("cpu"), facts.get("cores"), facts.get("memory_bytes")
    parts = [str(cpu)] if cpu else []
    parts += [f"{cores} core{'s' * (cores > 1)}"] if cores else []
    parts += [f"{memory / 1e9:.1f} GB of memory"] if isinstance(memory, int) else []
    parts += ["a local lab on one machine"] if run.get("instance") is not None else []
    return ", ".join(parts) or "other hardware"


def sizes(trials: stats.Trials) -> str:
    """The sizes of the run's files with tools of the published figures, or an empty text."""
    frame = stats.encode(trials).frame
    rows = frame[frame["protocol"].isin(OF_STORES) & frame["tool"].isin([DD, "bonnie++"])]
    largest = rows.groupby("tool", observed=True)["size_bytes"].max()
    named = [f"{tool} with files of {size_label(int(size))}" for tool, size in largest.items()]
    if (store_numbers(measurements(trials))["cached"] > 0).any():
        named.append("bonnie++ cached: its file is less than twice the server's memory")
    return ", ".join(named)


def published_json(recomputed: Sequence[Recomputed], own: Sequence[Own | None] | None) -> list[dict[str, object]]:
    """Each figure as JSON values; null where there is no number. ``own`` is None without a run."""
    records = []
    for place, entry in enumerate(recomputed):
        figure, table = entry.figure, entry.figure.table
        record: dict[str, object] = {
            "source": figure.source, "table": figure.table, "kind": figure.kind, **figure.settings,
            "value": figure.value, "unit": figure.unit, "baseline": figure.baseline,
            "published_change_pct": figure.change_pct, "recomputed_change_pct": _or_null(entry.change_pct),
            "is_wrong": entry.is_slip, "slips": slips_of(table), "hardware": hardware_of(table),
        }  # fmt: skip
        if own is not None:
            record["own"] = _own_json(figure, measured) if (measured := own[place]) else None
        records.append(record)
    return records


def _own_json(figure: Published, own: Own) -> dict[str, object]:
    names = ("median", "low", "high", "n_blocks", "change_pct", "change_low_pct", "change_high_pct")
    numbers = {name: _or_null(getattr(own, name)) for name in names}
    ratios = {name: _or_null(value) for name, value in ratio_of(figure, own).items()}
    return {"unit": "bytes/s" if figure.is_bytes else "1/s", **numbers, "differs": list(own.differs), **ratios}


def ratio_of(figure: Published, measured: Own) -> dict[str, float]:
    """The run's own median over the published value, and its interval over that value, which has no blocks."""
    names = {"ratio": measured.median, "ratio_low": measured.low, "ratio_high": measured.high}
    return {name: value / figure.rate for name, value in names.items()}


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value


def _caption(figure: Published) -> str:
    slips = "".join(f" Slip: {text}." for text in slips_of(figure.table))
    return f"{figure.table} ({figure.source}), on {hardware_of(figure.table)}.{slips}"


def _printed(entry: Recomputed) -> list[str]:
    figure = entry.figure
    change = "–" if figure.change_pct is None else f"{figure.change_pct:+g}"
    return [describe(figure), _rate(figure.rate / 1e6 if figure.is_bytes else figure.value, figure), change]


def describe(figure: Published) -> str:
    """A figure in words."""
    of, tcp = figure.settings, figure.settings["tcp_space"]
    words = [of["protocol"].upper(), of["tool"], of["operation"]]
    pool = [of["raid"], f"of {of['disks']}" if of["disks"] else "", f"ashift {of['ashift']}" if of["ashift"] else ""]
    network = [f"MTU {of['mtu']}" if of["mtu"] else ""]
    network += [f"TCP {size_label(int(tcp)) if tcp.isdecimal() else tcp}" if tcp else ""]
    named = [" ".join(filter(None, words)), " ".join(filter(None, pool)), *network, of["variant"]]
    return ", ".join(filter(None, named))


def _rate(value: float, figure: Published) -> str:
    unit = " MB/s" if figure.is_bytes else " TiB" if figure.unit == "TiB" else " /s"
    return f"{value:.1f}{unit}" if figure.is_bytes or figure.unit == "TiB" else f"{value:.0f}{unit}"


def _own_cells(figure: Published, own: Own) -> list[str]:
    return [
        _rate(own.median / 1e6 if figure.is_bytes else own.median, figure),
        times(ratio_of(figure, own)).replace(" [no interval]", ""), number(own.change_pct, "+.1f"),
        between(own.change_low_pct, own.change_high_pct, "+.1f"), str(own.n_blocks),
    ]  # fmt: skip
