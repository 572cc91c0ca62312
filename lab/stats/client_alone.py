"""The bottleneck as seen from the client alone: rules for runs that saw nothing of their server.

The server and its disk, which the client cannot see, are named by elimination only, and never with certainty.
docs/explanation/bottlenecks.md has the rules and their sources.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lab.base.untrusted import first_line
from lab.results.one_sided import ClientLink
from lab.stats.limit import (
    DISTURBED,
    FAR_ABOVE,
    FLUSH,
    KIB,
    LINK,
    LONG_WAY_MS,
    LOSSES,
    NEAR,
    PROBABLE,
    RESENT,
    ROUND_TRIPS,
    SERVER,
    UNCLEAR,
    Limit,
    Numbers,
    filled_speed,
    percent,
    speed_label,
)
from lab.stats.time_budget import BUSY_HOST, MOST, ROUND_TRIPS_TO_BEGIN, SMALL_REQUESTS, START_UP, are_small
from lab.stats.trial_numbers import WINDOW_FELT
from lab.stats.utilization import ALWAYS_BUSY, DISTURBING, disturbance, is_queued, longest_wait

HALF_DUPLEX, WIFI, SYNC = "half duplex", "Wi-Fi", "mount option sync"
SIGNING, ENCRYPTION = "SMB signing", "SMB encryption"
CLIENT_CPU = "client CPU"
# Shares of a radio's rate. Data gets half to two thirds of it: acknowledgements, gaps and other stations take the rest
# (Bianchi 2000; IEEE 802.11-2020, 10.23)
WIFI_FULL, WIFI_SPARE = 0.5, 0.25
CLIENT_IDLE = 0.7  # of a core, and of all cores: with more, this machine may have cost time
MOSTLY_IDLE = 0.7  # of the time nothing was on the way
DISORDERED = 0.02  # of what was received; one lost packet puts all that are on the way behind it out of order
ONE_AT_ONCE = 1.5  # requests in a round trip: with more, several were on the way at once


@dataclass(frozen=True)
class ClientFacts:
    """What the client knows about a case beside numbers: its end of the link, the direction, and settings in effect."""

    link: ClientLink
    direction: str
    effective: Mapping[str, object] = field(default_factory=dict)


def limits(client: ClientFacts, medians: Numbers, known: Sequence[Limit]) -> list[Limit]:
    """The limits ``known`` as in any run, with what the client knows of its link and mount."""
    explained = [_explained(_without_others(limit, medians), client) for limit in known]
    return [*explained, *filter(None, (_half_duplex(client, medians), _wifi(medians), _narrower(client, medians)))]


def _without_others(limit: Limit, medians: Numbers) -> Limit:
    """A full processor is no limit if others use as much of it while nothing is measured."""
    if limit.name != CLIENT_CPU or not limit.near:
        return limit
    foreign, used = medians.get("foreign", 0.0), 1.0
    if limit.share == medians.get("client_one_core"):
        foreign, used = foreign * medians.get("client_cores", 1.0), 0.9 * limit.share
    elif foreign >= DISTURBING:
        used = foreign
    if foreign < used:
        return limit
    return replace(limit, near=False, evidence=f"{limit.evidence}, and others used as much while nothing was measured")


def _explained(limit: Limit, client: ClientFacts) -> Limit:
    """Signing or encryption, if the processor is full under a mount that does either."""
    if limit.name != CLIENT_CPU or not limit.near:
        return limit
    for name, setting in ((ENCRYPTION, "encryption"), (SIGNING, "signing")):
        value = first_line(str(client.effective.get(setting, "")), 40)
        if value not in ("off", ""):
            cipher = "" if value == "on" else f" ({value})"
            return replace(limit, name=name, evidence=f"{name} is on{cipher}, and {limit.evidence}", grade=PROBABLE)
    return limit


def _probable(name: str, medians: Numbers, evidence: str) -> Limit:
    return Limit(name, min(1.0, medians.get("link_share", 0.0)), evidence, near=True, grade=PROBABLE)


def _half_duplex(client: ClientFacts, medians: Numbers) -> Limit | None:
    """Half-duplex Ethernet: one end did not negotiate, and packets collide."""
    if client.link.duplex != "half" or client.link.wireless or medians.get("link_share", 0.0) >= NEAR:
        return None
    interface = first_line(str(client.link.interface), 40)
    return _probable(HALF_DUPLEX, medians, f"half duplex: {interface} sends or receives, and never does both")


def _wifi(medians: Numbers) -> Limit | None:
    if "wifi" not in medians:
        return None
    share = medians["link_share"]
    evidence = (
        f"Wi-Fi: {percent(share)} of the {speed_label(medians['line_bits_per_s'])} at which its radio sends, of which "
        "half to two thirds are left for data"
    )
    return Limit(WIFI, min(1.0, share), evidence, share >= WIFI_FULL, grade=PROBABLE)


def left_over(client: ClientFacts, medians: Numbers) -> Limit:
    """The bottleneck if nothing that the client sees was near its limit; UNCLEAR with the reason if none is named."""
    if limit := (
        _queue(client, medians)
        or _losses(medians)
        or _edges(client, medians)
        or _sync(client, medians)
        or _small_requests(medians)
        or _long_way(medians)
        or _kept_waiting(medians)
    ):
        return limit
    if reason := _not_idle(client, medians):
        return Limit(UNCLEAR, 0.0, reason, near=False)
    evidence = (
        f"{SERVER}: neither the link ({percent(medians['link_share'])}) nor this machine ({_busiest(medians)}) was "
        "full; what the server does cannot be seen from here"
    )
    if (idle := 1 - medians.get("busy", 1.0)) >= MOSTLY_IDLE and medians["rtt_ms"] < LONG_WAY_MS:
        evidence += f", but nothing was on the way {percent(idle)} of the time"
    return _probable(SERVER, medians, evidence)


def _queue(client: ClientFacts, medians: Numbers) -> Limit | None:
    """A writer that never rests, with bytes queued before a narrower part of the way; a reader cannot see that."""
    if client.direction != "write" or not {"busy", "loaded_rtt_ms", "rtt_ms"} <= medians.keys():
        return None
    waits = medians["busy"] < ALWAYS_BUSY or medians.get("window_felt", 0.0) >= WINDOW_FELT
    if waits or not is_queued(medians) or medians.get("link_share", 0.0) > FAR_ABOVE:
        return None
    evidence = (
        f"link: the round trip grew from {medians['rtt_ms']:.2g} to {medians['loaded_rtt_ms']:.2g} ms under this load, "
        "so bytes queued on the way, which is narrower than this end of it"
    )
    return _probable(LINK, medians, evidence)


def _losses(medians: Numbers) -> Limit | None:
    """What a sender sent again; a receiver only knows which packets came before an earlier one."""
    if (resent := medians.get("resent", 0.0)) >= RESENT:
        evidence = f"{100 * resent:.1f} % of what was sent was sent again, and TCP slows down each time"
    elif (disordered := medians.get("disordered", 0.0)) >= DISORDERED:
        evidence = f"{100 * disordered:.1f} % of what arrived came before an earlier packet, which was lost or late"
    else:
        return None
    return _probable(LOSSES, medians, f"{LOSSES}: {evidence}")


def _edges(client: ClientFacts, medians: Numbers) -> Limit | None:
    """Time before the first byte of the payload, and after its last one, when a server that flushes answers."""
    link, elapsed_s = medians.get("link_share", 1.0), medians["elapsed_s"]
    if link >= NEAR:
        return None
    after = medians.get("after_last_byte", 0.0)
    before = medians.get("startup", 0.0) - after
    if client.direction == "write" and after >= MOST * (1 - link):
        evidence = (
            f"{FLUSH}: {after * elapsed_s:.2g} of {elapsed_s:.2g} s passed after the last byte was sent: only then did "
            "the server say that all is safe"
        )
        return _probable(FLUSH, medians, evidence)
    if before >= MOST * (1 - link):
        evidence = f"{before * elapsed_s:.2g} of {elapsed_s:.2g} s passed before the first byte"
        name, rtt_ms = START_UP, medians.get("rtt_ms", 0.0)
        if rtt_ms >= LONG_WAY_MS and (trips := before * elapsed_s * 1000 / rtt_ms) <= ROUND_TRIPS_TO_BEGIN:
            name, evidence = ROUND_TRIPS, f"{evidence}, about {trips:.0f} round trips of {rtt_ms:.2g} ms"
        return _probable(name, medians, f"{name}: {evidence}")
    return None


def _sync(client: ClientFacts, medians: Numbers) -> Limit | None:
    """A mount that waits for each write: ``sync`` of Linux, ``synchronous`` of macOS."""
    options = re.split(r"[,\s]+", str(client.effective.get("mount_options", "")))
    waits = client.direction == "write" and bool({"sync", "synchronous"} & set(options))
    if not waits or medians.get("link_share", 0.0) >= NEAR:
        return None
    return _probable(SYNC, medians, f"{SYNC}: each write waits until the server has answered it")


def _small_requests(medians: Numbers) -> Limit | None:
    if not are_small(medians) or medians.get("link_share", 0.0) >= NEAR:
        return None
    request = medians["bytes_per_s"] * medians["elapsed_s"] / medians["requests"]
    evidence = f"{SMALL_REQUESTS}: {medians['requests']:.0f} requests of {request / KIB:.0f} KiB"
    return _probable(SMALL_REQUESTS, medians, evidence)


def _kept_waiting(medians: Numbers) -> Limit | None:
    """Other programs had the cores for most of the time that was lost."""
    _, waited = longest_wait(medians)
    if not (disturbed := disturbance(medians)) or waited < MOST * (1 - medians.get("link_share", 0.0)):
        return None
    return _probable(DISTURBED, medians, f"{DISTURBED}: {disturbed}")


def _long_way(medians: Numbers) -> Limit | None:
    """A long round trip with hardly more than one request on the way."""
    if not {"rtt_ms", "requests"} <= medians.keys() or not medians["requests"] or not medians["asks"]:
        return None
    request, moved = medians["bytes_per_s"] * medians["elapsed_s"] / medians["requests"], medians["round_trip_bytes"]
    if medians["rtt_ms"] < LONG_WAY_MS or moved > ONE_AT_ONCE * request or medians.get("link_share", 0.0) >= NEAR:
        return None
    evidence = (
        f"{ROUND_TRIPS}: {moved / KIB:.0f} KiB in a round trip of {medians['rtt_ms']:.2g} ms, which is about one "
        f"request of {request / KIB:.0f} KiB"
    )
    return _probable(ROUND_TRIPS, medians, evidence)


def _narrower(client: ClientFacts, medians: Numbers) -> Limit | None:
    """A rate that fills a usual speed of Ethernet, but not of this end of the link; none if iperf3 measured the way."""
    is_measured = "link_share" in medians and "line_bits_per_s" not in medians
    if client.link.wireless or client.link.tunnel or is_measured or medians.get("link_share", 0.0) >= NEAR:
        return None
    if not (speed := filled_speed(client.link, medians["bytes_per_s"])):
        return None
    carried = f"{medians['bytes_per_s'] / 1e6:.3g} MB/s is just what {speed_label(speed)} of Ethernet carries"
    if own := client.link.bits_per_s:
        why = f"though this end has {speed_label(own)}: another part of the way has no more, most likely"
    else:
        why = "which some part of the way has, most likely: this end names no speed"
    return Limit(LINK, 1.0, f"{LINK}: {carried}, {why}", near=True, grade=PROBABLE)


def _not_idle(client: ClientFacts, medians: Numbers) -> str:
    """Why the server need not be the bottleneck: something on the client's side is unknown or was not idle."""
    if client.link.tunnel:
        return "the way is a tunnel: what it, and the network behind it, can carry is not known"
    if "link_share" not in medians:
        return "the speed of the link is not known"
    if medians["link_share"] >= (WIFI_SPARE if "wifi" in medians else NEAR):
        return "most of the link was in use, though not all of it"
    if not {"client_one_core", "client_all_cores"} & medians.keys():
        return "not observed: the processor of this machine"
    if medians.get("client_waited", 0.0) >= BUSY_HOST:
        return f"this machine waited for a free core {percent(medians['client_waited'])} of the time"
    if max(medians.get(f"client_{name}", 0.0) for name in ("one_core", "all_cores")) >= CLIENT_IDLE:
        return f"this machine was busy ({_busiest(medians)}), though not at its limit"
    return ""


def _busiest(medians: Numbers) -> str:
    if "client_one_core" in medians:
        return f"{medians['client_one_core']:.2f} of a core"
    return f"{percent(medians['client_all_cores'])} of its cores"
