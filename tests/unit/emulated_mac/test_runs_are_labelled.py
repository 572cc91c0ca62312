"""A run of emulated Macs says so, in every figure and table."""

from pathlib import Path

import pytest
from support.synthetic_runs import trial, write_run

from lab import stats
from lab.report import prose
from lab.results import run_folder
from lab.results import trial as records

FACTS = {"platform": "macos", "cpu": "EMULATED on something", "hostname": "client"}


@pytest.mark.parametrize(
    ("instance", "facts", "is_emulated"),
    [
        ("default/1", FACTS, True),
        (None, FACTS, True),  # hosts that were copied into a hosts file by hand
        ("default/1", FACTS | {"cpu": "x"}, True),
        (None, FACTS | {"cpu": "Apple M1"}, False),
        ("default/1", FACTS | {"platform": "linux", "cpu": "x"}, False),
    ],
)
def test_a_run_of_an_emulated_mac_says_so(instance: str | None, facts: dict[str, str], is_emulated: bool) -> None:
    run = {"instance": instance, "hosts": {"client": facts, "server": {"platform": "linux"}}}
    assert bool(records.emulated(run)) == is_emulated


def test_no_figure_and_no_table_can_be_taken_for_those_of_a_mac(tmp_path: Path) -> None:
    hosts = {"client": FACTS, "server": FACTS}
    run = write_run(tmp_path, [trial()], title="my two Macs", instance="default/1", hosts=hosts)
    trials = run_folder.load(run.path)
    assert stats.provenance(trials)[0].startswith("emulated Mac, not a measurement of a Mac, local lab")
    assert prose.EMULATED_MAC in prose.warnings(trials.attrs["run"])
