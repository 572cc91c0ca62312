"""A thing that can limit a transfer: what it is called, how much of it was in use, and how sure that is."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.results.one_sided import ClientLink

UNCLEAR, LINK, WINDOW, ROUND_TRIPS = "unclear", "link", "latency × window", "protocol round trips"
DISK, FLUSH, DISTURBED = "disk", "flush to disk", "disturbed"
FILE_SYSTEM = "file system"  # of the lab's own, with what lies below it
LOSSES, SERVER = "lost packets", "the server or its disk"
CERTAIN, PROBABLE = "certain", "probable"

NEAR = 0.85  # share of a ceiling. A ceiling of seconds scatters, and at its start and flush a transfer fills no link
FAR_ABOVE = 1.15  # of a ceiling, by the same scatter: a faster transfer came from a cache
KIB = 1024

Numbers = Mapping[str, float]
FRAME = 38  # bytes on an Ethernet beside each packet: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)
HEADERS = 52  # bytes of IPv4 and of TCP with timestamps (RFC 9293, RFC 7323)
MTU = 1500  # where the interface does not say
STANDARD = (100_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000)  # bits per second of Ethernet
# of what a speed carries: file servers' own messages take some percent of it, and a shaper counts no gaps of Ethernet
FILLED_LEAST, FILLED_MOST = 0.93, 1.03


@dataclass(frozen=True)
class Limit:
    """One thing that may limit, how much of it was in use (0 to 1), and that as a sentence.

    ``near`` says whether it was so near its limit that it explains the rate; one that ``bounds_the_ceiling`` slows
    iperf3 down as well. ``grade`` is how sure it is, where it is near: CERTAIN or PROBABLE.
    """

    name: str
    share: float
    evidence: str
    near: bool
    bounds_the_ceiling: bool = False
    grade: str = CERTAIN


def percent(share: float) -> str:
    """A share of 1 as evidence has it."""
    return f"{100 * share:.0f} %"


def grade(is_certain: bool) -> str:
    """The grade of a limit that is near."""
    return CERTAIN if is_certain else PROBABLE


def store_limit(medians: Numbers) -> str:
    """What a case's store is called as a limit: FILE_SYSTEM where the lab made it, DISK where it was there."""
    return FILE_SYSTEM if "made" in medians else DISK


def line_rate(link: ClientLink, wifi_bits_per_s: float | None, tcp: Numbers) -> dict[str, float]:
    """``line_bits_per_s`` and ``line_bytes_per_s``, the payload that it carries; nothing where that is not known.

    Of Wi-Fi it is the rate of the radio, all of it: what is left for data differs, and is less. What a tunnel names as
    its speed is none.
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
    """The speed of Ethernet, in bits per second, of which a rate of payload takes all; None where there is none.

    Of a way on which this end names a higher speed, or none, it is most likely the speed of a narrower part.
    """
    for bits_per_s in STANDARD:
        line = line_rate(ClientLink(bits_per_s=bits_per_s, mtu=link.mtu), None, {})
        if line and FILLED_LEAST <= bytes_per_s / line["line_bytes_per_s"] <= FILLED_MOST:
            return bits_per_s
    return None


def speed_label(bits_per_s: float) -> str:
    """A speed as it stands on a box: ``100 Mbit/s``, ``2.5 Gbit/s``."""
    return f"{bits_per_s / 1e9:g} Gbit/s" if bits_per_s >= 1e9 else f"{bits_per_s / 1e6:.3g} Mbit/s"
