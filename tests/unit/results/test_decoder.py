"""Lines are decoded quickly, or with care where a quick look does not do: both must take and refuse the same."""

import gc
import json
from pathlib import Path

import pandas as pd
import pytest
from support.synthetic_runs import make_trials, write_run
from support.trial_lines import GOOD, TOKENS, fields, judged_alike, line, written

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_LINE_BYTES
from lab.results import dataframe, decoder, run_folder
from lab.results.columns import SHARED
from lab.results.decoder import Decoder
from lab.results.run_folder import RunFolder
from lab.results.trial import ADDED, FIELDS, SCHEMA, problem


@pytest.mark.parametrize("name", FIELDS)
def test_whatever_stands_in_a_field_is_judged_alike(name: str) -> None:
    for token in TOKENS:
        judged_alike(written([fields(1), fields(2) | {name: token}, fields(3)]))


def test_a_deep_line_is_judged_alike_wherever_it_stands() -> None:
    for padding in range(0, 4000, 100):
        good = fields(1) | {"reason": json.dumps("x" * (padding // 2))}
        for deep in ('{"a": ' * 99 + "1" + "}" * 99, '{"a": ' * 100 + "1" + "}" * 100):
            judged_alike(written([good, good | {"observed": deep}]))


@pytest.mark.parametrize("schema", [1, SCHEMA])
def test_what_a_run_writes_is_taken_quickly(schema: int) -> None:
    made = [record.to_json() for record in make_trials(blocks=1)]
    lacked = [name for since, added in ADDED.items() if since > schema for name in added]
    for record in made:
        for name in lacked:
            del record[name]
    assert judged_alike("".join(f"{json.dumps(record)}\n" for record in made).encode(), schema)


@pytest.mark.parametrize("lines", [
    b"%(a)s %(b)s\n\n", b"%(a)s\n\n%(b)s\n", b" %(a)s\n%(b)s\n", b"%(a)s\r\n%(b)s\n", b"%(a)s%(b)s\n",
    b"%(head)s\n%(tail)s %(b)s\n", b"%(head)s\n%(tail)s\n%(b)s\n",
])  # fmt: skip
def test_one_line_holds_one_trial_from_end_to_end(lines: bytes) -> None:
    first, second = (written([fields(number)])[:-1] for number in (1, 2))
    head, tail = first.split(b' "options": ')
    assert not judged_alike(lines % {b"a": first, b"b": second, b"head": head + b' "options":', b"tail": tail})


@pytest.mark.parametrize("name", ["client", "options", "effective", "reason"])
@pytest.mark.parametrize("sign", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3\xa9"])
def test_what_is_no_text_is_judged_alike(name: str, sign: bytes) -> None:
    objects = {"options": '{"x": "options"}', "effective": '{"x": "effective"}', "reason": '"reason"'}
    line = written([fields(1) | objects])
    place = line.rindex(name.encode())
    assert judged_alike(line[:place] + sign + line[place:]) == (sign == b"\xc3\xa9")


def test_a_word_and_an_object_that_repeat_are_made_once() -> None:
    decoder = Decoder(SCHEMA)
    decoded = decoder.of_lines(written([fields(number) for number in range(50)]))
    assert [len(decoder.levels[name].made) for name in (*SHARED, "protocol")] == [1, 1, 1]
    assert (SHARED, len(decoded)) == (("options", "effective"), 50)


@pytest.mark.parametrize("text", [
    "2030-01-02T03:04:05+00:00", "2030-01-02T03:04:05.678+00:00", "2030-02-29T03:04:05+00:00",
    "2030-13-01T00:00:00+00:00", "2030-01-02T24:00:00+00:00", "2030-01-02T23:59:60+00:00",
    "0000-01-01T00:00:00+00:00", "0000-12-31T23:59:59.999+00:00", "0001-01-01T00:00:00+01:00",
    "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999+00:00",
    "2030-01-02T03:04:05+01:00", "2030-01-02T03:04:05Z", "2030-01-02", "2030",
    "2030-01-02T03:04:05+00:0\0", "2030-01-02 03:04:05+00:00", "٢٠٣٠-01-02T03:04:05+00:00", "", "NaT",
])  # fmt: skip
def test_times_are_those_of_iso_8601(text: str) -> None:
    judged_alike(written([fields(number) | {"started_at": json.dumps(text)} for number in range(2)]))
    try:
        times = decoder._times([text])
    except ValueError:
        assert problem(GOOD | {"started_at": text})
    else:
        assert pd.Timestamp(times[0], tz="UTC") == pd.to_datetime(text, utc=True, format="ISO8601")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run that is read in many small bunches of lines."""
    monkeypatch.setattr(decoder, "_BUNCH_BYTES", 500)
    return write_run(tmp_path, make_trials(blocks=3))


def test_every_way_of_reading_makes_the_frame_of_the_trials_and_garbage_is_collected_again(folder: RunFolder) -> None:
    pd.testing.assert_frame_equal(run_folder.load(folder.path), dataframe.frame(folder.trials(), folder.run))
    folder.columns()
    assert gc.isenabled()


@pytest.mark.parametrize("number", [1, 2, 90, 192])
def test_the_first_bad_line_is_named_in_whichever_bunch_it_is(folder: RunFolder, number: int) -> None:
    lines = folder.trials_path.read_text().splitlines(keepends=True)
    for place in {number, min(number + 5, len(lines))}:
        lines[place - 1] = lines[place - 1].replace('"mtu": ', '"mtu": -')
    folder.trials_path.write_text("".join(lines))
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=f"line {number}: mtu cannot be -"):
            read()


def test_an_id_that_stands_in_two_bunches_is_named(folder: RunFolder) -> None:
    with folder.trials_path.open("a") as file:
        file.write(line(trial_id="b1-003") + "\n")
    for read in (folder.trials, folder.columns):
        with pytest.raises(BadInput, match=r"line \d+: trial_id b1-003 stands in line 3 already"):
            read()


@pytest.mark.parametrize("reason", ["x" * 5000, "é" * 3000, "x" * 90_000])
def test_a_line_may_be_longer_than_a_bunch(folder: RunFolder, reason: str) -> None:
    with folder.trials_path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line(trial_id=name, reason=reason)}\n" for name in "ab")
    frame = run_folder.load(folder.path)
    assert frame["reason"].iloc[-2:].tolist() == [reason, reason]
    assert frame["trial_id"].tolist() == [trial.trial_id for trial in folder.trials()]


def test_an_endless_line_and_a_shrinking_file_are_bad_input(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    size_bytes = folder.trials_path.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "_whole_and_tail", lambda self: (size_bytes + 10_000, b""))
        with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: it became shorter"):
            folder.columns()
    with folder.trials_path.open("a") as file:
        file.write(f"{' ' * 2 * MOST_LINE_BYTES}\n{line(trial_id='last')}\n")
    with pytest.raises(BadInput, match=r"trials\.jsonl: cannot be read: a line of more than"):
        folder.columns()
