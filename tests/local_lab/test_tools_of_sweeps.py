"""Tools with options of their own over real servers: every byte, every level, and nothing left in the share."""

from __future__ import annotations

import csv
import json
from itertools import product

from support.local_lab import Bench


def test_dd_a_log_and_bands_over_all_that_is_mounted(bench: Bench) -> None:
    levels = {"dd.bs": ["64 KiB", "1 MiB"], "append.bs": ["1 MiB"], "bands.bs": ["1 MiB"]}
    protocols = ["afp", "smb", "nfs"]
    done = bench.run(size="8 MiB", protocol=protocols, tool=["dd", "append", "bands"], **levels)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    asked = [*product(["dd"], ["write", "read"], levels["dd.bs"]), *product(["append", "bands"], ["write"], ["1 MiB"])]
    kinds = [
        (trial["protocol"], trial["tool"], trial["direction"], trial["options"][f"{trial['tool']}.bs"])
        for trial in trials
    ]
    assert sorted(kinds) == sorted((protocol, *kind) for protocol in protocols for kind in asked)
    for trial in trials:
        assert trial["status"] == "ok", trial["reason"]
        assert trial["verified"]
        wire = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= wire <= 1.3 * trial["size_bytes"]
    folder = bench.newest()
    assert {"bs=65536", "bs=1048576"} <= {word for line in (folder / "commands.log").open() for word in line.split()}
    effects = json.loads(bench.lab("show", "--json").stdout)["effects"]
    assert {row["level"] for row in effects if row["factor"] == "dd.bs"} == {"1 MiB"}
    assert bench.lab("report", str(folder)).returncode == 0
    with (folder / "report" / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["protocol"] in protocols]
    assert {(row["tool"], row["dd.bs"]) for row in rows} == {
        ("dd", "64 KiB"), ("dd", "1 MiB"), ("append", "–"), ("bands", "–"),
    }  # fmt: skip
