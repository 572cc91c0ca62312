"""The frame of a folder and that of its trials are one; what the hosts observed is read when asked for."""

import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.synthetic_runs import trial, write_run
from support.trial_lines import json_values

from lab.results import dataframe, run_folder
from lab.results.run_folder import RunFolder, Trial

COUNTED: list[dict[str, Any]] = [
    {"client": {"user_s": 1.5, "tx_packets": 7}, "server": {"user_s": 2}, "tcp": {}},
    {},
    {"client": {"user_s": None, "tx_packets": 2**60 + 1}, "tcp": {"rtt_us": 80, "states": ["open"]}},
]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return write_run(tmp_path, [trial(trial_id=f"t{row}", observed=counted) for row, counted in enumerate(COUNTED)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(
            trial, trial_id=st.uuids().map(str), reason=st.text(), elapsed_s=st.floats(1e-9, 1e9), anchor=st.booleans(),
            tcp_space=st.just("default") | st.integers(0, 2**63 - 1),
            server_cpu_s=st.none() | st.integers(0, 2**63 - 1) | st.floats(1e-9, 1e9),
            wire_tx_bytes=st.none() | st.integers(0, 2**63 - 1),
            options=st.dictionaries(st.sampled_from(["placebo", "server_sync", "x"]), st.text(max_size=200)),
            effective=st.dictionaries(st.text(), json_values, max_size=3),
            observed=st.dictionaries(st.text(), json_values, max_size=3),
            started_at=st.datetimes().map(lambda at: f"{at.isoformat()}+00:00"),
        ),
        max_size=5, unique_by=lambda made: made.trial_id,
    )
)  # fmt: skip
def test_trials_in_memory_make_the_frame_of_their_folder(tmp_path: Path, trials: list[Trial]) -> None:
    folder = RunFolder.create(tmp_path, "any", {})
    folder.trials_path.write_text("".join(f"{json.dumps(made.to_json())}\n" for made in trials))
    pd.testing.assert_frame_equal(run_folder.load(folder.path), dataframe.frame(trials, folder.run))


def test_observed_is_one_column_a_number_and_follows_the_rows_of_a_frame(folder: RunFolder) -> None:
    columns = dataframe.observed(run_folder.load(folder.path))
    assert {name: kind.name for name, kind in columns.dtypes.items()} == {
        "client.user_s": "float64", "client.tx_packets": "float64", "server.user_s": "float64",
        "tcp.rtt_us": "float64", "tcp.states": "object",
    }  # fmt: skip
    assert columns["client.user_s"].isna().tolist() == [False, True, True]
    assert columns.iloc[0, :3].to_dict() == {"client.user_s": 1.5, "client.tx_packets": 7, "server.user_s": 2}
    assert columns["tcp.rtt_us"].dropna().to_dict() == {2: 80}
    frame = run_folder.load(folder.path)
    assert frame["observed"].map(json.loads).tolist() == COUNTED
    part = frame.sort_values("trial_id", ascending=False).query("trial_id != 't1'")
    assert dataframe.observed(part)["tcp.rtt_us"].to_dict() == pytest.approx({2: 80, 0: float("nan")}, nan_ok=True)
    assert len(dataframe.observed(frame.iloc[:0])) == 0


def test_frames_can_be_joined_and_pickled(tmp_path: Path, folder: RunFolder) -> None:
    other = write_run(tmp_path, [trial(observed={"client": {"user_s": 9}})])
    both = pd.concat([run_folder.load(folder.path), run_folder.load(other.path)], ignore_index=True)
    assert list(dataframe.observed(both)["client.user_s"].dropna()) == [1.5, 9]
    frame = run_folder.load(folder.path)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(frame)), frame)  # noqa: S301 – of this line's own


def test_paths_that_collide_give_one_column_and_derived_frames_share_the_run() -> None:
    frame = dataframe.frame([trial(observed={"a": {"b": 1}, "a.b": 2}), trial(observed={"a.b": 3})], {})
    assert dataframe.observed(frame).to_dict("list") == {"a.b": [2, 3]}
    trials = dataframe.frame([trial()], {"name": "x"})
    assert trials.assign(more=1).attrs["run"] is trials.attrs["run"]
    assert trials.attrs["run"] == {"name": "x"}


def test_named_numbers_are_those_of_all_also_where_the_frame_holds_objects() -> None:
    observed = {"client": {"cores": 2, "process": "cp"}, "wire": {}, "tcp": {"mss": None}, "remarks": ["odd"]}
    trials = dataframe.frame([trial(observed=observed), trial(trial_id="b", observed={"client": 7})], {})
    names = {"client.cores", "tcp.mss", "remarks", "wire", "client", "server.cores"}
    every = dataframe.observed(trials)
    named = dataframe.observed(trials.assign(observed=trials["observed"].map(json.loads)), names)
    pd.testing.assert_frame_equal(named, every[[name for name in every if name in names]], check_like=True)
    assert set(named) == {"client.cores", "tcp.mss", "remarks", "client"}
