"""Checks that a run kept each trial once, and called no bad trial ok. Does not use the lab's own reader."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CEILINGS = ("link", "store")  # measured without a file that goes from host to host


@dataclass(frozen=True)
class Kept:
    """The content of trials.jsonl: whole lines, and the parsed trials by id."""

    lines: tuple[bytes, ...]
    rows: dict[str, Row]
    problems: tuple[str, ...]


def read(folder: Path | None) -> Kept:
    """The trials of a run folder, without an unfinished last line."""
    path = folder / "trials.jsonl" if folder else None
    content = path.read_bytes() if path and path.exists() else b""
    lines = tuple(content.split(b"\n")[:-1])
    rows: dict[str, Row] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            rows[row["trial_id"]] = row
        except ValueError:
            problems.append(f"line {number} is torn: {line[:60]!r}")
    count = Counter(json.loads(line)["trial_id"] for line in lines) if not problems else Counter[str]()
    problems += [f"{trial} stands there {times} times" for trial, times in count.items() if times > 1]
    return Kept(lines, rows, tuple(problems))


def is_late(row: Row) -> bool:
    """Whether a trial is void because the clients did not start together, as happens on a busy machine."""
    return row["status"] == "void" and str(row["reason"]).startswith("the clients did not start together")


def lost(first: Kept, last: Kept, slots: set[str]) -> list[str]:
    """What is wrong with the lines: torn, twice, changed since ``first``, or a trial of ``slots`` is missing."""
    problems = list(first.problems or last.problems)
    if last.lines[: len(first.lines)] != first.lines:
        problems.append("lines that stood there have changed")
    return problems + [f"{trial} is missing" for trial in sorted(slots - last.rows.keys())]


def wrong(first: Kept, last: Kept, usual: dict[str, Row], spoilt: str | None) -> list[str]:
    """Trials that are ``ok`` and cannot be; ``spoilt`` is the trial that the fault struck."""
    problems = [f"{row['trial_id']}: {problem}" for row in last.rows.values() for problem in _doubts(row, usual)]
    if spoilt in first.rows and first.rows[spoilt]["status"] == "ok":
        problems.append(f"{spoilt}: its transfer was made to fail")
    return problems


def _doubts(row: Row, usual: dict[str, Row]) -> list[str]:
    if row["status"] != "ok":
        return []
    if row["protocol"] in CEILINGS:
        return [] if row["size_bytes"] > 0 and row["elapsed_s"] > 0 else ["nothing was measured"]
    effective = row["effective"]
    wire = row["wire_tx_bytes" if row["direction"] == "write" else "wire_rx_bytes"]
    mtus = {effective.get("client_mtu"), effective.get("server_mtu")}
    spaces = ("tcp_rmem", "tcp_wmem", "recvspace", "sendspace")
    same = ("mount", *(f"{role}_{space}" for role in ("client", "server") for space in spaces))
    expected = usual[row["trial_id"]]["effective"]
    doubts = {
        "its content was not verified": row["verified"] is not True,
        "it took no time": not row["elapsed_s"] or row["elapsed_s"] <= 0,
        f"{wire} of {row['size_bytes']} bytes crossed the wire": not wire or wire < row["size_bytes"],
        f"the MTU was not {row['mtu']}": mtus != {str(row["mtu"])},
        f"{effective} is not as without the fault": any(effective.get(key) != expected.get(key) for key in same),
    }
    return [doubt for doubt, holds in doubts.items() if holds]
