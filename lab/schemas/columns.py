"""Every column that `lab export` writes as a table, from the types of the fields and the text beside or below each."""

import itertools
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass

from lab.platforms import Facts
from lab.results import export_table
from lab.results.export_table import NAMED, OBJECTS, OF_HOST, OF_RUN
from lab.results.json_object import json_types
from lab.results.run_keys import RunKeys
from lab.results.trial import Trial
from lab.schemas.fields import descriptions

# What a cell of a column holds, by its type in Python
TYPES = {str: "text", int: "integer", float: "number", bool: "true or false"}
# The unit of a number, by how its name ends, the longest ending first
ENDINGS = {
    "bytes_per_s": "bytes per second",
    "bits_per_s": "bits per second",
    "per_s": "per second",
    "bytes": "bytes",
    "dbm": "dBm",
    "ms": "milliseconds",
    "s": "seconds",
}
# ... and by the last part of a name that does not end so
UNITS = {
    **dict.fromkeys(("cores", "client_cores", "server_cores", "cpu_cores", "link_cores", "process_mean"), "cores"),
    **dict.fromkeys(("user", "system", "softirq", "iowait", "steal", "core_mean", "core_peak", "disk_busy"), "share"),
    **dict.fromkeys(("cpu", "overhead", "least_overhead", "store_ceiling_spread"), "share"),
    **dict.fromkeys(("rsize", "wsize", "mss", "pmtu"), "bytes"),
    **dict.fromkeys(("client_sndbuf", "client_rcvbuf", "server_sndbuf", "server_rcvbuf"), "bytes"),
    **dict.fromkeys(("cwnd", "ssthresh", "retransmits", "data_segs_in", "data_segs_out", "out_of_order"), "segments"),
    **dict.fromkeys(("tx_errors", "rx_errors"), "packets"),
    **dict.fromkeys(("block", "position", "files", "frames", "late", "streams", "most_streams"), "count"),
    **dict.fromkeys(("requests", "mount_tries", "samples", "carrier_changes"), "count"),
    "iops": "requests per second",
    "jain": "index, 1 at most",
}
UNKNOWN = {"effective": "not known", "observed": "not counted"}
EMPTY_BUFFER = "the hosts' own were used: `default`"
HEADINGS = {"run.json": "The run", "run.json, facts of the host": "The hosts", "the trial": "The trial"}
LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Entry:
    """What is to be known of a column; ``empty`` is where it has no value."""

    column: str
    type: str
    unit: str
    meaning: str
    source: str
    empty: str

    @property
    def section(self) -> str:
        """The heading of its table: what its columns come from."""
        path = self.column.split(".")[:-1]
        return ".".join(path[:2] if "bonnie" in path else path) or HEADINGS[self.source]

    @property
    def plain_meaning(self) -> str:
        """The meaning without what only a page can have."""
        return LINK.sub(r"\1", self.meaning).replace("``", "`")


def entries() -> list[Entry]:
    """Every column of a known name, in the table's order. Raises LookupError for one that is not described once."""
    about, facts = descriptions(RunKeys), descriptions(Facts)
    described = [
        _entry(column, about[key], "run.json", "never" if key == "id" else "not told") for column, key in OF_RUN.items()
    ]
    described += [
        _entry(f"{role}_{name}", facts[name], "run.json, facts of the host", "not told")
        for role, name in itertools.product(("client", "server"), OF_HOST)
    ]
    described += _of_trial()
    if [entry.column for entry in described] != list(export_table.kinds()):
        raise LookupError("describe each column once, in the table's order")
    return described


def _entry(column: str, meaning: str, source: str, empty: str) -> Entry:
    kind = export_table.kinds()[column]
    return Entry(column, TYPES[kind], unit_of(column) if kind in (int, float) else "–", meaning, source, empty)


def unit_of(column: str) -> str:
    """The unit of a column of numbers. Raises LookupError for one that says none: name it in UNITS."""
    name = column.rpartition(".")[2]
    ending = next((ending for ending in ENDINGS if f"_{name}".endswith(f"_{ending}")), None)
    return ENDINGS[ending] if ending else UNITS[name]


def _of_trial() -> Iterator[Entry]:
    about, hints = descriptions(Trial), typing.get_type_hints(Trial)
    for name, hint in hints.items():
        if name in OBJECTS:
            for column, owner, _ in export_table.columns_in(OBJECTS[name], name):
                meaning = descriptions(owner)[column.rpartition(".")[2]]
                yield _entry(column, meaning, f"`{name}` of the trial", UNKNOWN[name])
        elif name != "options":
            empty = "not measured" if type(None) in json_types(hint) else "never"
            empty = EMPTY_BUFFER if name == "tcp_space" else empty
            yield _entry(NAMED.get(name, name), about[name], "the trial", empty)


MORE = (
    Entry("option.NAME", TYPES[str], "–", "The level of the factor or option NAME, such as `option.smb.signing`.",
          "`options` of the trial", "the trial has no such option"),
    *(Entry(f"{name}.NAME", TYPES[str], "–", "What has no column of its own: options of mount and store by their names "
            "in a sweep, and keys of other versions.", "trial", "the trial has no such key") for name in OBJECTS),
)  # fmt: skip
TIDY = (
    Entry("run_id", TYPES[str], "–", "That of the table.", "tidy", "never"),
    Entry("trial_id", TYPES[str], "–", "That of the table.", "tidy", "never"),
    Entry("quantity", TYPES[str], "–", "The name of a column of numbers.", "tidy", "never"),
    Entry("value", TYPES[float], "that of the quantity", "The number in that column.", "tidy", "never"),
)
