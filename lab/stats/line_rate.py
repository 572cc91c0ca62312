"""What a link carries by the speed that the client's interface names, where no iperf3 has measured it."""

from __future__ import annotations

from lab.results.one_sided import ClientLink
from lab.stats.limit import Numbers

FRAME = 38  # bytes on an Ethernet beside each packet: preamble 8, header 14, checksum 4, gap 12 (IEEE 802.3)
HEADERS = 52  # bytes of IPv4 and of TCP with timestamps (RFC 9293, RFC 7323)
MTU = 1500  # where the interface does not say
STANDARD = (100_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000)  # bits per second of Ethernet
# of what a speed carries: file servers' own messages take some percent of it, and a shaper counts no gaps of Ethernet
FILLED_LEAST, FILLED_MOST = 0.93, 1.03


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
