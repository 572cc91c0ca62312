"""Lines of trials.jsonl: fixed, generated, and decoded quickly or carefully."""

import json
import types
import typing
from datetime import UTC
from typing import Any

from hypothesis import strategies as st

from lab.results.columns import NUMBERS, Columns
from lab.results.decoder import Decoder
from lab.results.json_object import JsonObject
from lab.results.trial import FIELDS, LEAST, SCHEMA, WORDS, Trial, problem
from support.synthetic_runs import trial

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def line(**changes: Any) -> str:
    return json.dumps(trial().to_json() | changes)


DEEP = ['{"a": ' * deep + "1" + "}" * deep for deep in (49, 50, 98, 99, 100, 101, 500, 100_000)]
TOKENS = [
    "null", "true", "false", "0", "1", "-0", "-0.0", "0.0", "1.0", "1.5", "1e3", "1E-9", "9.9e-10", "1e-400", "5e-324",
    "-1e-400", "-1", "01", "1.", ".5", "+1", "1e", "1e18", "1e19", "1e999", "-1e999", "NaN", "Infinity", "-Infinity",
    "9007199254740993", "9223372036854775807", "9223372036854775807.0", "9223372036854775808", "1" * 30, "1" * 400,
    "1" * 5000, '""', '"ok"', '"void"', '"read"', '"disk"', '"default"', '"Default"', '"é → ✓"', '"\\u00e9"',
    '"\\ud83d\\ude00"', '"\\ud800"', '"\\ud800\\ud800"', '"\\udc00"', '"\\u0000"', '"\\n"', '"\\x"', '"\\', '"\t"',
    '"\x7f"', '"a\nb"', '"}\n{"', "'x'", "tru", "[]", "[1]", "[{}]", "{}", '{"a": "b"}', '{"a": 1}', '{"a": null}',
    '{"a": NaN}', '{"a": 1e999}', '{"a": -1e999}', '{"a": "\\ud800"}', '{"\\ud800": "b"}', '{"a": "b", "a": 1}',
    '{"a": 1, "a": "b"}', '{"a": "b",}', '{"a"}', '{a: 1}', '{"a": {"b": [1, {"c": "d"}]}}', '{"a": "}\\n{"}',
    '{"observed": 1, "protocol": "x"}', '{"a": ' + "1" * 5000 + "}", '{"a": 01}', '{"a": "\x01"}', "{} {}", "{}\n{}",
    *DEEP, *(deep.replace('{"a": ', "[").replace("}", "]") for deep in DEEP),
]  # fmt: skip
GOOD = trial(observed={"client": {"user_s": 1.5}, "tcp": {}}, options={"placebo": "a"}).to_json()
GOOD_FIELDS = {name: json.dumps(value) for name, value in GOOD.items()}


def fields(number: int) -> dict[str, str]:
    """A good line, as the JSON of each of its fields."""
    return GOOD_FIELDS | {"trial_id": f'"t{number}"'}


def written(lines: list[dict[str, str]]) -> bytes:
    texts = ("{" + ", ".join(f'"{name}": {value}' for name, value in line.items()) + "}\n" for line in lines)
    return "".join(texts).encode()


def observed(found: Columns, lines: bytes) -> list[Any]:
    """The values of ``observed``, in these lines or beside them."""
    texts = [lines[start:end] if start >= 0 else found.observed_texts[end] for start, end in found.observed.tolist()]
    return [json.loads(text) for text in texts]


def unpacked(decoder: Decoder, found: Columns, lines: bytes) -> dict[str, Any]:
    """Columns as plain lists of values."""
    values: dict[str, Any] = {
        name: [repr(decoder.levels[name].made[place]) for place in places]
        for name, places in decoder.places(found).items()
    }
    values |= {name: [repr(number) for number in found.numbers[name].tolist()] for name in NUMBERS}
    values |= {f"no {name}": mask.tolist() for name, mask in found.nulls.items() if mask.any()}
    return values | {
        "times": found.started_at.tolist(), "ids": found.trial_ids, "problem": found.problem,
        "observed": observed(found, lines),
    }  # fmt: skip


def judged_alike(lines: bytes, schema: int = SCHEMA) -> bool:
    """Whether the lines were decoded quickly; fails if the careful decoder gives another result."""
    quick, careful = Decoder(schema), Decoder(schema)
    looked_closer = []
    look_closer = quick._decode_carefully
    quick._decode_carefully = lambda lines: looked_closer.append(lines) or look_closer(lines)  # type: ignore[func-returns-value, method-assign]
    by_care = careful._decode_carefully(lines)
    assert unpacked(quick, quick.of_lines(lines), lines) == unpacked(careful, by_care, lines)
    return not looked_closer


TEXT = st.text(max_size=20)
COUNT = st.integers(0, 2**63 - 1)
MEASURE = st.just(0) | st.floats(LEAST, 2.0**62)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT, bool: st.booleans(), int: COUNT, float: MEASURE, types.NoneType: st.none(),
}  # fmt: skip


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """JSON values of a type; for a JsonObject, some of its keys."""
    args = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        return st.one_of(*map(values_of, args))
    if typing.get_origin(hint) is tuple:
        return st.lists(values_of(args[0]), max_size=3)
    if typing.get_origin(hint) is dict:
        return st.dictionaries(TEXT, values_of(args[1]), max_size=3)
    if isinstance(hint, type) and issubclass(hint, JsonObject):
        hints = {name: part for name, part in typing.get_type_hints(hint).items() if name != "other"}
        values = {name: values_of(typing.get_args(part)[0]) for name, part in hints.items()}
        return st.fixed_dictionaries({}, optional=values)
    return PLAIN[hint]


def _field(name: str, hint: Any) -> st.SearchStrategy[Any]:
    if name == "started_at":
        return st.datetimes(timezones=st.just(UTC)).map(lambda at: at.isoformat())
    if name not in WORDS:
        return values_of(hint)
    words = st.sampled_from(sorted(WORDS[name]))
    return COUNT | words if int in FIELDS[name] else words


def any_trials() -> st.SearchStrategy[Trial]:
    fields = {name: _field(name, hint) for name, hint in typing.get_type_hints(Trial).items()}
    records = st.fixed_dictionaries(fields).map(_timed).filter(lambda record: not problem(record))
    return records.map(Trial.from_json)


def _timed(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "elapsed_s": record["elapsed_s"] or 1.5} if record["status"] == "ok" else record
