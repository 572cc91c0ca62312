"""Tools with options of their own and trees over real servers: every byte and level, and nothing left in the share."""

import csv
import json
from collections.abc import Callable
from itertools import product
from typing import Any

from scenarios import test_whole_sweeps as whole_sweeps
from support.again import again
from support.local_lab import Bench

FACTORS = ("protocol", "tool", "direction")
PHASES = ["create", "stat", "list", "rename", "delete"]


def test_dd_a_log_and_bands_over_all_that_is_mounted(bench: Bench) -> None:
    levels: dict[str, Any] = {"dd.bs": ["64 KiB", "1 MiB"], "append.bs": ["1 MiB"], "bands.bs": ["1 MiB"]}
    protocols = ["afp", "smb", "nfs"]
    trials = bench.measure(size="8 MiB", protocol=protocols, tool=["dd", "append", "bands"], **levels)
    asked = [*product(["dd"], ["write", "read"], levels["dd.bs"]), *product(["append", "bands"], ["write"], ["1 MiB"])]
    kinds = [(*map(trial.get, FACTORS), trial["options"][f"{trial['tool']}.bs"]) for trial in trials]
    assert sorted(kinds) == sorted((protocol, *kind) for protocol in protocols for kind in asked)
    for trial in trials:
        assert trial["status"] == "ok", trial["reason"]
        assert trial["verified"]
        wire = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= wire <= 1.3 * trial["size_bytes"]
    folder = bench.newest()
    assert {"bs=65536", "bs=1048576"} <= set((folder / "commands.log").read_text().split())
    effects = json.loads(bench.lab("show", "--json").stdout)["effects"]
    assert {row["level"] for row in effects if row["factor"] == "dd.bs"} == {"1 MiB"}
    bench.check_output("report", str(folder))
    with (folder / "report" / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["protocol"] in protocols]
    levels_of_dd = {(row["tool"], row["dd.bs"]) for row in rows}
    assert levels_of_dd == {("dd", "64 KiB"), ("dd", "1 MiB"), ("append", "–"), ("bands", "–")}


def test_fio_and_frames_say_how_long_requests_took_and_which_frames_came_late(bench: Bench) -> None:
    protocols = ["afp", "smb", "nfs"]
    levels: dict[str, Any] = {"fio.rw": ["random", "mixed"], "fio.jobs": [2], "fio.iodepth": [4], "frames.streams": [2]}
    trials = bench.measure(size="4 MiB", slowest=200_000, protocol=protocols, tool=["fio", "frames"], **levels)
    assert len(trials) == len(protocols) * (3 + 2)
    for trial in trials:
        assert trial["status"] == "ok", trial["reason"]
        assert trial["verified"] == ((trial["tool"], trial["direction"]) != ("fio", "read"))
        if trial["tool"] == "frames":
            frames = trial["observed"]["frames"]
            assert (frames["streams"], frames["frames"]) == (2, 5)  # of 920 kB
            continue
        requests = trial["observed"]["requests"]
        assert sum(way["bytes"] for way in requests.values()) == trial["size_bytes"]
        assert sum(way["requests"] for way in requests.values()) == trial["size_bytes"] // 4096
        assert trial["effective"]["tool_version"].startswith("fio-3.")
        assert (len(requests) == 2) == (trial["options"]["fio.rw"] == "mixed")
        for way, counted in requests.items():
            wire = trial["wire_tx_bytes" if way == "write" else "wire_rx_bytes"]
            assert wire >= counted["bytes"]
            assert 0 < counted["p50_ms"] <= counted["p999_ms"] < 1000 * trial["elapsed_s"]
            assert counted["runtime_s"] < trial["elapsed_s"]
    shown = json.loads(bench.lab("show", "--json").stdout)
    assert len(shown["requests"]) == 4 * len(protocols)
    assert len(shown["frames"]) == 2 * len(protocols)
    assert "99.9 %" in bench.lab("show", "--full").stdout
    bench.check_output("report", str(bench.newest()))
    table = (bench.newest() / "report" / "table.csv").read_text()
    assert "observed.requests.read.p999_ms" in table.splitlines()[0]
    assert "How long requests took" in (bench.newest() / "report" / "report.html").read_text()


def test_the_most_streams_of_a_link_are_found_by_bisection(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "200mbit")
    levels: dict[str, Any] = {"frames.streams": ["most"], "frames.mbit_per_s": [40]}
    (trial,) = bench.measure(size="8 MiB", protocol=["nfs"], tool=["frames"], direction=["read"], **levels)
    frames = trial["observed"]["frames"]
    assert frames["tried"]
    assert frames["most_streams"] <= 5  # 4.7 fit into what TCP can move of it; on a busy machine fewer come in time
    assert frames["streams"] == max(1, frames["most_streams"])
    assert (frames["late"] == 0) == (frames["most_streams"] > 0)


test_a_tree_moves_over_every_protocol = again(
    whole_sweeps.test_a_tree_moves_and_leaves_nothing, "protocols", ["afp", "smb", "nfs", "ssh"]
)


def test_of_a_second_copy_only_the_changed_files_move(bench: Bench) -> None:
    tree = {"kind": "tree", "profile": "mail", "size": "4 MiB", "changed": 0.01}
    trials = bench.measure(protocol=["smb", "nfs", "ssh"], client_sync=["close"], workload=tree)
    assert len(trials) == 6
    for trial in trials:
        assert (trial["workload"], trial["verified"]) == ("tree mail, 1 % changed", True)
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 2_000_000, trial  # the tree has 4 MiB


def test_names_are_made_found_listed_renamed_and_removed_over_all_that_is_mounted(bench: Bench) -> None:
    factors: dict[str, Any] = {"tool": ["metadata"], "client_sync": ["close"], "metadata.phase": PHASES}
    trials = bench.measure(protocol=["afp", "smb", "nfs"], workload=whole_sweeps.SOURCES, **factors)
    assert len(trials) == 3 * 5
    for trial in trials:
        phase, files = trial["options"]["metadata.phase"], trial["files"]
        assert (trial["status"], trial["verified"]) == ("ok", True), trial["reason"]
        assert trial["workload"] == f"names of tree source-tree, {phase}"
        assert trial["direction"] == ("read" if phase == "list" else "write")
        calls = trial["observed"]["requests"][trial["direction"]]
        assert calls["runtime_s"] == trial["elapsed_s"]
        assert files > 50
        assert (calls["requests"] == files) == (phase != "list")  # a call lists a folder
        wire = trial["wire_rx_bytes" if phase == "list" else "wire_tx_bytes"]
        assert trial["size_bytes"] <= wire < files * 8192
    rows = json.loads(bench.lab("show", "--json").stdout)["files"]
    rates = {(row["protocol"], row["metadata.phase"]): row for row in rows}
    assert all(row["files_per_s"] > 1 for row in rates.values())
    for protocol in ("afp", "smb", "nfs"):
        trips = {phase: rates[protocol, phase]["round_trips_per_file"] for phase in ("create", "stat", "list")}
        assert trips["create"] > trips["stat"] >= 1
        assert trips["list"] < trips["stat"]
    assert "With metadata, MB/s are of names" in bench.lab("show", "--table", "files").stdout
    assert "Only names were moved" in bench.lab("show", "--full").stdout
    bench.check_output("report", str(bench.newest()))
