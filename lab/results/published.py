"""The printed figures of the posts of 2011 to 2015 that this lab repeats (data/published-2011.csv)."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.shipped import PUBLISHED
from lab.base.validation import read_text

# Bytes per second of each unit; other units count something else
BYTES_PER_S = {"MB/s": 1e6, "MiB/s": 2.0**20, "K/s": 1024.0, "GB/s": 1e9}
SETTINGS = (
    "operation", "protocol", "tool", "mtu", "tcp_space", "client_store", "server_store", "raid", "disks", "ashift",
    "variant",
)  # fmt: skip


@dataclass(frozen=True)
class Published:
    """One printed figure. A value of SETTINGS is empty if the post does not say it.

    ``baseline`` is what it was compared with, as ``setting=level``. ``change_pct`` is the printed change in percent, or
    None.
    """

    source: str
    table: str
    kind: str
    settings: dict[str, str]
    value: float
    unit: str
    baseline: str
    change_pct: float | None
    note: str

    @property
    def rate(self) -> float:
        """Bytes, or whatever is counted, per second."""
        return self.value * BYTES_PER_S.get(self.unit, 1.0)

    @property
    def is_bytes(self) -> bool:
        """Whether it counts bytes."""
        return self.unit in BYTES_PER_S


def read_published(path: Path = PUBLISHED) -> list[Published]:
    """All figures in the file, in order. Raises BadInput for any other file."""
    reader = csv.DictReader(io.StringIO(read_text(path, "")))
    try:
        return [_read(row) for row in reader]
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: line {reader.line_num}: no published figure: {error}") from error


def _read(row: dict[str, str]) -> Published:
    return Published(
        row["source"], row["table"], row["kind"], {name: row[name] for name in SETTINGS}, float(row["value"]),
        row["unit"], row["baseline"], float(row["published_change_pct"]) if row["published_change_pct"] else None,
        row["note"],
    )  # fmt: skip


def find_baseline(figure: Published, figures: Sequence[Published]) -> Published | None:
    """The figure of the same table that it was compared with; None unless there is exactly one."""
    if not figure.baseline:
        return None
    name, _, level = figure.baseline.partition("=")
    settings = figure.settings | {name: level}
    others = [other for other in figures if other.table == figure.table and other.settings == settings]
    return others[0] if len(others) == 1 else None
