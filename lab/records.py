"""What may stand in a run folder: a trial, the keys of run.json, and what is wrong where anything else stands there."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.values import LARGEST

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One timed transfer (schema 1): what was asked, what was in effect, raw counters and seconds.

    ``direction`` is as the client sees it: ``write`` is client to server. ``protocol`` is ``link`` for the iperf3
    ceiling. Wire bytes are as the client's interface counts them. ``None`` means: not measured.
    """

    trial_id: str
    case_id: str
    block: int
    position: int
    started_at: str
    protocol: str
    tool: str
    direction: str
    workload: str
    store: str
    mtu: int
    tcp_space: int | str
    options: dict[str, Any]
    size_bytes: int
    files: int
    elapsed_s: float | None
    client_cpu_s: float | None
    server_cpu_s: float | None
    wire_tx_bytes: int | None
    wire_rx_bytes: int | None
    retransmits: int | None
    ceiling_bytes_per_s: float | None
    effective: dict[str, Any]
    verified: bool
    status: str
    reason: str


def _json_types(hint: Any) -> frozenset[type]:
    """The types that a field's JSON value may have; an int is a good float."""
    members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = {typing.get_origin(member) or member for member in members}
    return frozenset(plain | {int} if float in plain else plain)


FIELDS = {name: _json_types(hint) for name, hint in typing.get_type_hints(Trial).items()}
_WORDS = {"direction": {"write", "read"}, "store": {"ram", "disk"}, "status": {"ok", "void", "failed"}}
_WORDS["tcp_space"] = {"default"}
_LEAST = 1e-9  # of what is timed: no clock reaches below
_TEXT, _TEXT_OR_NONE = frozenset({str}), frozenset({str, types.NoneType})
_RUN_TYPES = {
    **dict.fromkeys(("name", "started_at", "sweep_text", "code_version", "hosts_file"), _TEXT),
    **dict.fromkeys(("title", "instance", "finished_at", "ended"), _TEXT_OR_NONE),
    "seed": frozenset({int}),
    "hosts": frozenset({dict}),
}


def first_problem(records: Sequence[Any]) -> tuple[int, str] | None:
    """The index of a record that is no trial of this schema, and why. By column, on sets: quick for 100,000 of them."""
    for index, record in enumerate(records):
        if not isinstance(record, dict):
            return index, f"not a trial: {record!r:.60}"
        if record.keys() != FIELDS.keys():
            return index, f"not a trial of schema {SCHEMA}: unknown or missing: {sorted(record.keys() ^ FIELDS.keys())}"
    for name in FIELDS:
        values = [record[name] for record in records]
        if (misfit := _first_misfit(name, values)) is not None:
            return misfit, f"{name} cannot be {values[misfit]!r:.60}"
    first_lines: dict[str, int] = {}
    for index, record in enumerate(records):
        if record["status"] == "ok" and not record["elapsed_s"]:
            return index, f"elapsed_s cannot be {record['elapsed_s']} where status is ok"
        if (first := first_lines.setdefault(record["trial_id"], index)) != index:
            return index, f"trial_id {record['trial_id']} stands in line {first + 1} already"
    return None


def _first_misfit(name: str, values: Sequence[Any]) -> int | None:
    """The index of the first value that this field of a trial cannot have."""
    kinds = FIELDS[name]
    if set(map(type, values)) <= kinds and _all_fit(name, values):
        return None
    return next(index for index, value in enumerate(values) if type(value) not in kinds or not _all_fit(name, [value]))


def _all_fit(name: str, values: Sequence[Any]) -> bool:
    """Whether values, each of a type that this field can have, are words that it knows, text, and in range."""
    if FIELDS[name] == _TEXT and name not in _WORDS:
        return _is_text("".join(values))
    if dict in FIELDS[name]:
        return True
    distinct = set(values)
    words = {value for value in distinct if isinstance(value, str)}
    numbers = distinct - words - {None}
    return words <= _WORDS.get(name, set()) and all(value == 0 or _LEAST <= value < LARGEST for value in numbers)


def _is_text(value: str) -> bool:
    """False where half a character stands in it: JSON can name one, but no file and no terminal can hold it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def run_problem(key: str, value: Any) -> str:
    """Why no lab wrote this key of run.json; empty where one may have."""
    if type(value) not in _RUN_TYPES.get(key, {type(value)}):
        return f"{key} cannot be {value!r:.60}"
    if key == "hosts" and (strange := [side for side, facts in value.items() if not isinstance(facts, dict)]):
        return f"hosts: {strange[0]!r} cannot be {value[strange[0]]!r:.60}"
    try:
        json.dumps({key: value}, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        return f"{key!r} holds what cannot be written: {error}"
    return f"{key} holds a NUL character" if isinstance(value, str) and "\0" in value else ""
