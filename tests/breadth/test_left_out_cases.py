"""A sweep goes on without what its hosts will never do, and says so; where nothing is left it does not begin."""

import json
from typing import Any

from support.local_lab import Bench

# The hosts of this lab share a kernel, whose NFS server no host can have for itself
SERVERS: dict[str, Any] = {
    "protocol": ["nfs"],
    "tool": ["cp"],
    "direction": ["write"],
    "size": "1 MiB",
    "nfs.server": ["kernel"],
}
WHY = "server: nfs with nfs.server = kernel: others share this host's kernel, which has one NFS server for all"


def test_a_sweep_goes_on_without_it_also_when_resumed(bench: Bench) -> None:
    sweep = SERVERS | {"nfs.server": ["kernel", "ganesha"], "nfs.client": ["default", "gvfs"], "blocks": 2}
    done = bench.run(**sweep)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"left out (2 cases): {WHY}" in done.stderr
    chosen = [(trial["effective"]["nfs.client"], trial["effective"]["nfs.server"]) for trial in bench.trials()]
    assert len(chosen) == 4
    assert {server for _, server in chosen} == {"ganesha"}
    assert "gvfs" in {client for client, _ in chosen}
    recorded = json.loads((bench.newest() / "run.json").read_text())["left_out"]
    assert len(recorded) == 2
    resumed = bench.lab("run", "--resume", str(bench.newest()))
    assert resumed.returncode == 0, resumed.stderr
    assert len(bench.trials()) == 4


def test_a_sweep_of_which_nothing_is_left_is_refused(bench: Bench) -> None:
    done = bench.run(hosts=bench.with_ceilings(), **SERVERS)
    assert done.returncode == 1
    assert done.stderr.startswith(WHY)
    assert not (bench.directory / "results").exists()


def test_what_was_left_out_is_told_where_the_rest_is_no_sweep(bench: Bench) -> None:
    sweep = bench.sweep(**SERVERS | {"nfs.server": ["kernel", "ganesha"]})
    sweep.write_text('effects = ["nfs.server"]\n' + sweep.read_text())
    done = bench.lab("run", "--hosts", str(bench.with_ceilings()), str(sweep))
    assert done.returncode == 2
    told, why, *_ = done.stderr.splitlines()
    assert told.startswith(f"left out (1 case): {WHY}")
    assert "nfs.server" in why
    assert not (bench.directory / "results").exists()
