"""Texts that are read from their file when asked for behave as texts in memory do."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.synthetic_runs import make_trials, trial, write_run

from lab.base.errors import BadInput
from lab.results import run_folder
from lab.results.file_texts import FileTexts, OpenFile

TEXTS = ["{}", "{é}", "", "tail"]


@pytest.fixture
def array(tmp_path: Path) -> FileTexts:
    """TEXTS, the last of them in no file, and then a missing one."""
    path = tmp_path / "file"
    path.write_bytes("".join(TEXTS[:3]).encode())
    return FileTexts(OpenFile(path), np.array([[0, 2], [2, 6], [6, 6], [-1, 0], [-1, -1]]), TEXTS[3:])


def test_each_text_is_where_it_was_also_joined_with_others(array: FileTexts) -> None:
    column = pd.Series(array)
    assert column.tolist() == [*TEXTS, None]
    assert column.isna().tolist() == [False] * 4 + [True]
    assert column[1:3].tolist() == TEXTS[1:3]
    assert column[column.notna()].map(len).tolist() == [2, 3, 0, 4]
    assert column.reindex([4, 3, 9]).tolist() == [None, "tail", None]
    both = pd.concat([pd.Series(array), pd.Series(array)[::-1].copy()], ignore_index=True)
    assert (both.dtype, both.tolist()) == (array.dtype, [*TEXTS, None, None, *reversed(TEXTS)])


def test_a_file_that_became_shorter_is_bad_input_and_a_new_one_is_not_read(array: FileTexts, tmp_path: Path) -> None:
    with (tmp_path / "file").open("r+b") as file:
        file.truncate(3)
    assert array[0] == "{}"
    with pytest.raises(BadInput, match=r"cannot be read again: .* shorter"):
        array[1]
    (tmp_path / "other").write_text("other")
    (tmp_path / "other").rename(tmp_path / "file")
    assert array[0] == "{}"


@pytest.mark.parametrize("is_last", [True, False])
def test_observed_is_read_wherever_it_stands_in_its_line(tmp_path: Path, is_last: bool) -> None:
    folder = write_run(tmp_path, make_trials(blocks=1))
    counted = {"client": {"user_s": 1.5}, "remarks": ['"observed": {']}
    record = trial(trial_id="odd", observed=counted).to_json()
    value = record.pop("observed")
    line = {**record, "observed": value} if is_last else {"observed": value, **record}
    with folder.trials_path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert json.loads(run_folder.load(folder.path)["observed"].iloc[-1]) == counted
