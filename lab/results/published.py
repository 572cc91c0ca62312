"""The figures of the posts of 2011 to 2015 that this lab repeats, as they were printed (data/published-2011.csv)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.shipped import PUBLISHED
from lab.base.validation import read_text

# What stands for a unit: the factor to bytes a second, or 1 of what is counted
BYTES_PER_S = {"MB/s": 1e6, "MiB/s": 2.0**20, "K/s": 1024.0, "GB/s": 1e9}
SETTINGS = (
    "operation", "protocol", "tool", "mtu", "tcp_space", "client_store", "server_store", "raid", "disks", "ashift",
    "variant",
)  # fmt: skip


@dataclass(frozen=True)
class Published:
    """One printed figure: its ``table``, what it is of by SETTINGS (empty where the post does not say), its value.

    ``baseline`` is what it was compared with, as ``setting=level``, and ``change_pct`` the printed change in percent;
    None where none was printed.
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
        """Bytes a second; of what is counted, as many a second."""
        return self.value * BYTES_PER_S.get(self.unit, 1.0)

    @property
    def is_bytes(self) -> bool:
        """Whether it is of bytes."""
        return self.unit in BYTES_PER_S

    @property
    def other_settings(self) -> dict[str, str]:
        """The settings of what it was compared with; its own where it was not."""
        name, _, level = self.baseline.partition("=")
        return self.settings | ({name: level} if name else {})


def read_published(path: Path = PUBLISHED) -> list[Published]:
    """All figures, as they stand in the file. Raises BadInput for a file that is not such a one."""
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
    """The figure of the same table that it was compared with; None where there is none, or not just one."""
    if not figure.baseline:
        return None
    others = [other for other in figures if other.table == figure.table and other.settings == figure.other_settings]
    return others[0] if len(others) == 1 else None
