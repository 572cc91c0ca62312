"""The numbers of a good trial that show how near resources came to their limits; missing, never 0, if not observed."""

from collections.abc import Mapping, Sequence

from lab.base.units import LARGEST
from lab.results.one_sided import ClientLink
from lab.results.trial import DISK
from lab.stats.factors import Row
from lab.stats.limit import Numbers, line_rate

ROLES = ("client", "server")
BUSY = ("user", "system", "softirq", "steal")
TIMED = {"cpu_s", "started_s", "ended_s"}

ONE_THREAD = 1.1  # cores; a process that used more has several busy threads
SOFTIRQ_CORE = 0.5  # of a core: with less, interrupts did not fill a core
WINDOW_FELT = 0.1  # of the time with data to send; about 0 without a small window
SEEN_BYTES = 0.5  # of the payload: a connection seen last before that tells of its start only
STREAMED = "ssh"  # the protocol without requests
DISK_MOVED = 0.5  # of the payload: with less, the file was in memory
OWN_SHARE, OWN_FILE_BYTES = 0.05, 16384  # of a protocol's own on the wire: of the payload, and for each file


def numbers_of(trial: Row, shared: bool, link: ClientLink | None = None) -> dict[str, float]:
    """The numbers of one good trial by name; ``shared``: both hosts are on one machine, as in a local lab.

    ``link`` is the client's end of the link if the run saw nothing of its server.
    """
    sides = {role: _facts(trial, role) for role in ROLES}
    values = {"bytes_per_s": trial["size_bytes"] / trial["elapsed_s"], "elapsed_s": trial["elapsed_s"]}
    values["file_bytes"] = trial["size_bytes"] / max(1, trial["files"])
    ceiling = trial["ceiling_bytes_per_s"]
    if link and not ceiling > 0:
        values |= line_rate(link, sides["client"].get("wifi_bits_per_s"), _facts(trial, "tcp"))
        ceiling = values.get("line_bytes_per_s")
    values |= _quotient("link_share", values["bytes_per_s"], ceiling)
    if trial["tcp_space"] != "default":
        values["pinned"] = 1.0
    for role, usage in sides.items():
        side = _cpu(usage, shared) | _kept_waiting(usage, trial["elapsed_s"])
        values |= {f"{role}_{name}": value for name, value in side.items()}
    if shared:
        values |= _machine(sides, _further_clients(trial))
    values |= _edges(_facts(trial, "wire"), trial["elapsed_s"]) | _beside(trial)
    values |= _tcp(trial, values["bytes_per_s"], ceiling, received=link is not None)
    return values | _store(trial, sides["server"], values["bytes_per_s"])


def _facts(trial: Row, part: str) -> dict[str, float]:
    """The observed numbers of one part; anything else in a file is dropped."""
    facts = trial["observed"].get(part)
    return _clean(facts) if isinstance(facts, dict) else {}


def _clean(facts: Row) -> dict[str, float]:
    return {name: value for name, value in facts.items() if type(value) in (int, float) and 0 <= value < LARGEST}


def _quotient(name: str, amount: float, per: float | None) -> dict[str, float]:
    return {name: amount / per} if per and per > 0 else {}


def _cpu(usage: Numbers, shared: bool) -> dict[str, float]:
    """The used shares of one core and of all. On a shared machine only its group and processes belong to a host."""
    values = {"cpu_cores": usage["cpu_cores"]} if "cpu_cores" in usage else {}
    values |= {"cores": usage["cores"]} if usage.get("cores") else {}
    if not shared and all(name in usage for name in ("cores", *BUSY)):
        values["all_cores"] = min(1.0, sum(usage[name] for name in BUSY))
    elif shared and len(values) == 2:
        values["all_cores"] = min(1.0, values["cpu_cores"] / values["cores"])
    one_core = [usage["process_mean"]] if usage.get("process_mean", ONE_THREAD + 1) <= ONE_THREAD else []
    if not shared and usage.get("softirq", 0) * usage.get("cores", 0) >= SOFTIRQ_CORE and "core_mean" in usage:
        one_core.append(usage["core_mean"])
    return values | ({"one_core": min(1.0, max(one_core))} if one_core else {})


