"""Lines are decoded quickly, or with care where a quick look does not do: both must take and refuse the same."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.synthetic_runs import make_trials, trial

from lab.results import decoder
from lab.results.columns import NUMBERS, SHARED, Columns
from lab.results.decoder import Decoder
from lab.results.trial import ADDED, FIELDS, SCHEMA, problem

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
SCRAPS = [
    b"", b"{", b"}", b"[", b"]", b'"', b",", b":", b" ", b"\n", b"\r\n", b"\\", b"\0", b"\xff", b"\xc3\xa9", b"0", b"-",
    b".", b"e", b"}\n{", b"} {", b"\n\n", b", ", b"null", b"\xef\xbb\xbf", b'"x": 1, ',
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
    """What stands at the places of ``observed``, in these lines or beside them."""
    texts = [lines[start:end] if start >= 0 else found.observed_texts[end] for start, end in found.observed.tolist()]
    return [json.loads(text) for text in texts]


def unpacked(decoder: Decoder, found: Columns, lines: bytes) -> dict[str, Any]:
    """Columns as plain lists, with the values that places stand for."""
    values: dict[str, Any] = {
        name: [repr(decoder.levels[name].made[place]) for place in places]
        for name, places in decoder.places(found).items()
    }
    values |= {name: [repr(number) for number in found.numbers[name].tolist()] for name in NUMBERS}
    values |= {f"no {name}": mask.tolist() for name, mask in found.nulls.items() if mask.any()}
    times = pd.Series(found.started_at).dt.tz_localize("UTC")
    return values | {
        "times": times.tolist(), "ids": found.trial_ids, "problem": found.problem,
        "observed": observed(found, lines),
    }  # fmt: skip


def judged_alike(lines: bytes, schema: int = SCHEMA) -> bool:
    """Whether the lines were taken quickly; fails where that gives anything else than care does."""
    quick, careful = Decoder(schema), Decoder(schema)
    looked_closer = []
    look_closer = quick._decode_carefully
    quick._decode_carefully = lambda lines: looked_closer.append(lines) or look_closer(lines)  # type: ignore[func-returns-value, method-assign]
    by_care = careful._decode_carefully(lines)
    assert unpacked(quick, quick.of_lines(lines), lines) == unpacked(careful, by_care, lines)
    return not looked_closer


@pytest.mark.parametrize("name", FIELDS)
def test_whatever_stands_in_a_field_is_judged_alike(name: str) -> None:
    for token in TOKENS:
        judged_alike(written([fields(1), fields(2) | {name: token}, fields(3)]))


def test_a_deep_line_is_judged_alike_wherever_it_stands() -> None:
    for padding in range(0, 4000, 100):
        good = fields(1) | {"reason": json.dumps("x" * (padding // 2))}
        for deep in ('{"a": ' * 99 + "1" + "}" * 99, '{"a": ' * 100 + "1" + "}" * 100):
            judged_alike(written([good, good | {"observed": deep}]))


@st.composite
def spoilt_lines(draw: st.DrawFn) -> bytes:
    """Lines with fields changed, left out, doubled and in another order, and then with scraps anywhere."""
    lines = [fields(number) for number in range(draw(st.integers(1, 3)))]
    for line in lines:
        line |= draw(st.dictionaries(st.sampled_from([*FIELDS, "surprise"]), st.sampled_from(TOKENS), max_size=2))
        for name in draw(st.sets(st.sampled_from([*FIELDS]), max_size=2)) if draw(st.integers(0, 9)) > 7 else ():
            value = line.pop(name)
            if draw(st.booleans()):
                line[name] = value
    content = written(lines)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(content) - 1))
        content = content[:place] + draw(st.sampled_from(SCRAPS)) + content[place + draw(st.integers(0, 3)) :]
    return content if content.endswith(b"\n") else content + b"\n"


@settings(max_examples=600)
@given(spoilt_lines())
def test_spoilt_lines_are_judged_alike(lines: bytes) -> None:
    judged_alike(lines)
    judged_alike(lines, schema=1)


@pytest.mark.parametrize("schema", [1, SCHEMA])
def test_what_a_run_writes_is_taken_quickly(schema: int) -> None:
    made = [one.to_json() for one in make_trials(blocks=1)]
    lacked = [name for since, added in ADDED.items() if since > schema for name in added]
    for line in made:
        for name in lacked:
            del line[name]
    assert judged_alike("".join(f"{json.dumps(line)}\n" for line in made).encode(), schema)


@pytest.mark.parametrize(
    "lines",
    [
        b"%(a)s %(b)s\n\n",
        b"%(a)s\n\n%(b)s\n",
        b" %(a)s\n%(b)s\n",
        b"%(a)s\r\n%(b)s\n",
        b"%(a)s%(b)s\n",
        b"%(head)s\n%(tail)s %(b)s\n",
        b"%(head)s\n%(tail)s\n%(b)s\n",
    ],
)
def test_one_line_holds_one_trial_from_end_to_end(lines: bytes) -> None:
    one, two = (written([fields(number)])[:-1] for number in (1, 2))
    head, tail = one.split(b' "options": ')
    assert not judged_alike(lines % {b"a": one, b"b": two, b"head": head + b' "options":', b"tail": tail})


@pytest.mark.parametrize("name", ["client", "options", "effective", "reason"])
@pytest.mark.parametrize("sign", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3\xa9"])
def test_what_is_no_text_is_judged_alike(name: str, sign: bytes) -> None:
    line = written(
        [fields(1) | {"options": '{"x": "options"}', "effective": '{"x": "effective"}', "reason": '"reason"'}]
    )
    place = line.rindex(name.encode())
    assert judged_alike(line[:place] + sign + line[place:]) == (sign == b"\xc3\xa9")


def test_a_word_and_an_object_that_repeat_are_made_once() -> None:
    decoder = Decoder(SCHEMA)
    found = decoder.of_lines(written([fields(number) for number in range(50)]))
    assert {name: len(decoder.levels[name].made) for name in (*SHARED, "protocol")} == {
        "options": 1, "effective": 1, "protocol": 1
    }  # fmt: skip
    assert len(found) == 50


@pytest.mark.parametrize(
    "text",
    [
        "2030-01-02T03:04:05+00:00", "2030-01-02T03:04:05.678+00:00", "2030-02-29T03:04:05+00:00",
        "2030-13-01T00:00:00+00:00", "2030-01-02T24:00:00+00:00", "2030-01-02T23:59:60+00:00",
        "0000-01-01T00:00:00+00:00", "0000-12-31T23:59:59.999+00:00", "0001-01-01T00:00:00+01:00",
        "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999+00:00",
        "2030-01-02T03:04:05+01:00", "2030-01-02T03:04:05Z", "2030-01-02", "2030",
        "2030-01-02T03:04:05+00:0\0", "2030-01-02 03:04:05+00:00", "٢٠٣٠-01-02T03:04:05+00:00", "", "NaT",
    ],
)  # fmt: skip
def test_times_are_those_of_iso_8601(text: str) -> None:
    judged_alike(written([fields(number) | {"started_at": json.dumps(text)} for number in range(2)]))
    try:
        times = decoder._times([text])
    except ValueError:
        assert problem(GOOD | {"started_at": text})
    else:
        assert pd.Timestamp(times[0], tz="UTC") == pd.to_datetime(text, utc=True, format="ISO8601")
