"""Trees of many files over every protocol: moved, compared, counted by the file, and nothing of them left."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from support.local_lab import HOSTS, Bench
from support.trees import PHASES, SWEEP

from lab.results import run_folder
from lab.results.trial import CEILINGS


@pytest.mark.parametrize("protocols", [["smb", "ssh"]])
def test_a_tree_moves_and_leaves_nothing(bench: Bench, tmp_path: Path, protocols: list[str]) -> None:
    source = tmp_path / "source"
    for number in range(300):
        folder = source / f"album {number % 5}" / str(number % 3)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.jpg").write_bytes(b"x" * (1 + 97 * number))
    (source / "empty").mkdir()
    (source / "link").symlink_to("empty")
    manifest, sweep = tmp_path / "tree.txt", tmp_path / "trees.toml"
    recorded = bench.lab("workload", "record", str(source), str(manifest))
    assert recorded.stdout.startswith(f"{manifest}: 300 files of 4,350,750 bytes in 22 folders"), recorded.stderr
    sweep.write_text(SWEEP.format(tree='manifest = "tree.txt"', protocols=json.dumps(protocols)))
    before = bench.state()
    done = bench.lab("run", "--hosts", str(bench.hosts), str(sweep))
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.state() == before
    loaded = run_folder.load(bench.newest())
    trials = loaded[~loaded["protocol"].isin(CEILINGS)]
    assert len(trials) == sum(4 if protocol == "ssh" else 6 for protocol in protocols)  # cp needs a mount
    assert trials["verified"].all()
    assert set(trials["files"]) == {300}
    moved = trials["wire_tx_bytes"].where(trials["direction"] == "write", trials["wire_rx_bytes"])
    assert (moved >= 4_350_750).all()
    shown = json.loads(bench.lab("show", "--json").stdout)
    rates = pd.DataFrame(shown["files"])
    assert (rates["files_per_s"] > 1).all()
    asking = rates[rates["protocol"] != "ssh"].dropna(subset="round_trips_per_file")
    assert (asking["round_trips_per_file"] > 1).all()
    assert "round trips a file" in bench.lab("show", "--table", "files").stdout
    run = bench.newest()
    kept = (run / "trials.jsonl").read_text().splitlines()
    (run / "trials.jsonl").write_text("\n".join(kept[:-2]) + "\n")
    manifest.unlink()  # the run has its own copy
    resumed = bench.lab("run", "--resume", str(run))
    assert resumed.returncode == 0, resumed.stderr
    assert {trial["workload"] for trial in bench.trials()} == {trials["workload"].iloc[0]}
    for host in HOSTS:
        assert bench.inside(host, "find / -xdev -name '*-*.bin' -newer /etc/hostname 2>/dev/null; :") == ""


def test_a_tree_that_finds_no_inodes_says_so_and_leaves_nothing(bench: Bench) -> None:
    bench.inside("server", "mkdir -p /srv/few && mount -t tmpfs -o nr_inodes=40 few /srv/few")
    try:
        hosts = bench.changed_hosts(share_path="/srv/few")
        sweep = PHASES.replace('["afp", "smb", "nfs"]', '["nfs"]').replace('["metadata"]', '["cp"]')
        factors = 'store = ["disk"]\ndirection = ["write"]\n'
        lines = [line for line in sweep.splitlines() if not line.startswith("metadata")]
        (bench.directory / "few.toml").write_text("\n".join([*lines, factors]))
        done = bench.lab("run", "--hosts", str(hosts), "few.toml")
        (trial,) = bench.trials()
        assert (done.returncode, trial["status"]) == (1, "failed"), done.stdout + done.stderr
        assert re.match(r"server: no inodes: /srv/few/\S+ takes only [0-9]+ more files; ", trial["reason"])
        assert bench.inside("server", "find /srv/few -mindepth 1") == ""
    finally:
        bench.inside("server", "umount /srv/few && rmdir /srv/few")