def foreign_share(trial: Row, loads: Mapping[int, Mapping[str, float]]) -> dict[str, float]:
    """The share of the busier host's cores that other programs used in the trial's block (``loads`` by block, role)."""
    used = loads.get(trial["block"], {})
    cores = {role: _facts(trial, role).get("cores", 0.0) for role in used}
    shares = [used[role] / cores[role] for role in used if cores[role]]
    return {"foreign": max(shares)} if shares else {}


def _edges(wire: Numbers, elapsed_s: float) -> dict[str, float]:
    """The shares of the time before the first and after the last byte of the payload."""
    edges = [wire[name] for name in ("before_first_byte_s", "after_last_byte_s") if name in wire]
    values = {"startup": min(1.0, sum(edges) / elapsed_s)} if edges else {}
    if "after_last_byte_s" in wire:
        values["after_last_byte"] = min(1.0, wire["after_last_byte_s"] / elapsed_s)
    return values


def _beside(trial: Row) -> dict[str, float]:
    """Bytes per second of others on the client's interface, in the payload's direction; one client, one connection."""
    wire, tcp, size = _facts(trial, "wire"), _facts(trial, "tcp"), trial["size_bytes"]
    if not {"overhead", "least_overhead"} <= wire.keys() or str(trial["clients"]) != "1":
        return {}
    own = (OWN_SHARE + wire["least_overhead"]) * size + OWN_FILE_BYTES * trial["files"]
    own += tcp.get("retransmits", 0) * tcp.get("mss", 0)
    return {"beside_bytes_per_s": max(0.0, wire["overhead"] * size - own) / trial["elapsed_s"]}


def _kept_waiting(usage: Numbers, elapsed_s: float) -> dict[str, float]:
    """The shares of the time that a program was ready to run but waited for other programs or a quota."""
    values = {"waited": min(1.0, usage["waited_s"] / elapsed_s)} if "waited_s" in usage else {}
    if "throttled_s" in usage and "cpu_cores" in usage:
        throttled = min(1.0, usage["throttled_s"] / elapsed_s)
        values |= {"throttled": throttled, "quota": min(1.0, usage["cpu_cores"] + throttled)}
    return values


def _further_clients(trial: Row) -> list[float]:
    """The cores that each client beyond the first used while it moved its payload."""
    together = trial["observed"].get("together")
    rows = together.get("clients") if isinstance(together, dict) else None
    parts = [_clean(row) for row in rows[1:] if isinstance(row, dict)] if isinstance(rows, list) else []
    lasted = [(part["cpu_s"], part["ended_s"] - part["started_s"]) for part in parts if part.keys() >= TIMED]
    return [cpu_s / seconds for cpu_s, seconds in lasted if seconds > 0]


def _machine(sides: Mapping[str, Numbers], beside: Sequence[float]) -> dict[str, float]:
    """How full a shared machine was, and the cores that others used; ``beside``: the cores of further clients."""
    usage, used = sides["client"], [side["cpu_cores"] for side in sides.values() if "cpu_cores" in side]
    if len(used) < len(ROLES) or not all(name in usage for name in ("cores", *BUSY)):
        return {}
    full = min(1.0, sum(usage[name] for name in BUSY))
    others = max(0.0, full * usage["cores"] - sum(used) - sum(beside) - usage.get("link_cores", 0.0))
    foreign = max(0.0, others / usage["cores"] - usage["softirq"])  # interrupts come from the link between the hosts
    return {"machine": full, "others": others, "foreign": foreign}


