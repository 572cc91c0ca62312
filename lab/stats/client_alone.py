"""What held a transfer back, told from the client alone: the rules for runs that saw nothing of their server.

What the client cannot see, the server and its disk, is named by elimination only, and never with certainty.
docs/explanation/bottlenecks.md has the rules and what they rest on.
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
    LOSSES,
    NEAR,
    PROBABLE,
    ROUND_TRIPS,
    SERVER,
    UNCLEAR,
    Limit,
    Numbers,
    filled_speed,
    percent,
    speed_label,
)
from lab.stats.time_budget import BUSY_HOST, LONG_WAY_MS, MOST, RESENT, START_UP
from lab.stats.trial_numbers import WINDOW_FELT
from lab.stats.utilization import DISTURBING

HALF_DUPLEX, WIFI, SYNC = "half duplex", "Wi-Fi", "mount option sync"
SIGNING, ENCRYPTION = "SMB signing", "SMB encryption"
CLIENT_CPU = "client CPU"
# Share of a radio's rate. A station may send half to two thirds of the time: acknowledgements, gaps and others take
# the rest (Bianchi 2000; IEEE 802.11-2020, 10.23), and TCP's own packets go the other way on the same channel
WIFI_FULL, WIFI_SPARE = 0.5, 0.25
CLIENT_IDLE = 0.7  # of a core, and of all cores: with more, this machine may have taken its part of the time
ALWAYS_BUSY = 0.9  # of the time the sender had something on the way
QUEUED, QUEUE_MS = 3.0, 1.0  # times as long a round trip, and at least so much longer: what a server does takes less
ONE_AT_ONCE = 1.5  # requests in a round trip: with more, several were on the way at once


@dataclass(frozen=True)
class Seen:
    """What the client knows of a case beside numbers: its end of the link, what is in effect, and the direction."""

    link: ClientLink
    direction: str
    effective: Mapping[str, object] = field(default_factory=dict)

    def is_protected(self, name: str) -> str:
        """The cipher of ``signing`` or ``encryption``, or ``on``; empty where it is off, or not known."""
        value = first_line(str(self.effective.get(name, "")), 40)
        return "" if value in ("off", "") else value

    @property
    def waits_for_each_write(self) -> bool:
        """Whether the mount has the option for it: ``sync`` of Linux, ``synchronous`` of macOS."""
        options = re.split(r"[,\s]+", str(self.effective.get("mount_options", "")))
        return self.direction == "write" and bool({"sync", "synchronous"} & set(options))


def limits(seen: Seen, medians: Numbers, told: Sequence[Limit]) -> list[Limit]:
    """The limits that any run can tell (``told``), with what the client knows of its link and of the mount."""
    made = [_explained(_disturbed(limit, medians), seen) for limit in told]
    return [*made, *_half_duplex(seen, medians), *_wifi(medians)]


def _disturbed(limit: Limit, medians: Numbers) -> Limit:
    """All cores were full, and a good part of that was there while the lab did nothing: others had them."""
    foreign = medians.get("foreign", 0.0)
    if (
        limit.name != CLIENT_CPU
        or not limit.near
        or foreign < DISTURBING
        or medians.get("client_one_core", 0.0) >= NEAR
    ):
        return limit
    evidence = (
        f"{DISTURBED}: others used {percent(foreign)} of the cores while nothing was measured, and {limit.evidence}"
    )
    return replace(limit, name=DISTURBED, evidence=evidence, grade=PROBABLE)


def _explained(limit: Limit, seen: Seen) -> Limit:
    """A processor that is full under a mount that signs or encrypts is full of that, most likely."""
    named = {ENCRYPTION: seen.is_protected("encryption"), SIGNING: seen.is_protected("signing")}
    name = next((name for name, value in named.items() if value), "")
    if limit.name != CLIENT_CPU or not limit.near or not name:
        return limit
    cipher = "" if named[name] == "on" else f" ({named[name]})"
    return replace(limit, name=name, evidence=f"{name} is on{cipher}, and {limit.evidence}", grade=PROBABLE)


def _half_duplex(seen: Seen, medians: Numbers) -> list[Limit]:
    """No Ethernet of today is meant to be so: one end did not negotiate, and packets collide."""
    if seen.link.duplex != "half" or seen.link.wireless:
        return []
    share = medians.get("link_share", 0.0)
    if share >= NEAR:
        return []
    evidence = f"half duplex: {first_line(str(seen.link.interface), 40)} sends or receives, and never does both"
    return [Limit(HALF_DUPLEX, share, evidence, near=True, grade=PROBABLE)]


def _wifi(medians: Numbers) -> list[Limit]:
    if "wifi" not in medians:
        return []
    share = medians["link_share"]
    evidence = (
        f"Wi-Fi: {percent(share)} of the {speed_label(medians['line_bits_per_s'])} at which its radio sends, of which "
        "half to two thirds are left for data"
    )
    return [Limit(WIFI, min(1.0, share), evidence, share >= WIFI_FULL, grade=PROBABLE)]


def left_over(seen: Seen, medians: Numbers) -> Limit:
    """What remains where nothing that the client sees was near its limit: what can be named, or why nothing can.

    Of the latter the name is UNCLEAR, and the evidence the reason.
    """
    if named := [
        *_queue(seen, medians), *_losses(medians), *_edges(seen, medians), *_sync(seen, medians), *_long_way(medians),
        *_narrower(seen, medians),
    ]:  # fmt: skip
        return named[0]
    if reason := _not_idle(seen, medians):
        return Limit(UNCLEAR, 0.0, reason, near=False)
    link = medians["link_share"]
    evidence = (
        f"{SERVER}: neither the link ({percent(link)}) nor this machine ({_busiest(medians)}) was full; what the "
        "server does cannot be seen from here"
    )
    return Limit(SERVER, link, evidence, near=True, grade=PROBABLE)


def _queue(seen: Seen, medians: Numbers) -> list[Limit]:
    """A sender that never rests, and bytes that queue before a narrower place than this end of the link.

    Of a write alone: whether the other end rests the receiver does not know.
    """
    if seen.direction != "write" or not {"busy", "loaded_rtt_ms", "rtt_ms"} <= medians.keys():
        return []
    least, loaded = medians["rtt_ms"], medians["loaded_rtt_ms"]
    waits = medians["busy"] < ALWAYS_BUSY or medians.get("window_felt", 0.0) >= WINDOW_FELT
    if waits or loaded < max(QUEUED * least, least + QUEUE_MS) or medians.get("link_share", 0.0) > FAR_ABOVE:
        return []
    evidence = (
        f"link: the round trip grew from {least:.2g} to {loaded:.2g} ms under this load, so bytes queued on the way, "
        "which is narrower than this end of it"
    )
    return [Limit(LINK, min(1.0, medians.get("link_share", 0.0)), evidence, near=True, grade=PROBABLE)]


def _losses(medians: Numbers) -> list[Limit]:
    if (resent := medians.get("resent", 0.0)) < RESENT:
        return []
    evidence = f"{LOSSES}: {100 * resent:.1f} % of what was sent was sent again, and TCP slows down each time"
    return [Limit(LOSSES, min(1.0, medians.get("link_share", 0.0)), evidence, near=True, grade=PROBABLE)]


def _edges(seen: Seen, medians: Numbers) -> list[Limit]:
    """Before the first byte of the payload, and after its last one: a server that flushes answers then."""
    if medians.get("link_share", 1.0) >= NEAR:
        return []
    link, elapsed_s = medians["link_share"], medians["elapsed_s"]
    after = medians.get("after_last_byte", 0.0)
    before = medians.get("startup", 0.0) - after
    if seen.direction == "write" and after >= MOST * (1 - link):
        evidence = (
            f"{FLUSH}: {after * elapsed_s:.2g} of {elapsed_s:.2g} s passed after the last byte was sent: only then did "
            "the server say that all is safe"
        )
        return [Limit(FLUSH, link, evidence, near=True, grade=PROBABLE)]
    if before >= MOST * (1 - link):
        evidence = f"{START_UP}: {before * elapsed_s:.2g} of {elapsed_s:.2g} s passed before the first byte"
        return [Limit(START_UP, link, evidence, near=True, grade=PROBABLE)]
    return []


def _sync(seen: Seen, medians: Numbers) -> list[Limit]:
    if not seen.waits_for_each_write or medians.get("link_share", 0.0) >= NEAR:
        return []
    evidence = f"{SYNC}: each write waits until the server has answered it"
    return [Limit(SYNC, medians.get("link_share", 0.0), evidence, near=True, grade=PROBABLE)]


def _long_way(medians: Numbers) -> list[Limit]:
    """A long round trip in which hardly more than one request was on the way."""
    if not {"rtt_ms", "requests"} <= medians.keys() or not medians["requests"] or not medians["asks"]:
        return []
    request = medians["bytes_per_s"] * medians["elapsed_s"] / medians["requests"]
    moved, link = medians["round_trip_bytes"], medians.get("link_share", 0.0)
    if medians["rtt_ms"] < LONG_WAY_MS or moved > ONE_AT_ONCE * request or link >= NEAR:
        return []
    evidence = (
        f"{ROUND_TRIPS}: {moved / KIB:.0f} KiB in a round trip of {medians['rtt_ms']:.2g} ms, which is about one "
        f"request of {request / KIB:.0f} KiB"
    )
    return [Limit(ROUND_TRIPS, link, evidence, near=True, grade=PROBABLE)]


def _narrower(seen: Seen, medians: Numbers) -> list[Limit]:
    """A rate that fills a usual speed of Ethernet, though this end of the link has another one, or names none.

    Where iperf3 measured the way, that has no such part.
    """
    is_measured = "link_share" in medians and "line_bits_per_s" not in medians
    if seen.link.wireless or seen.link.tunnel or is_measured or medians.get("link_share", 0.0) >= NEAR:
        return []
    if not (speed := filled_speed(seen.link, medians["bytes_per_s"])):
        return []
    carried = f"{medians['bytes_per_s'] / 1e6:.3g} MB/s is just what {speed_label(speed)} of Ethernet carries"
    if own := seen.link.bits_per_s:
        why = f"though this end has {speed_label(own)}: another part of the way has no more, most likely"
    else:
        why = "which some part of the way has, most likely: this end names no speed"
    evidence = f"{LINK}: {carried}, {why}"
    return [Limit(LINK, 1.0, evidence, near=True, grade=PROBABLE)]


def _not_idle(seen: Seen, medians: Numbers) -> str:
    """Why it need not be the server: something on the client's side that is not known, or not idle."""
    if seen.link.tunnel:
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
