"""Tools with options of their own over real servers: every byte, every level, and nothing left in the share."""

import csv
import json
from collections.abc import Callable
from itertools import product
from typing import Any

from support.local_lab import Bench


def test_dd_a_log_and_bands_over_all_that_is_mounted(bench: Bench) -> None:
    levels: dict[str, Any] = {"dd.bs": ["64 KiB", "1 MiB"], "append.bs": ["1 MiB"], "bands.bs": ["1 MiB"]}
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
    assert {"bs=65536", "bs=1048576"} <= set((folder / "commands.log").read_text().split())
    effects = json.loads(bench.lab("show", "--json").stdout)["effects"]
    assert {row["level"] for row in effects if row["factor"] == "dd.bs"} == {"1 MiB"}
    assert bench.lab("report", str(folder)).returncode == 0
    with (folder / "report" / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["protocol"] in protocols]
    assert {(row["tool"], row["dd.bs"]) for row in rows} == {
        ("dd", "64 KiB"), ("dd", "1 MiB"), ("append", "–"), ("bands", "–"),
    }  # fmt: skip


def test_fio_and_frames_say_how_long_requests_took_and_which_frames_came_late(bench: Bench) -> None:
    protocols = ["afp", "smb", "nfs"]
    levels: dict[str, Any] = {"fio.rw": ["random", "mixed"], "fio.jobs": [2], "fio.iodepth": [4], "frames.streams": [2]}
    done = bench.run(size="4 MiB", slowest=200_000, protocol=protocols, tool=["fio", "frames"], **levels)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
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
    assert bench.lab("report", str(bench.newest())).returncode == 0
    table = (bench.newest() / "report" / "table.csv").read_text()
    assert "observed.requests.read.p999_ms" in table.splitlines()[0]
    assert "How long requests took" in (bench.newest() / "report" / "report.html").read_text()


def test_the_most_streams_of_a_link_are_found_by_bisection(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "200mbit")
    levels: dict[str, Any] = {"frames.streams": ["most"], "frames.mbit_per_s": [40]}
    done = bench.run(size="8 MiB", protocol=["nfs"], tool=["frames"], direction=["read"], **levels)
    assert done.returncode == 0, done.stdout + done.stderr
    (trial,) = bench.trials()
    frames = trial["observed"]["frames"]
    assert frames["tried"]
    assert frames["most_streams"] <= 5  # 4.7 fit into what TCP can move of it; on a busy machine fewer come in time
    assert frames["streams"] == max(1, frames["most_streams"])
    assert (frames["late"] == 0) == (frames["most_streams"] > 0)
