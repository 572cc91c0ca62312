"""A text that a terminal would act on, in each key of run.json alone: no command has it act."""

from pathlib import Path

import pytest
from support.planted_runs import KEYS, lab, runs_with
from support.synthetic_runs import trial, write_run

pytestmark = pytest.mark.usefixtures("empty_place")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:12])
def test_a_key_of_run_json_alone(capsys: pytest.CaptureFixture[str], key: str) -> None:
    for folder in runs_with(key):
        other = write_run(Path("others"), [trial()])
        for words in (["show"], ["show", "--full"], ["compare", other.path], ["compare", other.path, "--unfinished"]):
            assert lab(capsys, *words, folder.path)
