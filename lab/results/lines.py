"""One line of trials.jsonl at a time, with care."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.base.untrusted import from_json
from lab.results.trial import ADDED, problem


def fields_lacking_in(schema: int) -> dict[str, object]:
    """The fields that a schema lacks, each with what stands for it."""
    return {name: value for since, lacked in ADDED.items() if since > schema for name, value in lacked.items()}


def read_line(line: bytes, lacking: Mapping[str, object]) -> tuple[dict[str, Any], str]:
    """The fields of a trial in one line, with what its schema lacks, and why it is none; empty where it is one."""
    try:
        record = from_json(line.decode())
    except ValueError as error:
        return {}, f"not a trial: {error}"
    if lacking and isinstance(record, dict):
        record = {**lacking, **record}
    return record, problem(record)
