"""Trials as one tidy frame: one row a trial, every field a column, and what follows from the fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lab.design.factors import ABSENT, DEFAULT, OPTIONS, protocol_of
from lab.results.decoder import NUMBERS, SHARED, WORDED, Columns, Decoder
from lab.results.observed import InMemory, ObservedArray, Source, flat
from lab.results.trial import FIELDS, SCHEMA, Trial


def frame(trials: Sequence[Trial], run: dict[str, Any]) -> pd.DataFrame:
    """Trials in memory as :func:`lab.results.run_folder.load` gives those of a folder; ``run`` is the content of
    run.json.

    ValueError where a ``started_at`` is no ISO 8601 time.
    """
    decoder = Decoder(SCHEMA)
    return of_columns(decoder.of_trials(trials), decoder, InMemory([trial.observed for trial in trials]), run)


def of_columns(columns: Columns, decoder: Decoder, observed: Source, run: dict[str, Any]) -> pd.DataFrame:
    """The frame of columns; ``observed`` has their objects. ValueError where a time is none; it names the line."""
    series = {"trial_id": pd.Series(columns.trial_ids, dtype="str"), "started_at": _times(columns)}
    places = decoder.places(columns)
    series |= {name: _words(name, decoder.levels[name].made, places[name]) for name in WORDED}
    series |= {name: _numbers(name, columns) for name in NUMBERS}
    series["observed"] = pd.Series(ObservedArray(observed, np.arange(len(columns))), copy=False)
    made = pd.DataFrame({name: series[name] for name in FIELDS}, copy=False)
    for name, levels in _options(decoder, places).items():
        made[name] = levels
    made["bytes_per_s"] = _quotient(made["size_bytes"], made["elapsed_s"])
    made["MB_per_s"] = made["bytes_per_s"] / 1e6
    made["share_of_ceiling"] = _quotient(made["bytes_per_s"], made["ceiling_bytes_per_s"])
    for side in ("client", "server"):
        made[f"{side}_cpu_s_per_GB"] = _quotient(made[f"{side}_cpu_s"], made["size_bytes"] / 1e9)
    made.attrs["run"] = run
    return made


def observed(trials: pd.DataFrame) -> pd.DataFrame:
    """What the hosts counted during each trial of a frame of :func:`frame`, or of a part of it, read now.

    One column a number, named by its path, such as ``client.user_s``, and the rows of the frame.
    """
    return flat(iter(trials["observed"].array.objects()), trials.index)


def _options(decoder: Decoder, places: dict[str, npt.NDArray[np.int32]]) -> dict[str, pd.Series[Any]]:
    """Each of OPTIONS, and the options of mounts that any trial names; ABSENT where the protocol is another one."""
    chosen, protocols = decoder.levels["options"].made, decoder.levels["protocol"].made
    made = {
        name: _texts([levels.get(name, level) for levels in chosen], places["options"])
        for name, level in OPTIONS.items()
    }
    for name in sorted({name for levels in chosen for name in levels if protocol_of(name)}):
        levels = _texts([each.get(name, DEFAULT) for each in chosen], places["options"])
        own = np.array([protocol == protocol_of(name) for protocol in protocols], bool)[places["protocol"]]
        made[name] = levels.where(own, ABSENT)
    return made


def _times(columns: Columns) -> pd.Series[Any]:
    times = columns.started_at
    if columns.odd_times:
        times = times.copy()
        texts = pd.Series(columns.odd_times, dtype="str")
        texts = texts.where(texts.str[:1].str.isdigit())  # pandas knows what time "now" is
        read = pd.to_datetime(texts, utc=True, format="ISO8601", errors="coerce")
        if read.isna().any():
            raise ValueError(f"line {read.index[read.isna()][0] + 1}: started_at is not an ISO 8601 time")
        times[read.index] = read.dt.tz_localize(None).to_numpy()
    return pd.Series(pd.DatetimeIndex(times).tz_localize("UTC"))


def _words(name: str, values: Sequence[Any], places: npt.NDArray[np.int32]) -> pd.Series[Any]:
    if name in SHARED or int in FIELDS[name]:
        levels = np.empty(len(values), object)
        levels[:] = values
        return pd.Series(levels[places], dtype="object", copy=False)
    return _texts(values, places)


def _texts(levels: Sequence[str], places: npt.NDArray[np.int32]) -> pd.Series[Any]:
    return pd.Series(pd.array(levels, dtype="str").take(places), copy=False)


def _numbers(name: str, columns: Columns) -> pd.Series[Any]:
    numbers = columns.numbers[name]
    if NUMBERS[name] is int and type(None) in FIELDS[name]:
        null = columns.nulls.get(name, np.zeros(len(numbers), bool))
        return pd.Series(pd.arrays.IntegerArray(numbers, null), copy=False)
    return pd.Series(numbers, copy=False)


def _quotient(amount: pd.Series[Any], per: pd.Series[Any]) -> pd.Series[Any]:
    return amount / per.where(per > 0, np.nan)
