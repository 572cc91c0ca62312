"""The report that fio 3 prints as JSON: how many requests there were, how fast, and how long they took."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lab.base.untrusted import FASTEST_BYTES_PER_S, count, from_json, quantity

if TYPE_CHECKING:
    from lab.results.observed import (  # a run folder's reader comes with it, and whoever plans needs none
        Requests,
        RequestsOneWay,
    )

PERCENTILES = ("50.000000", "95.000000", "99.000000", "99.900000")


def parse_report(text: str) -> Requests:
    """What both kinds of requests came to; a kind that there was none of is None. Raises ValueError.

    Notes of fio's may stand before and after the JSON.
    """
    from lab.results.observed import Requests

    try:
        report = from_json(text[text.index("{") : text.rindex("}") + 1])
        if not re.match(r"fio-3\.", str(report["fio version"])):
            raise ValueError("it is none of fio 3.x")
        (job,) = report["jobs"]
        if job["error"] != 0:
            raise ValueError(f"a job ended with error {job['error']!r:.20}")
        read, write = (_parse_way(job[name]) for name in ("read", "write"))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{type(error).__name__}: {error!s:.60}") from error
    if read is None and write is None:
        raise ValueError("there was no request")
    return Requests(read=read, write=write)


def _parse_way(way: Mapping[str, Any]) -> RequestsOneWay | None:
    """The requests of one kind. fio's own rates are rounded; they are those of bytes and requests over its runtime."""
    from lab.results.observed import RequestsOneWay

    requests, moved = count(way["total_ios"]), count(way["io_bytes"])
    if requests == 0:
        return None
    runtime_s = quantity(way["runtime"]) / 1000
    if not 0 < moved <= FASTEST_BYTES_PER_S * runtime_s:
        raise ValueError(f"{moved} bytes in {runtime_s} s")
    p50_ms, p95_ms, p99_ms, p999_ms, longest_ms = _parse_latencies(way["lat_ns"])
    return RequestsOneWay(
        requests=requests, bytes=moved, runtime_s=runtime_s, iops=round(requests / runtime_s, 3),
        bytes_per_s=round(moved / runtime_s), p50_ms=p50_ms, p95_ms=p95_ms, p99_ms=p99_ms, p999_ms=p999_ms,
        longest_ms=longest_ms,
    )  # fmt: skip


def _parse_latencies(latency: Mapping[str, Any]) -> list[float]:
    """Milliseconds from the submission of a request to its completion, at each of PERCENTILES and at most."""
    values = [quantity(latency["percentile"][percent]) / 1e6 for percent in PERCENTILES]
    if sorted(values) != values:
        raise ValueError("a higher percentile is a shorter time")
    return [*values, quantity(latency["max"]) / 1e6]  # percentiles are of buckets, and may lie beyond