def _tcp(trial: Row, rate: float, ceiling: float | None, received: bool) -> dict[str, float]:
    """The connection, if it was seen for most of the payload; ``received``: maybe by its receiver only.

    A receiver's window is about half of its buffer (tcp(7), tcp_adv_win_scale). It is smaller while the receiving
    program has not emptied the buffer, so the larger of both counts.
    """
    tcp, effective = _facts(trial, "tcp"), _clean(trial["effective"])
    rtt_s, sent = tcp.get("min_rtt_ms", 0) / 1000, max(tcp.get("sent_bytes", 0), tcp.get("acked_bytes", 0))
    sent = sent or (tcp.get("received_bytes", 0) if received else 0)
    if not rtt_s or not sent or sent < SEEN_BYTES * trial["size_bytes"]:
        return {}
    values = {"rtt_ms": rtt_s * 1000, "round_trip_bytes": rate * rtt_s, "round_trips": trial["elapsed_s"] / rtt_s}
    if "retransmits" in tcp or not received:
        values["resent"] = tcp.get("retransmits", 0) * tcp.get("mss", 0) / sent
    if tcp.get("mss") and "out_of_order" in tcp:
        values["disordered"] = min(1.0, tcp["out_of_order"] * tcp["mss"] / sent)
    seen_s = max(trial["elapsed_s"] - tcp.get("age_s", 0), rtt_s)
    if "busy_ms" in tcp:
        values["busy"] = min(1.0, tcp["busy_ms"] / 1000 / seen_s)
    receiver = "server" if trial["direction"] == "write" else "client"
    window = max(tcp.get("window_bytes", 0), effective.get(f"{receiver}_rcvbuf", 0) / 2)
    allowed = [limit for limit in (window, tcp.get("cwnd", 0) * tcp.get("mss", 0)) if limit]
    if allowed:
        values["allowed_bytes"] = min(allowed)
    loaded_s = max(tcp.get("rtt_median_ms", 0) / 1000, rtt_s)
    values |= _window(tcp, window, min(rate, sent / seen_s) * loaded_s)  # there may be several connections
    values["loaded_rtt_ms"] = loaded_s * 1000
    if "data_segs_in" in tcp:
        values |= {"requests": tcp["data_segs_in"], "asks": float(trial["protocol"] != STREAMED)}
    if "window_bytes" in values and ceiling:
        values["window_of_ceiling"] = ceiling * rtt_s / values["window_bytes"]
    return values


def _window(tcp: Numbers, window: float, on_the_way: float) -> dict[str, float]:
    """How full the window was, and how long the sender waited for it; half of the sender's buffer if that was smaller.

    Goodput is at most window / RTT (RFC 7323, section 1.1: a window of one bandwidth-delay product fills a path).
    """
    values: dict[str, float] = {}
    if busy_ms := tcp.get("busy_ms"):
        by_receiver, by_sender = (tcp.get(name, 0) / busy_ms for name in ("rwnd_limited_ms", "sndbuf_limited_ms"))
        values["window_felt"] = min(1.0, by_receiver + by_sender)
        if by_sender >= WINDOW_FELT and by_sender > by_receiver and tcp.get("sndbuf"):
            window = tcp["sndbuf"] / 2
    return values | ({"window_bytes": window, "window_share": min(1.0, on_the_way / window)} if window else {})


def _store(trial: Row, server: Numbers, rate: float) -> dict[str, float]:
    """The server's store against its speed by itself, and counted traffic; empty for a made store not measured."""
    observed, size = _clean(trial["observed"]), trial["size_bytes"]
    ceiling, is_made = observed.get("store_ceiling_bytes_per_s"), trial["store"] != DISK
    if is_made and not ceiling:
        return {}
    values = {"on_disk": 1.0} | _quotient("disk_share", rate, ceiling) | ({"made": 1.0} if is_made else {})
    effective, is_write = trial["effective"], trial["direction"] == "write"
    if is_write:
        flushed = str(effective.get("flushed")).split(" ")[0]  # also "none (why)"
        values["flushed"] = float(flushed != "none" and effective.get("server_sync") != "async")
    elif is_made:
        values["in_memory"] = float(effective.get("server_cache") == "warm")
    shot_bytes = observed.get("store_ceiling_size_bytes") or size
    counted = observed.get("store_ceiling_disk_bytes", 0) >= DISK_MOVED * shot_bytes
    moved = server.get("disk_written_bytes" if is_write else "disk_read_bytes") if counted else None
    if is_made and not is_write:  # its written bytes include those after the end
        moved = observed.get("store_read_bytes", moved)
    return values | ({"disk_moved": moved / size} if moved is not None else {})
