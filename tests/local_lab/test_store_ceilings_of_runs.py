"""The server's own store, measured by itself, on real hosts."""

from __future__ import annotations

import json

from support.local_lab import Bench

from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.run import store_ceiling


def test_once_a_block_and_known_to_every_trial_on_that_disk(bench: Bench) -> None:
    done = bench.run(protocol=["ssh", "smb"], store=["ram", "disk"], blocks=2, size="8 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    ceilings = {each.trial_id: each for each in RunFolder(bench.newest()).trials() if each.protocol == "store"}
    assert set(ceilings) == {f"b{block:03d}-store-{way}" for block in (1, 2) for way in ("write", "read")}
    for each in ceilings.values():
        assert (each.status, each.tool, each.store, each.size_bytes) == ("ok", "disk", "disk", 8 * 2**20), each.reason
        assert each.observed.server
        assert each.observed.server.cores
    for moved in bench.trials():
        known = {name: value for name, value in moved["observed"].items() if name.startswith("store_ceiling")}
        ceiling = ceilings[f"b{moved['block']:03d}-store-{moved['direction']}"]
        assert known == (store_ceiling.add_ceiling(Observed(), ceiling).to_json() if moved["store"] == "disk" else {})
        assert moved["store"] == "ram" or known["store_ceiling_bytes_per_s"] > 0
    assert bench.inside("server", "ls -A /srv/disk") == ""


def test_a_resumed_run_measures_it_once_a_block_too(bench: Bench) -> None:
    assert bench.run(store=["disk"]).returncode == 0
    path = bench.newest() / "trials.jsonl"
    whole = path.read_text().splitlines()
    kept = [line for line in whole if json.loads(line)["direction"] == "write" or json.loads(line)["protocol"] != "ssh"]
    assert len(kept) == len(whole) - 1
    path.write_text("\n".join(kept) + "\n")
    assert bench.lab("run", "--resume", str(bench.newest())).returncode == 0
    ids = [each.trial_id for each in RunFolder(bench.newest()).trials()]
    assert len(ids) == len(set(ids)) == len(whole)
