"""Runs of `lab measure` of many kinds, and that each is shown in full. Invented numbers, not measurements."""

import json
from pathlib import Path
from typing import Any

from lab.report import registry, terminal
from lab.report.analysis import Analysis
from lab.results import run_folder
from lab.results.run_folder import Trial
from support.one_sided_runs import LINK, TARGET, blocks, read, seen, write_measured

WIFI = LINK | {"medium": "wireless", "duplex": None, "bits_per_s": 433 * 10**6}
BOTH = [seen(92.0), read(108.0), seen(70.0, tool="rsync"), read(82.0, tool="rsync")]
MEASURES: dict[str, tuple[list[Trial], dict[str, Any]]] = {
    "both tools": (blocks(BOTH, 5), {}),
    "one block": (blocks(BOTH, 1), {}),
    "many blocks": (blocks(BOTH, 8), {}),
    "only writes": (blocks([seen(92.0)], 3), {}),
    "only reads": (blocks([read(92.0)], 3), {}),
    "100 Mbit/s": (blocks([seen(11.2), read(11.3)], 6), {"link": LINK | {"bits_per_s": 10**8}}),
    "Wi-Fi": (blocks([seen(31.0, client={"wifi_bits_per_s": 433 * 10**6}), read(33.0)], 3), {"link": WIFI}),
    "VPN": (blocks([seen(3.0), read(4.0)], 3), {"link": LINK | {"tunnel": True, "bits_per_s": 10**7}}),
    "nothing of the link": (blocks([seen(60.0), read(60.0)], 3), {"link": {}}),
    "nothing observed": (blocks([seen(60.0, observed={}), seen(60.0, direction="read", observed={})], 3), {}),
    "all failed": ([seen(status="failed", elapsed_s=None, client_cpu_s=None, reason="the disk is full")], {}),
    "half failed": ([*blocks([seen(60.0)], 2), seen(trial_id="x", status="void", reason="cached")], {}),
    "empty": ([], {}),
    "with a login": (blocks(BOTH, 3), {"hosts": {"client": {"hostname": "a"}, "server": {"hostname": "b"}}}),
}
# whose tables and JSON are unit tests: they lack what others have
LACKING = ("one block", "nothing observed", "all failed", "with a login")


def assert_shown_in_full(name: str, results: Path) -> None:
    """All tables and the JSON of one of MEASURES, which is written below ``results``."""
    trials, run = MEASURES[name]
    folder = write_measured(results, trials, **run)
    shown = terminal.show_json(folder)
    assert json.loads(json.dumps(shown, allow_nan=False))["run"]["target"] == TARGET
    analysis = Analysis(run_folder.load(folder.path))
    assert terminal.terminal_tables(analysis)
    for table in registry.OF_RUN:
        if table not in registry.FULL:
            terminal.terminal_tables(analysis, [table])
