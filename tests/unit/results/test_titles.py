"""Which words of a title may be names: it is the most public text of a run."""

import pytest
from support.synthetic_runs import LABEL

from lab.results.titles import doubtful_words

MACHINES = [
    "two Mac minis, 10 GbE", "MacBook Pro M4 and Synology DS920+ over Wi-Fi 6E", "host-1 to share-2", "", LABEL,
    "Mac mini (2018, i7-8700B) to QNAP TS-453D, RAID 5", "Terramaster F4-423 (N5095), 2.5 Gbit/s, MTU 9000",
    "local lab on host-1: link of 1 Gbit/s, delay 0.1 ms",
]  # fmt: skip


@pytest.mark.parametrize(("title", "names"), [
    ("Mac mini of Robert Smith, WiFi BobsWiFi-5G", ["Robert", "Smith", "BobsWiFi-5G"]),
    ("Anna’s NAS in Köln", ["Anna’s", "Köln"]),
    ("home of the Müllers", ["Müllers"]),
    *((title, []) for title in MACHINES),
])  # fmt: skip
def test_names_are_doubted_and_machines_are_not(title: str, names: list[str]) -> None:
    assert doubtful_words(title) == names
