"""Lines of trials.jsonl that are decoded quickly and with care, and what may stand in them."""

import json
from typing import Any

from lab.results.columns import NUMBERS, Columns
from lab.results.decoder import Decoder
from lab.results.trial import SCHEMA
from support.synthetic_runs import trial

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
    return values | {
        "times": found.started_at.tolist(), "ids": found.trial_ids, "problem": found.problem,
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
