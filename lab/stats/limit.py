"""A resource that can limit a transfer: its name, its utilisation, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.results.one_sided import ClientLink

UNCLEAR, LINK, WINDOW, ROUND_TRIPS = "unclear", "link", "latency × window", "protocol round trips"
DISK, FLUSH, DISTURBED = "disk", "flush to disk", "disturbed"
FILE_SYSTEM = "file system"  # of the lab's own, with what lies below it
LOSSES, SERVER, BESIDE = "lost packets", "the server or its disk", "others on the link"
CERTAIN, PROBABLE = "certain", "probable"

NEAR = 0.85  # share of a ceiling, which scatters; and while a transfer starts and flushes it fills no link
FAR_ABOVE = 1.15  # share of a ceiling: a faster transfer came from a cache
RESENT = 0.01  # share of bytes sent again: with more, losses set the pace
LONG_WAY_MS = 1.0  # a round trip: programs and disks take as long to answer a request
KIB = 1024

Numbers = Mapping[str, float]
FRAME = 38  # bytes on an Ethernet beside each packet: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)
HEADERS = 52  # bytes of IPv4 and of TCP with timestamps (RFC 9293, RFC 7323)
MTU = 1500  # where the interface does not say
STANDARD = (100_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000)  # bits per second of Ethernet
# shares of what a speed carries: servers' messages take some percent, and a shaper does not count Ethernet's gaps
FILLED_LEAST, FILLED_MOST = 0.93, 1.03


@dataclass(frozen=True)
class Limit:
    """A resource that may limit, the share of it in use (0 to 1), and that as a sentence.

    ``near``: its use explains the rate. ``bounds_the_ceiling``: it slows iperf3 down, too. ``grade``: how sure that is.
    """

    name: str
    share: float
    evidence: str
    near: bool
    bounds_the_ceiling: bool = False
    grade: str = CERTAIN


def percent(share: float) -> str:
    """A share (0 to 1) in words."""
    return f"{100 * share:.0f} %"


def grade(is_certain: bool) -> str:
    """The grade of a limit."""
    return CERTAIN if is_certain else PROBABLE


def store_of(medians: Numbers) -> str:
    """The name of a case's store as a limit: FILE_SYSTEM if the lab made it, else DISK."""
    return FILE_SYSTEM if "made" in medians else DISK


def line_rate(link: ClientLink, wifi_bits_per_s: float | None, tcp: Numbers) -> dict[str, float]:
    """``line_bits_per_s``, and ``line_bytes_per_s``, the payload that it carries; empty if unknown.

    For Wi-Fi that is the whole rate of the radio, of which data gets a part. The speed of a tunnel means nothing.
    """
    bits_per_s = (wifi_bits_per_s if link.wireless else None) or link.bits_per_s
    mtu = link.mtu or MTU
    if link.tunnel or not bits_per_s or bits_per_s <= 0 or mtu <= HEADERS:
        return {}
    if link.wireless:
        return {"line_bits_per_s": bits_per_s, "line_bytes_per_s": bits_per_s / 8, "wifi": 1.0}
    mss = tcp.get("mss", 0)
    payload = mss if 0 < mss < mtu else mtu - HEADERS
    return {"line_bits_per_s": bits_per_s, "line_bytes_per_s": bits_per_s / 8 * payload / (mtu + FRAME)}


def filled_speed(link: ClientLink, bytes_per_s: float) -> float | None:
    """The speed of Ethernet in bits per second that a rate of payload fills; None if there is none."""
    for bits_per_s in STANDARD:
        line = line_rate(ClientLink(bits_per_s=bits_per_s, mtu=link.mtu), None, {})
        if line and FILLED_LEAST <= bytes_per_s / line["line_bytes_per_s"] <= FILLED_MOST:
            return bits_per_s
    return None


def speed_label(bits_per_s: float) -> str:
    """A speed in words, such as ``2.5 Gbit/s``."""
    return f"{bits_per_s / 1e9:g} Gbit/s" if bits_per_s >= 1e9 else f"{bits_per_s / 1e6:.3g} Mbit/s"
