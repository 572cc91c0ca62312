"""Stores on real hosts: their ceilings, how far they are filled, and how often a server flushes."""

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from scenarios import test_whole_sweeps as whole_sweeps
from support.again import again
from support.local_lab import Bench, end
from support.served_shares import PROGRAM, during_a_run

from lab.base.present import present
from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.run.ceilings import store_ceiling

SHOTS = ("write", "write-2", "write-3", "memory-write", "read", "read-2", "read-3", "memory-read")
# waits until bonnie++ writes
BONNIE_RUNS = """
tries=0
until pgrep -x 'bonnie[+]*' >/dev/null && find /srv/disk -name 'Bonnie*' | grep -q .; do
    sleep 0.05; tries=$((tries + 1)); [ $tries -lt 1200 ] || exit 1
done
"""
ALONE = """
name = "alone"
blocks = 2
[workload]
size = "4 MiB"
[factors]
protocol = ["local"]
store = ["disk", "ext4"]
"""


def test_dd_three_times_fio_and_bonnie_once_a_block_and_known_to_every_trial_on_that_disk(bench: Bench) -> None:
    keys: dict[str, Any] = {"store_tools": ["dd", "fio", "bonnie++"], "bonnie_size": "64 MiB"}
    moved_trials = bench.measure(protocol=["ssh", "smb"], store=["ram", "disk"], size="8 MiB", **keys)
    rows = {row.trial_id: row for row in RunFolder(bench.newest()).trials() if row.protocol == "store"}
    of_dd = {f"b001-store-{name}" for name in SHOTS}
    assert set(rows) == of_dd | {f"b001-store-{name}" for name in ("fio-read", "fio-write", "bonnie++")}
    for name, row in rows.items():
        assert (row.status, row.store) == ("ok", "disk"), row.reason
        assert present(row.observed.server).cores
        assert row.size_bytes == 8 * 2**20 or name not in of_dd
    for moved in moved_trials:
        known = {name: value for name, value in moved["observed"].items() if name.startswith("store_ceiling")}
        shots = [row for row in rows.values() if (row.tool, row.direction) == ("dd", moved["direction"])]
        assert len(shots) == 3
        assert known == (store_ceiling.add_ceiling(Observed(), shots).to_json() if moved["store"] == "disk" else {})
        assert moved["store"] == "ram" or known["store_ceiling_bytes_per_s"] > 0
    bonnie = present(rows["b001-store-bonnie++"].observed.bonnie)
    assert (bonnie.cached, bonnie.file_bytes) == (True, 64 * 2**20)
    assert present(bonnie.write_char).bytes_per_s
    assert rows["b001-store-fio-read"].observed.requests
    assert bench.inside("server", "ls -A /srv/disk") == ""
    shown = bench.lab("show", "--table", "store").stdout
    assert "bonnie++: written byte by byte (cached)" in shown
    assert "dd: written and flushed" in shown
    bench.check_output("report", str(bench.newest()))
    assert "The store by itself" in (bench.newest() / "report" / "report.html").read_text()


def test_bonnie_and_its_files_are_gone_after_its_run_was_killed(bench: Bench) -> None:
    with bench.started_run(store=["disk"], size="1 MiB", store_tools=["bonnie++"], bonnie_size="64 MiB") as process:
        bench.inside("server", BONNIE_RUNS)
        assert end(process, signal.SIGKILL)[0] == -signal.SIGKILL
    bench.wait_until_free()
    bench.inside("server", BONNIE_RUNS)  # bonnie takes no notice of a connection that ends
    bench.check_output("restore")
    assert bench.inside("server", "ls -A /srv/disk") == ""


def test_a_resumed_run_measures_it_once_a_block_too(bench: Bench) -> None:
    bench.measure(store=["disk"])
    path = bench.newest() / "trials.jsonl"
    whole = path.read_text().splitlines()
    kept = [line for line in whole if json.loads(line)["direction"] == "write" or json.loads(line)["protocol"] != "ssh"]
    assert len(kept) == len(whole) - 1
    path.write_text("\n".join(kept) + "\n")
    bench.check_output("run", "--resume", str(bench.newest()))
    ids = [trial.trial_id for trial in RunFolder(bench.newest()).trials()]
    assert len(ids) == len(set(ids)) == len(whole)


def test_stores_alone_are_measured_without_a_share_and_a_resumed_run_goes_on_where_it_ended(bench: Bench) -> None:
    path = bench.directory / "alone.toml"
    path.write_text(ALONE)
    before = bench.state()
    bench.check_output("run", "--hosts", str(bench.hosts), str(path))
    trials = RunFolder(bench.newest()).trials()
    kinds = {(row.protocol, row.tool, row.status) for row in trials}
    assert kinds == {("local", "dd", "ok"), ("store", "memory", "ok")}
    made = [row for row in trials if row.store == "ext4"]
    assert all("ext4" in (row.effective.server_store or "") for row in made)
    assert bench.inside("server", "ls -A /srv/disk") == ""
    assert bench.state() == before
    file = bench.newest() / "trials.jsonl"
    kept = [line for line in file.read_text().splitlines() if "b002-store-ext4-" not in line]
    file.write_text("\n".join(kept) + "\n")
    bench.check_output("run", "--resume", str(bench.newest()))
    assert {row.trial_id for row in RunFolder(bench.newest()).trials()} == {row.trial_id for row in trials}
    assert "store disk → ext4" in bench.lab("show", "--table", "effects").stdout


def test_a_file_system_is_filled_before_its_trial_as_far_as_asked(bench: Bench) -> None:
    hosts = bench.changed_hosts(share_image_size="400 MiB")
    levels: dict[str, Any] = {"store": ["xfs"], "xfs.fill": [90]}
    (trial,) = bench.measure(hosts=hosts, protocol=["smb"], tool=["cp"], direction=["write"], **levels)
    assert (trial["status"], trial["effective"]["xfs.fill"]) == ("ok", "90"), trial["reason"]
    filled = present(re.search(r"; filled to ([0-9.]+) %$", trial["effective"]["server_store"]))
    assert abs(float(filled[1]) - 90) < 2


test_each_level_of_afp_is_what_its_server_is_at = again(
    whole_sweeps.test_each_level_is_what_the_server_that_runs_is_at,
    "protocols, levels",
    (["afp"], ["default", "async", "sync"]),
)


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("protocol", ["nfs", "smb"])
def test_always_flushes_every_write_and_sync_at_most_the_file(bench: Bench, tmp_path: Path, protocol: str) -> None:
    flushes, writes = {}, {}
    for level in ("sync", "always"):
        log = tmp_path / level

        def trace(found: list[str], log: Path = log) -> None:
            argv = ["strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync,pwrite64,pwritev", "-o", str(log)]
            subprocess.run([*argv, "-p", ",".join(found)], capture_output=True, timeout=120, check=False)

        factors = {"protocol": [protocol], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
        during_a_run(bench, PROGRAM[protocol], trace, server_sync=[level], **factors)
        calls = re.findall(r"^.*\(\d+<[^>]*b001-0001-[0-9a-f]+\.bin", log.read_text(), re.MULTILINE)
        flushes[level] = sum("sync(" in call for call in calls)
        writes[level] = len(calls) - flushes[level]
    assert min(writes.values()) >= 4
    assert flushes["sync"] <= 2
    assert flushes["always"] >= writes["always"]
