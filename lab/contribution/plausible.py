"""Check that the speed of each trial is possible on its link."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.base.groups import grouped
from lab.base.untrusted import FASTEST_BYTES_PER_S
from lab.design.factors import LOCAL
from lab.results.json_object import RunJson
from lab.results.set_aside import is_aside
from lab.results.trial import CEILINGS
from lab.stats.limit import FAR_ABOVE

Record = Mapping[str, Any]
SAME = 1e-6  # relative tolerance of two results from the same numbers
LINK_MARGIN = 1.05  # tolerance of an interface's rate: its clock differs from the host's
# Options of mounts that use several interfaces: the link's ceiling is no limit for them
SPREAD_OVER = ("smb.multichannel", "nfs.nconnect")


def is_transfer(record: Record) -> bool:
    """Whether a trial moved a payload through a share; tests of the link or of a store do not."""
    return record["protocol"] not in (*CEILINGS, LOCAL)


def is_planned(record: Record) -> bool:
    """Whether a trial is a transfer that was not set aside; only these have a slot in the plan."""
    return is_transfer(record) and not is_aside(record["trial_id"])


def link_ceilings(records: Sequence[Record]) -> dict[tuple[object, ...], list[float]]:
    """The bytes per second of every good test of the link, by direction, MTU and TCP buffers."""
    links = (record for record in records if record["protocol"] == "link" and record["status"] == "ok")
    return grouped(
        (_network(record), record["size_bytes"] / record["elapsed_s"])
        for record in links
        if record["elapsed_s"] and record["size_bytes"] > 0
    )


def problems_of(record: Record, ceilings: Mapping[tuple[object, ...], list[float]], run: RunJson) -> Iterator[str]:
    """Why the speed of a good trial is impossible."""
    if record["status"] != "ok" or not record["elapsed_s"]:
        return
    rate = record["size_bytes"] / record["elapsed_s"]
    if rate > FASTEST_BYTES_PER_S:
        yield f"{rate / 1e6:,.0f} MB/s: nothing is so fast"
    if is_transfer(record):
        yield from _speed_problems(record, rate, ceilings.get(_network(record), []), run)


def _network(record: Record) -> tuple[object, ...]:
    return record["direction"], record["mtu"], record["tcp_space"]


def _speed_problems(record: Record, rate: float, link_rates: Sequence[float], run: RunJson) -> Iterator[str]:
    """Why a transfer is faster than the link by more than the link's tests differ. Wi-Fi and several interfaces may."""
    client = record["observed"].get("client")
    is_radio = isinstance(client, dict) and "wifi_bits_per_s" in client
    is_spread = any(record["options"].get(name, "default") not in ("default", "false", "1") for name in SPREAD_OVER)
    if is_spread or is_radio or record["workload"].startswith("names of "):
        return
    fastest = max(link_rates, default=0.0)
    if fastest and rate > fastest * FAR_ABOVE * (fastest / min(link_rates)):
        yield f"{rate / 1e6:.1f} MB/s, where no test of the link reached more than {fastest / 1e6:.1f}: more than noise"
    facts = run.get("hosts", {}).get("client", {})
    link_bits_per_s = facts.get("link_bits_per_s") if isinstance(facts, dict) else None
    if isinstance(link_bits_per_s, int | float) and 0 < link_bits_per_s < rate * 8 / LINK_MARGIN:
        yield f"{rate / 1e6:.1f} MB/s, and the client's interface has {link_bits_per_s / 8e6:.1f}"
