"""Whether a trial can have happened as it says: bytes on the wire, speeds, ceilings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.base.untrusted import FASTEST_BYTES_PER_S
from lab.design.factors import LOCAL
from lab.results.set_aside import ASIDE
from lab.results.trial import CEILINGS, RunJson
from lab.stats.limit import FAR_ABOVE

Record = Mapping[str, Any]
SAME = 1e-6  # of two numbers that are computed of the same ones
LINK_MARGIN = 1.05  # of what an interface names: its clock and the host's are not the same
# Mounts that use other interfaces, too: neither the wire's bytes nor the link's ceiling bound them
SPREAD_OVER = ("smb.multichannel", "nfs.nconnect")


def is_transfer(record: Record) -> bool:
    """Whether it moved a payload through a share: neither a ceiling, nor a store by itself."""
    return record["protocol"] not in (*CEILINGS, LOCAL)


def is_planned(record: Record) -> bool:
    """Whether the plan has a slot for it: a transfer that was not set aside."""
    return is_transfer(record) and ASIDE not in record["trial_id"]


def link_ceilings(records: Sequence[Record]) -> dict[tuple[object, ...], list[tuple[int, float, str]]]:
    """Block, bytes per second and status of every test of the link, by direction, MTU and TCP buffers."""
    ceilings: dict[tuple[object, ...], list[tuple[int, float, str]]] = {}
    for record in records:
        if record["protocol"] == "link" and record["elapsed_s"]:
            rate = record["size_bytes"] / record["elapsed_s"]
            ceilings.setdefault(_network(record), []).append((record["block"], rate, record["status"]))
    return ceilings


def problems_of(
    record: Record, ceilings: Mapping[tuple[object, ...], list[tuple[int, float, str]]], run: RunJson
) -> Iterator[str]:
    """What cannot be of one trial. A void or failed one claims nothing of its speed."""
    if record["status"] != "ok" or not record["elapsed_s"]:
        return
    rate = record["size_bytes"] / record["elapsed_s"]
    if rate > FASTEST_BYTES_PER_S:
        yield f"{rate / 1e6:,.0f} MB/s: nothing is so fast"
    if not is_transfer(record):
        return
    yield from _speed_problems(record, rate, ceilings.get(_network(record), []), run)


def _network(record: Record) -> tuple[object, ...]:
    return record["direction"], record["mtu"], record["tcp_space"]


def _is_spread(record: Record) -> bool:
    return any(record["options"].get(name, "default") not in ("default", "false", "1") for name in SPREAD_OVER)


def _speed_problems(
    record: Record, rate: float, shots: Sequence[tuple[int, float, str]], run: RunJson
) -> Iterator[str]:
    """Faster than the link, by more than its own tests differ; unless it is a radio, or has several ways."""
    client = record["observed"].get("client")
    is_radio = isinstance(client, dict) and "wifi_bits_per_s" in client
    if _is_spread(record) or is_radio or record["workload"].startswith("names of "):
        return
    link_rates = [value for _, value, status in shots if status == "ok" and value > 0]
    fastest = max(link_rates, default=0.0)
    if fastest and rate > fastest * FAR_ABOVE * (fastest / min(link_rates)):
        yield f"{rate / 1e6:.1f} MB/s, where no test of the link reached more than {fastest / 1e6:.1f}: more than noise"
    facts = run.get("hosts", {}).get("client", {})
    link_bits_per_s = facts.get("link_bits_per_s") if isinstance(facts, dict) else None
    if isinstance(link_bits_per_s, int | float) and 0 < link_bits_per_s < rate * 8 / LINK_MARGIN:
        yield f"{rate / 1e6:.1f} MB/s, and the client's interface has {link_bits_per_s / 8e6:.1f}"
