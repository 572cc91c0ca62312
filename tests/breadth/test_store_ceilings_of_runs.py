"""The server's own store, measured by itself, on real hosts."""

import json
import signal
from pathlib import Path
from typing import Any

from support.local_lab import Bench, end

from lab.results.observed import Observed
from lab.results.run_folder import RunFolder
from lab.run.ceilings import store_ceiling

SHOTS = ("write", "write-2", "write-3", "memory-write", "read", "read-2", "read-3", "memory-read")
# it has begun to write
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
TOOLS = {"store_tools": ["dd", "fio", "bonnie++"], "bonnie_size": "64 MiB"}


def sweep_of(bench: Bench, keys: dict[str, Any], **factors: Any) -> Path:
    """A sweep file with these keys and factors."""
    path = bench.sweep(**factors)
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    path.write_text(lines + path.read_text())
    return path


def test_dd_three_times_fio_and_bonnie_once_a_block_and_known_to_every_trial_on_that_disk(bench: Bench) -> None:
    path = sweep_of(bench, TOOLS, protocol=["ssh", "smb"], store=["ram", "disk"], size="8 MiB")
    before = bench.state()
    done = bench.lab("run", "--hosts", str(bench.hosts), str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row.trial_id: row for row in RunFolder(bench.newest()).trials() if row.protocol == "store"}
    of_dd = {f"b001-store-{name}" for name in SHOTS}
    assert set(rows) == of_dd | {f"b001-store-{name}" for name in ("fio-read", "fio-write", "bonnie++")}
    for name, row in rows.items():
        assert (row.status, row.store) == ("ok", "disk"), row.reason
        assert row.observed.server
        assert row.observed.server.cores
        assert row.size_bytes == 8 * 2**20 or name not in of_dd
    for moved in bench.trials():
        known = {name: value for name, value in moved["observed"].items() if name.startswith("store_ceiling")}
        shots = [row for row in rows.values() if (row.tool, row.direction) == ("dd", moved["direction"])]
        assert len(shots) == 3
        assert known == (store_ceiling.add_ceiling(Observed(), shots).to_json() if moved["store"] == "disk" else {})
        assert moved["store"] == "ram" or known["store_ceiling_bytes_per_s"] > 0
    bonnie = rows["b001-store-bonnie++"].observed.bonnie
    assert bonnie
    assert bonnie.cached
    assert bonnie.file_bytes == 64 * 2**20
    assert bonnie.write_char
    assert bonnie.write_char.bytes_per_s
    assert rows["b001-store-fio-read"].observed.requests
    assert bench.inside("server", "ls -A /srv/disk") == ""
    assert bench.state() == before
    shown = bench.lab("show", "--table", "store").stdout
    assert "bonnie++: written byte by byte (cached)" in shown
    assert "dd: written and flushed" in shown
    assert bench.lab("report", str(bench.newest())).returncode == 0
    assert "The store by itself" in (bench.newest() / "report" / "report.html").read_text()


def test_of_a_run_that_is_killed_under_bonnie_neither_its_files_nor_itself_stay(bench: Bench) -> None:
    path = sweep_of(bench, {**TOOLS, "store_tools": ["bonnie++"]}, store=["disk"], size="1 MiB")
    before = bench.state()
    with bench.started("run", "--hosts", str(bench.hosts), str(path)) as process:
        bench.inside("server", BONNIE_RUNS)
        assert end(process, signal.SIGKILL)[0] == -signal.SIGKILL
    bench.wait_until_free()
    bench.inside("server", BONNIE_RUNS)  # it takes no notice of a connection that ends
    assert bench.lab("restore").returncode == 0
    assert bench.inside("server", "ls -A /srv/disk") == ""
    assert bench.state() == before


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


def test_stores_alone_are_measured_without_a_share_and_a_resumed_run_goes_on_where_it_ended(bench: Bench) -> None:
    path = bench.directory / "alone.toml"
    path.write_text(ALONE)
    before = bench.state()
    done = bench.lab("run", "--hosts", str(bench.hosts), str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    trials = RunFolder(bench.newest()).trials()
    assert {(row.protocol, row.tool, row.status) for row in trials} == {
        ("local", "dd", "ok"),
        ("store", "memory", "ok"),
    }
    made = [row for row in trials if row.store == "ext4"]
    assert all("ext4" in (row.effective.server_store or "") for row in made)
    assert bench.inside("server", "ls -A /srv/disk") == ""
    assert bench.state() == before
    file = bench.newest() / "trials.jsonl"
    kept = [line for line in file.read_text().splitlines() if "b002-store-ext4-" not in line]
    file.write_text("\n".join(kept) + "\n")
    assert bench.lab("run", "--resume", str(bench.newest())).returncode == 0
    again = {row.trial_id for row in RunFolder(bench.newest()).trials()}
    assert again == {row.trial_id for row in trials}
    assert "store disk → ext4" in bench.lab("show", "--table", "effects").stdout
