"""Trees of many files: second copies, and names alone."""

import json
from pathlib import Path

from scenarios.test_trees import test_a_tree_moves_and_leaves_nothing as check_that_a_tree_moves
from support.local_lab import Bench
from support.trees import PHASES, SWEEP


def test_a_tree_moves_over_every_protocol(bench: Bench, tmp_path: Path) -> None:
    check_that_a_tree_moves(bench, tmp_path, ["afp", "smb", "nfs", "ssh"])


def test_of_a_second_copy_only_the_changed_files_move(bench: Bench) -> None:
    tree = 'profile = "mail"\nsize = "4 MiB"\nchanged = 0.01'
    sweep = SWEEP.format(tree=tree, protocols='["smb", "nfs", "ssh"]').replace('["cp", "rsync", "tar"]', '["rsync"]')
    (bench.directory / "again.toml").write_text(sweep)
    before = bench.state()
    done = bench.lab("run", "--hosts", str(bench.hosts), "again.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.state() == before
    trials = bench.trials()
    assert len(trials) == 6
    for trial in trials:
        assert (trial["workload"], trial["verified"]) == ("tree mail, 1 % changed", True)
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 2_000_000, trial  # the tree has 4 MiB


def test_names_are_made_found_listed_renamed_and_removed_over_all_that_is_mounted(bench: Bench) -> None:
    (bench.directory / "phases.toml").write_text(PHASES)
    before = bench.state()
    done = bench.lab("run", "--hosts", str(bench.hosts), "phases.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.state() == before
    trials = bench.trials()
    assert len(trials) == 3 * 5
    for trial in trials:
        phase, files = trial["options"]["metadata.phase"], trial["files"]
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        assert trial["workload"] == f"names of tree source-tree, {phase}"
        way = "read" if phase == "list" else "write"
        assert trial["direction"] == way
        calls = trial["observed"]["requests"][way]
        assert calls["runtime_s"] == trial["elapsed_s"]
        assert files > 50
        assert (calls["requests"] == files) == (phase != "list")  # a call lists a folder
        wire = trial["wire_rx_bytes" if phase == "list" else "wire_tx_bytes"]
        assert trial["size_bytes"] <= wire < files * 8192
    rates = {
        (row["protocol"], row["metadata.phase"]): row for row in json.loads(bench.lab("show", "--json").stdout)["files"]
    }
    assert all(row["files_per_s"] > 1 for row in rates.values())
    for protocol in ("afp", "smb", "nfs"):
        trips = {phase: rates[protocol, phase]["round_trips_per_file"] for phase in ("create", "stat", "list")}
        assert trips["create"] > trips["stat"] >= 1
        assert trips["list"] < trips["stat"]
    assert "With metadata, MB/s are of names" in bench.lab("show", "--table", "files").stdout
    assert "Only names were moved" in bench.lab("show", "--full").stdout
    assert bench.lab("report", str(bench.newest())).returncode == 0
