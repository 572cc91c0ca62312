"""What hosts say of their Wi-Fi. The shapes are those of public samples; no output of a host of our own has any."""

from __future__ import annotations

import plistlib

import pytest

from lab.platforms.findings import Radio
from lab.platforms.linux.parsers import parse_radio
from lab.platforms.macos.wifi import parse_airport, parse_uplink

IW = """\
Connected to 02:00:00:00:00:01 (on wlan0)
\tSSID: home
\tfreq: 5180
\tRX: 2187 bytes (14 packets)
\tTX: 1450 bytes (9 packets)
\tsignal: -54 dBm
\trx bitrate: 780.0 MBit/s VHT-MCS 8 80MHz short GI VHT-NSS 2
\ttx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2
"""
ROW = " wlan0: 0000   60.  -50.  {}        0      0      0      0     24        0\n"


def airport(**network: object) -> str:
    """As system_profiler prints it, with another card and another network beside."""
    other = {"_name": "neighbour", "spairport_signal_noise": "-30 dBm / -90 dBm", "spairport_network_rate": 54}
    cards = [
        {"_name": "awdl0", "spairport_current_network_information": other},
        {
            "_name": "en0", "spairport_airport_other_local_wireless_networks": [other],
            "spairport_current_network_information": {"_name": "<redacted>", **network},
        },
    ]  # fmt: skip
    return plistlib.dumps([{"_items": [{"spairport_airport_interfaces": cards}]}]).decode()


def test_a_mac_says_signal_noise_and_rate_of_the_network_that_it_is_in() -> None:
    said = airport(spairport_signal_noise="-54 dBm / -92 dBm", spairport_network_rate=866)
    assert parse_airport(said, "en0") == Radio(866_000_000, -54, -92)
    assert parse_airport(said, "en1") == Radio()
    assert parse_airport(airport(spairport_network_rate="585"), "en0") == Radio(585_000_000)
    assert parse_airport(airport(spairport_signal_noise="soon", spairport_network_rate=-1), "en0") == Radio()
    with pytest.raises(ValueError, match="not a property list"):
        parse_airport("Wi-Fi:\n", "en0")


@pytest.mark.parametrize(
    ("line", "bits_per_s"),
    [
        ("uplink rate: 20.09 Mbps [eff] / 21.60 Mbps", 21_600_000),
        ("uplink rate: 866.70 Mbps [eff] / 1.20 Gbps", 1_200_000_000),
        ("uplink rate: 25.10 Mbps [eff] / 27.00 Mbps [tbr] / 1.00 Gbps [max]", 1_000_000_000),
        ("uplink rate: 54.00 Mbps", 54_000_000),
        ("downlink rate: 20.09 Mbps [eff] / 21.60 Mbps [max]", None),
    ],
)
def test_a_macs_radio_sends_at_the_last_rate_of_its_line(line: str, bits_per_s: int | None) -> None:
    assert parse_uplink(f"en0: flags=8863<UP> mtu 1500\n\ttype: Wi-Fi\n\t{line}\n") == bits_per_s


def test_linux_tells_by_iw_and_by_the_kernels_old_table_what_either_has() -> None:
    assert parse_radio(IW) == Radio(866_700_000, -54)
    assert parse_radio(IW + ROW.format("-92. ")) == Radio(866_700_000, -54, -92)
    assert parse_radio(ROW.format("-256.")) == Radio(None, -50)
    assert parse_radio("Not connected.\n") == Radio()
