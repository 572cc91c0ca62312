"""Whole sweeps with real servers and real mounts, true to the bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench

EVERYTHING: dict[str, Any] = {
    "size": "8 MiB",
    "protocol": ["afp", "smb", "nfs", "ssh"],
    "tool": ["cp", "rsync"],
    "mtu": [1500, 9000],
}


def check_observed(trial: dict[str, Any]) -> None:
    """Both hosts' counts agree with the trial and with each other."""
    observed, size, writes = trial["observed"], trial["size_bytes"], trial["direction"] == "write"
    client, server = observed["client"], observed["server"]
    assert (client["tx_bytes"], client["rx_bytes"]) == (trial["wire_tx_bytes"], trial["wire_rx_bytes"])
    assert abs(client["tx_bytes"] - server["rx_bytes"]) + abs(server["tx_bytes"] - client["rx_bytes"]) < 65536
    for name, side in (("client", client), ("server", server)):
        assert side["cpu_cores"] == pytest.approx(trial[f"{name}_cpu_s"] / trial["elapsed_s"], abs=0.001)
        assert sum(side[part] or 0 for part in ("user", "system", "softirq", "iowait", "steal")) < 1.01
        assert side["peak_bytes_per_s"] * trial["elapsed_s"] > 0.9 * size
    if trial["protocol"] != "ssh":  # that connection has ended when it is looked at, and may be too short for a sample
        tcp = observed["tcp"]
        assert (tcp["pmtu"], tcp["mss"]) == (trial["mtu"], trial["mtu"] - 52)
        assert min(tcp["acked_bytes"], tcp["received_bytes"]) > size
        assert min(trial["effective"]["client_sndbuf"], trial["effective"]["server_sndbuf"]) > 0
        assert 0 < observed["wire"]["least_overhead"] < observed["wire"]["overhead"]
    # a machine that stands still for a moment makes a step in the rate, or a mount fail once; each is a remark
    assert len(observed["remarks"]) == ("rate_step" in observed) + ("mount_tries" in observed)
    assert writes == (client["tx_bytes"] > client["rx_bytes"])


def test_a_whole_sweep_is_true_to_the_bytes(bench: Bench, executed: Callable[[Path, Path], None]) -> None:
    done = bench.run(hosts=bench.with_ceilings(), **EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    assert len(trials) == 28
    for trial in trials:
        assert trial["status"] == "ok", trial["reason"]
        assert trial["verified"]
        wire = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= wire <= 1.3 * trial["size_bytes"]
        effective = trial["effective"]
        assert effective["client_mtu"] == effective["server_mtu"] == str(trial["mtu"])
        assert effective["mount"] in ("gvfs", "kernel", "none")
        assert effective["dialect"]
        assert effective["clock"] == "monotonic"
        assert trial["client_cpu_s"] > 0
        assert trial["server_cpu_s"] > 0
        assert trial["ceiling_bytes_per_s"] > 0
        check_observed(trial)
    folder = bench.newest()
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert [each["trial_id"] for each in samples] == [trial["trial_id"] for trial in trials]
    assert done.stdout.splitlines()[-1] == f"results/{folder.name}"
    shown = bench.lab("show", "--full")
    assert "SMB" in shown.stdout
    assert "ceiling" in shown.stdout
    reported = bench.lab("report", str(folder))
    assert reported.returncode == 0, reported.stderr
    assert "local lab" in (folder / "report" / "report.html").read_text()
    given = bench.lab("contribute", str(folder), "--output", str(bench.directory / "given"))
    assert given.returncode == 0, given.stdout + given.stderr
    executed(folder, folder / "report")
    assert (folder / "report" / "explore.html").stat().st_size > 100_000


def test_tcp_buffers_and_a_store_on_disk_take_effect(bench: Bench) -> None:
    done = bench.run(protocol=["smb"], tool=["cp"], tcp_space=["64 KiB", "default"], store=["ram", "disk"])
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in bench.trials():
        largest = int(trial["effective"]["server_tcp_rmem"].split()[2])
        assert (largest == 65536) == (trial["tcp_space"] == 65536)


def test_a_sweep_that_says_for_how_long_moves_what_the_link_takes_so_long_for_also_when_resumed(bench: Bench) -> None:
    sweep = bench.sweep(blocks=2, direction=["write"])
    sweep.write_text(sweep.read_text().replace('size = "4 MiB"', 'seconds = "0.2 s"'))
    done = bench.lab("run", "--hosts", str(bench.with_ceilings()), str(sweep))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a trial moves " in done.stdout + done.stderr
    size = json.loads((bench.newest() / "run.json").read_text())["payload_bytes"]
    path = bench.newest() / "trials.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    first = [shot for shot in map(json.loads, lines[:2]) if shot["protocol"] == "link"]
    rate = max(shot["size_bytes"] / shot["elapsed_s"] for shot in first)
    assert 0.2 * rate <= size + 2**20 < 0.4 * rate + 2**21
    path.write_text("".join(line for line in lines if not json.loads(line)["trial_id"].startswith("b002")))
    resumed = bench.lab("run", "--resume", str(bench.newest()))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "a trial moves " not in resumed.stdout + resumed.stderr
    assert [trial["size_bytes"] for trial in bench.trials()] == [size, size]
