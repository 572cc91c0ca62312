"""Published figures as tables: with their percentages recomputed, and beside what one's own run measured."""

import math
from collections.abc import Sequence

from lab import stats
from lab.base.units import size_label
from lab.report.compared.words import times
from lab.report.tables import TextTable, between, number
from lab.results.published import Published
from lab.results.trial import DD, RunJson
from lab.stats.recomputed import Own, Recomputed
from lab.stats.store_numbers import OF_STORES, store_numbers

MB = 10**6
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
    """What is wrong with a published table, or has to be known of it, in words."""
    return [text for begin, text in SLIPS if table.startswith(begin)]


def hardware_of(table: str) -> str:
    """What a published table was measured on."""
    return next(text for begin, text in HARDWARE if table.startswith(begin))


def published_tables(recomputed: Sequence[Recomputed]) -> list[TextTable]:
    """One table for each published one: what was printed, and what its figures give."""
    tables = []
    for name in dict.fromkeys(entry.figure.table for entry in recomputed):
        rows = [
            [*_printed(entry), number(entry.change_pct, "+.1f") + (" WRONG" if entry.is_slip else "")]
            for entry in recomputed
            if entry.figure.table == name
        ]
        tables.append(TextTable(["", "published", "change %", "recomputed %"], rows, _caption(name, recomputed)))
    return tables


def tables_beside(recomputed: Sequence[Recomputed], own: Sequence[Own | None], run: RunJson) -> list[TextTable]:
    """The published tables of which the run has anything, each figure beside one's own."""
    pairs = list(zip(recomputed, own, strict=True))
    tables = []
    for name in dict.fromkeys(entry.figure.table for entry, measured in pairs if measured):
        of_table = [(entry, measured) for entry, measured in pairs if entry.figure.table == name]
        rows = [[*_corrected(entry), *_own_cells(entry.figure, measured)] for entry, measured in of_table if measured]
        differs = dict.fromkeys(text for _, measured in of_table if measured for text in measured.differs)
        here = "; ".join([describe_hosts(run), *differs])
        lacking = len(of_table) - len(rows)
        more = f" {lacking} more figures of it are not in this run." if lacking else ""
        caption = f"{_caption(name, recomputed)} Here: {here}.{more}"
        headings = ["", "published", "change %", "own median", "times as fast", "own %", "95 % interval", "n"]
        tables.append(TextTable(headings, rows, caption))
    return tables


def describe_hosts(run: RunJson) -> str:
    """What one's own figures were measured on, as far as it bears on a comparison."""
    facts = run.get("hosts", {}).get("server", {})
    cpu, cores, memory = facts.get("cpu"), facts.get("cores"), facts.get("memory_bytes")
    parts = [str(cpu)] if cpu else []
    parts += [f"{cores} core{'s' * (cores > 1)}"] if cores else []
    parts += [f"{memory / 1e9:.1f} GB of memory"] if isinstance(memory, int) else []
    parts += ["a local lab on one machine"] if run.get("instance") is not None else []
    return ", ".join(parts) or "other hardware"


def sizes(trials: stats.Trials) -> str:
    """How much one's own files held, of tools that published figures have too; empty for none."""
    frame = stats.encode(trials).frame
    rows = frame[frame["protocol"].isin(OF_STORES) & frame["tool"].isin([DD, "bonnie++"])]
    largest = rows.groupby("tool", observed=True)["size_bytes"].max()
    named = [f"{tool} with files of {size_label(int(size))}" for tool, size in largest.items()]
    if (store_numbers(trials)["cached"] > 0).any():
        named.append("bonnie++ cached: its file is less than twice the server's memory")
    return ", ".join(named)


