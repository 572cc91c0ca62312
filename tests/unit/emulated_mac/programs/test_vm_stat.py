"""What vm_stat of an emulated Mac prints, against what real ones printed."""

import re

import pytest
from support.emulated_programs import Run, capture

from emulated_mac import processes


def test_vm_stat_has_the_rows_and_the_columns_of_a_mac(mac: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"free": 4430, "active": 751091, "inactive": 749576, "wired": 207285}
    monkeypatch.setattr(processes, "read_memory_pages", lambda page: pages)
    events = dict.fromkeys(("pgfault", "pgpgin", "pgpgout", "pswpin", "pswpout"), 12817858289)
    monkeypatch.setattr(processes, "read_event_counts", lambda: events)
    printed = mac("15.5", "vm_stat", answers={"sysctl_read": "16384"})[1].splitlines()
    real = capture("vm_stat-16k-pages.txt").splitlines()
    assert printed[:4] == real[:4]
    assert {line for line in printed if line.startswith(("Pages wired", '"'))} <= set(real)
    assert {re.sub(r"\d+", "", line).replace(" ", "") for line in real[1:]} <= {
        re.sub(r"\d+", "", line).replace(" ", "") for line in printed
    }
