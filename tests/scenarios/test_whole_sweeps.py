"""Whole sweeps with real servers and real mounts: every byte, each level of durability, and trees of many files."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.fake_host import EmulatedHost
from support.local_lab import HOSTS, SMALL, Bench, small_disk
from support.paths import ROOT

from lab import workloads
from lab.design.workload import Workload
from lab.hosts import Result
from lab.results import run_folder
from lab.results.trial import CEILINGS

PROTOCOLS = ["afp", "smb", "nfs", "ssh"]
SOURCES = {"kind": "tree", "profile": "source-tree", "size": "512 KiB"}


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
    if trial["protocol"] != "ssh":  # the connection of ssh has ended by then, and may be too short for a sample
        tcp = observed["tcp"]
        assert (tcp["pmtu"], tcp["mss"]) == (trial["mtu"], trial["mtu"] - 52)
        assert min(tcp["acked_bytes"], tcp["received_bytes"]) > size
        assert min(trial["effective"]["client_sndbuf"], trial["effective"]["server_sndbuf"]) > 0
        assert 0 < observed["wire"]["least_overhead"] < observed["wire"]["overhead"]
    # a machine that stalls for a moment causes a step in the rate or a failed mount; each is a remark
    assert len(observed["remarks"]) == ("rate_step" in observed) + ("mount_tries" in observed)
    assert writes == (client["tx_bytes"] > client["rx_bytes"])


def test_a_whole_sweep_is_true_to_the_bytes(bench: Bench) -> None:
    factors = {"protocol": PROTOCOLS, "tool": ["cp", "rsync"], "mtu": [1500, 9000]}
    done = bench.run(hosts=bench.with_ceilings(), size="8 MiB", **factors)
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
    assert [sample["trial_id"] for sample in samples] == [trial["trial_id"] for trial in trials]
    assert done.stdout.splitlines()[-1] == f"results/{folder.name}"
    shown = bench.check_output("show", "--full")
    assert "SMB" in shown
    assert "ceiling" in shown
    bench.check_output("report", str(folder))
    assert "local lab" in (folder / "report" / "report.html").read_text()
    given = bench.lab("contribute", str(folder), "--output", str(folder / "given"))
    flaws = [line for line in given.stderr.splitlines() if line.startswith("trials.jsonl: ")]
    assert given.returncode == bool(flaws), given.stderr
    # on a busy machine a test of the link may be slower than a transfer
    assert all("where no test of the link reached more than" in flaw for flaw in flaws), flaws
    command = [sys.executable, "-m", "lab", "notebook", "explore", str(folder), "--no-redact"]
    subprocess.run([*command, "--export", str(folder / "report/explore.html")], check=True, cwd=ROOT, timeout=300)
    assert (folder / "report" / "explore.html").stat().st_size > 100_000


def test_tcp_buffers_and_a_store_on_disk_take_effect(bench: Bench) -> None:
    for trial in bench.measure(protocol=["smb"], tool=["cp"], tcp_space=["64 KiB", "default"], store=["ram", "disk"]):
        largest = int(trial["effective"]["server_tcp_rmem"].split()[2])
        assert (largest == 65536) == (trial["tcp_space"] == 65536)


def test_a_sweep_by_time_moves_what_the_link_carries_in_that_time_also_when_resumed(bench: Bench) -> None:
    hosts = bench.with_ceilings()
    done = bench.run(hosts=hosts, blocks=2, direction=["write"], workload={"seconds": "0.2 s"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a trial moves " in done.stdout + done.stderr
    size = bench.run_json()["payload_bytes"]
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


@pytest.mark.parametrize(("protocols", "levels"), [(["nfs", "smb"], ["default", "async", "sync", "always"])])
def test_each_level_is_what_the_server_that_runs_is_at(bench: Bench, protocols: list[str], levels: list[str]) -> None:
    trials = bench.measure(protocol=protocols, server_sync=levels, tool=["cp"], direction=["write"], store=["disk"])
    assert len(trials) == len(protocols) * len(levels)
    for trial in trials:
        asked, effective = trial["options"]["server_sync"], trial["effective"]
        assert effective["server_sync"] == (asked if asked != "default" else "sync")
        assert effective["server_sync_by"]


def test_without_a_flush_the_time_ends_with_the_tool(bench: Bench) -> None:
    for trial in bench.measure(protocol=["smb"], tool=["cp"], client_sync=["fsync", "close"]):
        assert trial["effective"]["flushed"] == {"fsync": "fsync", "close": "none"}[trial["options"]["client_sync"]]
        flush_s = trial["observed"].get("flush_s")
        assert flush_s is None if trial["options"]["client_sync"] == "close" else 0 < flush_s < trial["elapsed_s"]
        assert trial["effective"].get("server_cache") == ("warm" if trial["direction"] == "read" else None)


@pytest.mark.parametrize("protocols", [["smb", "ssh"]])
def test_a_tree_moves_and_leaves_nothing(bench: Bench, tmp_path: Path, protocols: list[str]) -> None:
    source = tmp_path / "source"
    for number in range(300):
        folder = source / f"album {number % 5}" / str(number % 3)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.jpg").write_bytes(b"x" * (1 + 97 * number))
    (source / "empty").mkdir()
    (source / "link").symlink_to("empty")
    manifest = bench.directory / "tree.txt"
    recorded = bench.lab("workload", "record", str(source), str(manifest))
    assert recorded.stdout.startswith(f"{manifest}: 300 files of 4,350,750 bytes in 22 folders"), recorded.stderr
    before, tree = bench.state(), {"kind": "tree", "manifest": "tree.txt"}
    bench.measure(protocol=protocols, tool=["cp", "rsync", "tar"], client_sync=["close"], workload=tree)
    assert bench.state() == before
    loaded = run_folder.load(bench.newest())
    trials = loaded[~loaded["protocol"].isin(CEILINGS)]
    assert len(trials) == sum(4 if protocol == "ssh" else 6 for protocol in protocols)  # cp needs a mount
    assert trials["verified"].all()
    assert set(trials["files"]) == {300}
    moved = trials["wire_tx_bytes"].where(trials["direction"] == "write", trials["wire_rx_bytes"])
    assert (moved >= 4_350_750).all()
    rates = pd.DataFrame(json.loads(bench.check_output("show", "--json"))["files"])
    assert (rates["files_per_s"] > 1).all()
    asking = rates[rates["protocol"] != "ssh"].dropna(subset="round_trips_per_file")
    assert (asking["round_trips_per_file"] > 1).all()
    assert "round trips a file" in bench.lab("show", "--table", "files").stdout
    run = bench.newest()
    kept = (run / "trials.jsonl").read_text().splitlines()
    (run / "trials.jsonl").write_text("\n".join(kept[:-2]) + "\n")
    manifest.unlink()  # the run has its own copy
    bench.check_output("run", "--resume", str(run))
    assert {trial["workload"] for trial in bench.trials()} == {trials["workload"].iloc[0]}
    for host in HOSTS:
        assert bench.inside(host, "find / -xdev -name '*-*.bin' -newer /etc/hostname 2>/dev/null; :") == ""


def test_a_tree_that_finds_no_inodes_says_so_and_leaves_nothing(bench: Bench) -> None:
    with small_disk(bench, "nr_inodes=40"):
        factors = {"protocol": ["nfs"], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
        hosts = bench.changed_hosts(share_path=SMALL)
        done = bench.run(hosts=hosts, workload=SOURCES, client_sync=["close"], **factors)
        (trial,) = bench.trials()
        assert (done.returncode, trial["status"]) == (1, "failed"), done.stdout + done.stderr
        assert re.match(rf"server: no inodes: {SMALL}/\S+ takes only [0-9]+ more files; ", trial["reason"])
        assert bench.inside("server", f"find {SMALL} -mindepth 1") == ""


def test_ten_thousand_files_need_one_command_each_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = EmulatedHost(tmp_path, {}, ("perl",))
    workload = Workload(kind="tree", profile="source-tree", size="90 MiB")
    tree = workloads.payload("tree").of(workload)
    assert tree.files(workload.planned_size) > 10_000
    ran: list[object] = []

    def execute(*words: Any) -> Result:
        ran.append(words)
        return EmulatedHost._execute(host, *words)

    monkeypatch.setattr(host, "_execute", execute)
    tree.make(host, "top", workload.planned_size, "seed")
    tree.check(host, "top", workload.planned_size, "seed")
    assert len(ran) == 2
    assert sum(path.is_file() for path in (tmp_path / "top").rglob("*")) == tree.files(workload.planned_size)
