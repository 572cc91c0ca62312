"""Trials as one tidy frame: a row for each trial, a column for each field, and derived columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.base.untrusted import from_json
from lab.design.factors import ABSENT, CHOOSERS, DEFAULT, LINK, OPTIONS, owner_of
from lab.results.columns import NUMBERS, SHARED, WORDED, Columns
from lab.results.decoder import Decoder
from lab.results.file_texts import FileTexts, OpenFile
from lab.results.json_object import RunJson
from lab.results.trial import FIELDS, MOST_OPTIONS, SCHEMA, Trial, has_second_shots

_SHOT_OF = ["block", "direction", *LINK]  # trials share these with their ceiling
Series: TypeAlias = "pd.Series[Any]"  # a column of whatever type


class _Run(dict[str, object]):
    """run.json on a frame. pandas would copy it for each derived frame, a thousand times in a report."""

    def __deepcopy__(self, _: object) -> _Run:
        """Return itself: nobody changes it."""
        return self


def frame(trials: Sequence[Trial], run: RunJson) -> pd.DataFrame:
    """The frame of trials in memory, and of run.json, like :func:`lab.results.run_folder.load`. Raises ValueError."""
    decoder = Decoder(SCHEMA)
    return make_frame(decoder.of_trials(trials), decoder, run, None)


def make_frame(columns: Columns, decoder: Decoder, run: RunJson, file: OpenFile | None) -> pd.DataFrame:
    """The frame of columns from ``file``. Raises ValueError for too many different options."""
    times = pd.DatetimeIndex(columns.started_at).tz_localize("UTC")
    series = {"trial_id": pd.Series(columns.trial_ids, dtype="str"), "started_at": pd.Series(times)}
    places = decoder.places(columns)
    series |= {name: _words(name, decoder.levels[name].made, places[name]) for name in WORDED}
    series |= {name: _numbers(name, columns) for name in NUMBERS}
    series["observed"] = pd.Series(FileTexts(file, columns.observed, columns.observed_texts), copy=False)
    trials = pd.DataFrame({name: series[name] for name in FIELDS}, copy=False)
    for name, levels in _options(decoder, places).items():
        trials[name] = levels
    trials["bytes_per_s"] = _quotient(trials["size_bytes"], trials["elapsed_s"])
    trials["MB_per_s"] = trials["bytes_per_s"] / 1e6
    if has_second_shots(run):
        trials["ceiling_bytes_per_s"] = _larger_ceilings(trials)
    trials["files_per_s"] = _quotient(trials["files"], trials["elapsed_s"])
    trials["ms_per_file"] = _quotient(1000 * trials["elapsed_s"], trials["files"])
    trials["share_of_ceiling"] = _quotient(trials["bytes_per_s"], trials["ceiling_bytes_per_s"])
    for side in ("client", "server"):
        trials[f"{side}_cpu_s_per_GB"] = _quotient(trials[f"{side}_cpu_s"], trials["size_bytes"] / 1e9)
    trials.attrs["run"] = _Run(run)
    return trials


def observed(trials: pd.DataFrame, names: Collection[str] | None = None) -> pd.DataFrame:
    """What the hosts counted during each trial of a frame.

    A row for each of the frame's, and a column for each number, named by its path, such as ``client.user``; NaN if a
    host did not count it. With ``names``, only these columns: other people's runs may have any number of them.
    """
    columns: dict[str, list[object]] = {}
    for row, text_or_object in enumerate(trials["observed"]):
        observed = from_json(text_or_object) if isinstance(text_or_object, str) else text_or_object
        for path, value in _leaves(observed, "") if names is None else _named(observed, names):
            column = columns.setdefault(path, [])
            column.extend([None] * (row - len(column)))
            column[row:] = [value]
    for column in columns.values():
        column.extend([None] * (len(trials) - len(column)))
    return pd.DataFrame(columns, index=trials.index)


def observed_numbers(trials: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Numbers of each trial by path, as columns of these names; NaN for a missing one."""
    counted = observed(trials, names)
    nothing = pd.Series(float("nan"), index=trials.index)
    numbers = {name: pd.to_numeric(counted.get(path, nothing), errors="coerce") for path, name in names.items()}
    return pd.DataFrame(numbers, index=trials.index)


def _larger_ceilings(trials: pd.DataFrame) -> Series:
    """The ceiling of each row, also of the link's: the larger of iperf3's results before and after its trials."""
    ok = trials["status"] == "ok"
    shots = trials[ok & (trials["protocol"] == "link") & (trials["bytes_per_s"] > 0)]
    if shots.empty:
        return trials["ceiling_bytes_per_s"]
    of_network = shots.groupby(_SHOT_OF, sort=False)["bytes_per_s"].max().rename("largest")
    largest = trials[_SHOT_OF].join(of_network, on=_SHOT_OF)["largest"]
    return trials["ceiling_bytes_per_s"].where(~ok | (trials["protocol"] == "store") | largest.isna(), largest)


def _leaves(node: Mapping[str, object], path: str) -> Iterator[tuple[str, object]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _named(node: Mapping[str, object], paths: Collection[str]) -> Iterator[tuple[str, object]]:
    for path in paths:
        *above, last = path.split(".")
        at: object = node
        for key in above:
            at = at.get(key) if isinstance(at, dict) else None
        if isinstance(at, dict) and last in at and not isinstance(at[last], dict):
            yield path, at[last]


def _options(decoder: Decoder, places: dict[str, npt.NDArray[np.int32]]) -> dict[str, Series]:
    """Each of OPTIONS, and each option of a mount, tool or store that a trial names; ABSENT where a trial lacks it."""
    options = decoder.levels["options"].made
    columns = {
        name: _texts([levels.get(name, level) for levels in options], places["options"])
        for name, level in OPTIONS.items()
    }
    names = {name for levels in options for name in levels if owner_of(name)}
    if len(names) > MOST_OPTIONS:
        raise ValueError(f"{len(names):,} different options of mounts, tools and stores: at most {MOST_OPTIONS}")
    for name in sorted(names):
        column = _texts([levels.get(name, DEFAULT) for levels in options], places["options"])
        is_owner = {field: [level == owner_of(name) for level in decoder.levels[field].made] for field in CHOOSERS}
        has_it = np.any([np.array(is_owner[field], bool)[places[field]] for field in CHOOSERS], axis=0)
        columns[name] = column.where(has_it, ABSENT)
    return columns


def _words(name: str, values: Sequence[Any], places: npt.NDArray[np.int32]) -> Series:
    if name in SHARED or int in FIELDS[name]:
        levels = np.empty(len(values), object)
        levels[:] = values
        return pd.Series(levels[places], dtype="object", copy=False)
    return _texts(values, places)


def _texts(levels: Sequence[str], places: npt.NDArray[np.int32]) -> Series:
    return pd.Series(pd.array(levels, dtype="str").take(places), copy=False)


def _numbers(name: str, columns: Columns) -> Series:
    numbers = columns.numbers[name]
    if NUMBERS[name] is int and type(None) in FIELDS[name]:
        null = columns.nulls.get(name, np.zeros(len(numbers), bool))
        return pd.Series(pd.arrays.IntegerArray(numbers, null), copy=False)
    return pd.Series(numbers, copy=False)


def _quotient(amount: Series, per: Series) -> Series:
    return amount / per.where(per > 0, np.nan)
