"""Faults in runs with pools: the hosts are unchanged afterwards, and the user is told what went wrong."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from faults.labs import POOL_TRACES
from support.guests import left_but_for_zfs
from support.local_lab import Bench, succeeded
from support.paths import TESTS

FACTORS: dict[str, Any] = {
    "protocol": ["nfs"], "tool": ["cp"], "store": ["zfs"], "server_cache": ["cold"], "blocks": 1, "size": "8 MiB",
}  # fmt: skip
# Fill the pool up to 1 MiB, or limit it to that; then run the command
SHORT = """
pool=$(zfs list -H -o name) && room=$(zfs get -Hp -o value available "$pool")
zfs create -o refreservation=$((room - 1048576)) -o mountpoint=none "$pool/of-somebody-else" && "$@"
"""
QUOTA = """
pool=$(zfs list -H -o name) && used=$(zfs get -Hp -o value used "$pool")
zfs set quota=$((used + 1048576)) "$pool" && "$@"
"""
# Export the pool, and fail to import it
REFUSED = """
pool=$(zpool list -H -o name) && zpool export "$pool" && echo "cannot import '$pool': no such pool available" >&2
exit 1
"""


def test_in_the_sample_nothing_is_dirty_lost_or_wrong() -> None:
    command = [sys.executable, "-m", "faults", "--sample", "commands", "--zfs", "--jobs", "1"]
    environment = os.environ | {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    assert "\n6 cells, 0 bad" in succeeded(done).stdout


def broken(bench: Bench, words: str, script: str, **factors: Any) -> str:
    """Run a sweep with a script in place of one command; its output. The run itself must restore the hosts."""
    before = left_but_for_zfs(bench)
    run = ["run", "--hosts", str(bench.hosts), str(bench.sweep(**FACTORS | factors))]
    environment = os.environ | bench.environment | {"PYTHONPATH": f"{TESTS}:{TESTS.parent}"}
    done = subprocess.run(
        [sys.executable, "-m", "faults.inject", words, script, *run],
        cwd=bench.directory, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    assert (done.returncode, f"struck at {words}" in output, "Traceback" in output) == (1, True, False), output
    assert left_but_for_zfs(bench) == before, output
    assert bench.inside("server", POOL_TRACES) == ""
    return output


@pytest.mark.parametrize(("script", "why"), [(SHORT, "No space left on device"), (QUOTA, "Disk quota exceeded")])
def test_a_pool_without_room_fails_its_trial_alone_and_says_why(with_zfs: Bench, script: str, why: str) -> None:
    output = broken(with_zfs, "rpc.nfsd --host", script, direction=["write"], server_cache=["warm"], blocks=2)
    first, second = with_zfs.trials()
    assert (first["status"], second["status"]) == ("failed", "ok"), output
    assert why in first["reason"]


def test_a_pool_that_cannot_be_imported_again_fails_what_was_to_be_read_of_it_and_says_why(with_zfs: Bench) -> None:
    output = broken(with_zfs, "zpool import -d", REFUSED, direction=["read"])
    lines = (with_zfs.newest() / "trials.jsonl").read_text().splitlines()
    of_store = [trial for trial in map(json.loads, lines) if trial["protocol"] == "store"]
    failed = [trial for trial in of_store if trial["status"] == "failed"]
    assert [trial["direction"] for trial in failed] == ["read"] * 4, output  # three of the disk, one of memory
    assert all("no such pool available" in trial["reason"] for trial in failed)
    assert [trial["status"] for trial in with_zfs.trials()] == ["ok"], output
