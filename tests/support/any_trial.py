"""Trials of every kind that the reader takes, generated from the types of their fields."""

import types
import typing
from datetime import UTC
from typing import Any

from hypothesis import strategies as st

from lab.results import trial
from lab.results.json_object import JsonObject
from lab.results.trial import Trial

TEXT = st.text(max_size=20)
COUNT = st.integers(0, 2**63 - 1)
MEASURE = st.just(0) | st.floats(trial.LEAST, 2.0**62)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: COUNT,
    float: MEASURE,
    types.NoneType: st.none(),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """JSON values of a type; of a JsonObject some of its keys."""
    args = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return st.one_of(*map(values_of, args))
    if typing.get_origin(hint) is tuple:
        return st.lists(values_of(args[0]), max_size=3)
    if typing.get_origin(hint) is dict:
        return st.dictionaries(TEXT, values_of(args[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, JsonObject):
        hints = {
            name: typing.get_args(part)[0] for name, part in typing.get_type_hints(hint).items() if name != "other"
        }
        return st.fixed_dictionaries({}, optional={name: values_of(part) for name, part in hints.items()})
    return PLAIN[hint]


def _field(name: str, hint: Any) -> st.SearchStrategy[Any]:
    if name == "started_at":
        return st.datetimes(timezones=st.just(UTC)).map(lambda at: at.isoformat())
    if name not in trial.WORDS:
        return values_of(hint)
    words = st.sampled_from(sorted(trial.WORDS[name]))
    return COUNT | words if int in trial.FIELDS[name] else words


def any_trials() -> st.SearchStrategy[Trial]:
    """Trials that could be appended to a run."""
    fields = {name: _field(name, hint) for name, hint in typing.get_type_hints(Trial).items()}
    records = st.fixed_dictionaries(fields).map(_timed).filter(lambda record: not trial.problem(record))
    return records.map(Trial.from_json)


def _timed(record: dict[str, Any]) -> dict[str, Any]:
    """A good trial took some time."""
    return {**record, "elapsed_s": record["elapsed_s"] or 1.5} if record["status"] == "ok" else record
