"""A share of somebody else's that ann measures: the fixtures of both folders, and what a good run has."""

import json
from collections.abc import Callable, Iterator

import pytest

from support.local_lab import Bench
from support.measured import Measured, arrange

LINK = 200e6 / 8  # bytes a second of the link below
OWN = r"file-share-lab-[0-9a-f]{16}"


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Measured:
    return arrange(new_bench, "--rate", "200mbit")


@pytest.fixture
def scene(one_scene: Measured) -> Iterator[Measured]:
    with one_scene.left_as_found():
        yield one_scene


def check_measured(scene: Measured, protocol: str) -> None:
    """A run went well: verified trials each way that crossed the wire, in a run folder that every command reads."""
    trials = [trial for trial in scene.trials() if trial["protocol"] == protocol]
    good = [trial for trial in trials if trial["status"] == "ok"]
    assert {trial["direction"] for trial in good} == {"read", "write"}, trials
    for trial in good:
        assert trial["verified"]
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 1.2 * trial["size_bytes"]
        assert trial["size_bytes"] / trial["elapsed_s"] < 1.02 * LINK  # no cache gave it
    for words in (["show"], ["show", "--json"], ["report"]):
        done = scene.ann.lab(*words)
        assert done.returncode == 0, done.stderr
        assert done.stderr == "" or ("report" in words and done.stderr.startswith("replaced ")), words
        assert "--json" not in words or json.loads(done.stdout)
    assert scene.ann.shell("ls results/*/report/report.html")
    done = scene.ann.lab("contribute", "--output", "given")
    refused = [line for line in (done.stdout + done.stderr).splitlines() if ".json" in line]
    # where both hosts are seen they are known for those of a local lab, of which `lab measure` was not told
    both = any("server" in trial["observed"] for trial in good)
    assert all(both and "no local lab is named" in line for line in refused), refused
    scene.ann.shell("rm -r given")