def published_json(recomputed: Sequence[Recomputed], own: Sequence[Own | None] | None) -> list[dict[str, object]]:
    """Each figure as JSON values; null where there is no number. ``own`` is None without a run."""
    records = []
    for place, entry in enumerate(recomputed):
        figure = entry.figure
        record: dict[str, object] = {
            "source": figure.source, "table": figure.table, "kind": figure.kind, **figure.settings,
            "value": figure.value, "unit": figure.unit, "baseline": figure.baseline,
            "published_change_pct": figure.change_pct, "recomputed_change_pct": _or_null(entry.change_pct),
            "is_wrong": entry.is_slip, "slips": slips_of(figure.table), "hardware": hardware_of(figure.table),
        }  # fmt: skip
        if own is not None:
            measured = own[place]
            record["own"] = _own_json(figure, measured) if measured else None
        records.append(record)
    return records


def _own_json(figure: Published, measured: Own) -> dict[str, object]:
    return {
        "unit": "bytes/s" if figure.is_bytes else "1/s", "median": measured.median, "low": _or_null(measured.low),
        "high": _or_null(measured.high), "n_blocks": measured.n_blocks, "change_pct": _or_null(measured.change_pct),
        "change_low_pct": _or_null(measured.change_low_pct), "change_high_pct": _or_null(measured.change_high_pct),
        "differs": list(measured.differs),
        **{name: _or_null(value) for name, value in ratio_of(figure, measured).items()},
    }  # fmt: skip


def ratio_of(figure: Published, measured: Own) -> dict[str, float]:
    """One's own median over the published value, and its interval over that: the published one has no blocks."""
    names = {"ratio": measured.median, "ratio_low": measured.low, "ratio_high": measured.high}
    return {name: value / figure.rate for name, value in names.items()}


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value


def _caption(table: str, recomputed: Sequence[Recomputed]) -> str:
    source = next(entry.figure.source for entry in recomputed if entry.figure.table == table)
    slips = "".join(f" Slip: {text}." for text in slips_of(table))
    return f"{table} ({source}), on {hardware_of(table)}.{slips}"


def _printed(entry: Recomputed) -> list[str]:
    """What a figure is of, its value, and the change that was printed."""
    figure = entry.figure
    change = "–" if figure.change_pct is None else f"{figure.change_pct:+g}"
    return [describe(figure), _rate(figure.value * _factor(figure), figure), change]


def _corrected(entry: Recomputed) -> list[str]:
    """The same, with the right change beside a wrong one."""
    *named, change = _printed(entry)
    return [*named, f"{change}, right {entry.change_pct:+.1f}" if entry.is_slip else change]


def describe(figure: Published) -> str:
    """What a figure is of, in words."""
    of = figure.settings
    words = [of["protocol"].upper(), of["tool"], of["operation"]]
    pool = [of["raid"], f"of {of['disks']}" if of["disks"] else "", f"ashift {of['ashift']}" if of["ashift"] else ""]
    network = [f"MTU {of['mtu']}" if of["mtu"] else "", f"TCP {_tcp(of['tcp_space'])}" if of["tcp_space"] else ""]
    named = [" ".join(filter(None, words)), " ".join(filter(None, pool)), *network, of["variant"]]
    return ", ".join(filter(None, named))


def _tcp(level: str) -> str:
    return size_label(int(level)) if level.isdecimal() else level


def _factor(figure: Published) -> float:
    return figure.rate / figure.value / MB if figure.is_bytes else 1.0


def _rate(value: float, figure: Published) -> str:
    unit = " MB/s" if figure.is_bytes else " TiB" if figure.unit == "TiB" else " /s"
    return f"{value:.1f}{unit}" if figure.is_bytes or figure.unit == "TiB" else f"{value:.0f}{unit}"


def _own_cells(figure: Published, measured: Own) -> list[str]:
    factor = 1 / MB if figure.is_bytes else 1.0
    return [
        _rate(measured.median * factor, figure), times(ratio_of(figure, measured)).replace(" [no interval]", ""),
        number(measured.change_pct, "+.1f"), between(measured.change_low_pct, measured.change_high_pct, "+.1f"),
        str(measured.n_blocks),
    ]  # fmt: skip
