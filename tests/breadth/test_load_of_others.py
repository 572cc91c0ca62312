"""Others keep the machine busy during a run: it says so, and measures such a block again where that is wanted."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from support.local_lab import Bench

from lab.results.run_folder import RunFolder


@pytest.fixture
def others() -> Iterator[None]:
    """A program on each core that never waits."""
    programs = [subprocess.Popen(["perl", "-e", "alarm 600; 1 while 1"]) for _ in range(os.cpu_count() or 1)]
    yield
    for program in programs:
        program.kill()
        program.wait()


@pytest.mark.usefixtures("others")
def test_a_block_on_a_busy_machine_is_measured_again_and_the_run_says_so(bench: Bench) -> None:
    done = bench.run("--repeat-disturbed", size="32 MiB", direction=["write"])
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder(bench.newest())
    (load,) = folder.run["load"]
    assert load["client"] == load["server"] > 0.5
    assert "disturbed: in block 1 others used" in done.stderr
    transfers = [trial for trial in folder.trials() if trial.protocol == "ssh"]
    assert [trial.trial_id for trial in transfers] == ["b001-0001-disturbed", "b001-0001-disturbed-2", "b001-0001"]
    assert [trial.status for trial in transfers] == ["void", "void", "ok"]
    assert transfers[0].reason.startswith("disturbed: others used ")
