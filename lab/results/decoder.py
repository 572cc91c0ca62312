"""Decode trials.jsonl into columns, many lines at once. Each distinct word and each distinct object is made once.

msgspec decodes lines as a run writes them into typed structs. It takes nothing that
:func:`lab.base.untrusted.from_json` and :func:`lab.results.trial.problem` refuse. If msgspec refuses a line, these two
decide on each line of the bunch.
"""

import contextlib
import errno
import functools
import gc
import json
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from lab.base.secret_texts import all_without_secrets, without_secrets
from lab.base.units import LARGEST
from lab.base.untrusted import LONG_LINE, MOST_LINE_BYTES, from_json, open_file
from lab.results.columns import NUMBERS, SHARED, WORDED, Columns, join
from lab.results.trial import FIELDS, LEAST, WORDS, Trial, are_options, is_short, lacking_fields, read_line, read_time

# A longer line, or one with more brackets, is decoded with care: it may be too deep, or have too long a number
_LONGEST, _MOST_BRACKETS = 4000, 100
# The forms of times that are decoded quickly, by length: the least and the largest character in each place
_TIMES = {
    len(least): (np.frombuffer(least, np.uint8), np.frombuffer(largest, np.uint8))
    for least, largest in (
        (b"0000-00-00T00:00:00+00:00", b"9999-99-99T99:99:99+00:00"),
        (b"0000-00-00T00:00:00.000+00:00", b"9999-99-99T99:99:99.999+00:00"),
    )
}
_BUNCH_BYTES = 512 << 10  # decoded at once: fits into the caches of a processor
_KEPT_BYTES = 24 << 20  # of memory, from bunch to bunch
_FIRST = np.datetime64("0001-01-01", "us")  # numpy knows earlier years, and datetime does not
KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Levels(dict[KeyT, int], Generic[KeyT, ValueT]):
    """A number for each distinct key. ``made`` has what ``make`` makes of it, by number."""

    def __init__(self, make: Callable[[KeyT], ValueT]):
        super().__init__()
        self.make = make
        self.made: list[ValueT] = []

    def __missing__(self, key: KeyT) -> int:
        self.made.append(self.make(key))
        self[key] = number = len(self)
        return number


class Decoder:
    """Makes columns of the lines of a run of ``schema``.

    ``levels`` has the distinct values of each of WORDED in all columns, and ``combinations`` the distinct rows of
    numbers in these: values that repeat together are looked up together.
    """

    def __init__(self, schema: int):
        self.schema = schema
        self.lacking = lacking_fields(schema)
        self._struct = _line_struct(schema)
        self._decode = msgspec.json.Decoder(self._struct).decode_lines
        self.levels: dict[str, Levels[Any, Any]] = {
            name: Levels(functools.partial(_read_object if name in SHARED else _read_text, name)) for name in WORDED
        }
        # The last row of each case: a comparison takes a third of the time of a hash
        self._last: dict[str | bytes, tuple[tuple[str | bytes, ...], int]] = {}
        self.combinations: Levels[tuple[str | bytes, ...], list[int]] = Levels(
            lambda texts: [levels[text] for levels, text in zip(self.levels.values(), texts, strict=True)]
        )

    def of_lines(self, lines: bytes, start: int = 0) -> Columns:
        """The columns of whole lines, which start at byte ``start`` of their file."""
        try:
            rows, ends = self._decode_quickly(lines)
            values = _values(rows)
            columns = self._of_values(values)
            columns.place_observed(start, lines, ends, list(map(bytes, values["observed"])))
            _check(columns, rows)
        except (ValueError, OverflowError, RecursionError):  # msgspec's errors are ValueErrors
            columns = self._decode_carefully(lines)
        return columns

    def of_trials(self, trials: Iterable[Trial]) -> Columns:
        """The columns of valid trials in memory."""
        return self._of_records([trial.to_json() for trial in trials])

    def places(self, columns: Columns) -> dict[str, npt.NDArray[np.int32]]:
        """The number of each row in the levels of each of WORDED."""
        table = np.array(self.combinations.made, np.int32).reshape(-1, len(WORDED))
        return {name: table[columns.combinations, number] for number, name in enumerate(WORDED)}

    def _decode_quickly(self, lines: bytes) -> tuple[Sequence[Any], npt.NDArray[np.int64]]:
        """A struct for each line, and the line ends. Raises ValueError or RecursionError if a line needs care."""
        if not lines.isascii():
            lines.decode()  # msgspec does not check the encoding inside objects that it skips
        signs = np.frombuffer(lines, np.uint8)
        ends = np.flatnonzero(signs == ord("\n"))
        opening = signs == ord("{") if b"[" not in lines else signs | 0x20 == ord("{")  # [ and { differ in this bit
        brackets = np.flatnonzero(opening)
        many_at_once = (brackets[_MOST_BRACKETS:] - brackets[:-_MOST_BRACKETS] < _LONGEST).any()
        if np.diff(ends, prepend=-1).max() > _LONGEST or many_at_once:
            raise ValueError("a line is long, or may be deep")
        # No value contains } and then {, so such line ends have a whole number of values between them
        if lines[0] != ord("{") or (signs[ends - 1] != ord("}")).any() or (signs[ends[:-1] + 1] != ord("{")).any():
            raise ValueError("a line is not an object from end to end")
        rows: Sequence[Any] = self._decode(lines)
        if len(rows) != len(ends):
            raise ValueError("more than one value stands in a line")
        return rows, ends

    def _decode_carefully(self, lines: bytes) -> Columns:
        records: list[Mapping[str, object]] = []
        wrong = ""
        for line in lines.split(b"\n")[:-1]:
            record, wrong = read_line(line, self.lacking)
            if wrong:
                break
            records.append(record)
        columns = self._of_records(records)
        columns.problem = wrong
        return columns

    def _of_records(self, records: Sequence[Mapping[str, object]]) -> Columns:
        objects = [{name: json.dumps(record[name]).encode() for name in SHARED} for record in records]
        rows = [self._struct(**{**record, **shared}) for record, shared in zip(records, objects, strict=True)]
        columns = self._of_values(_values(rows))
        columns.list_observed(json.dumps(record["observed"]) for record in records)
        return columns

    def _of_values(self, values: Mapping[str, Sequence[Any]]) -> Columns:
        columns = Columns(list(values["trial_id"]))
        columns.started_at = _times(values["started_at"])
        texts = (map(bytes, values[name]) if name in SHARED else values[name] for name in WORDED)
        columns.combinations = np.array(list(self._number(zip(*texts, strict=True))), np.int32)
        for name, kind in NUMBERS.items():
            try:
                columns.numbers[name] = np.fromiter(values[name], kind, len(columns))
            except TypeError:  # there is a null, which an int cannot be
                columns.nulls[name] = np.array([number is None for number in values[name]])
                columns.numbers[name] = np.array([number or 0 for number in values[name]], kind)
        return columns

    def _number(self, combinations: Iterable[tuple[str | bytes, ...]]) -> Iterator[int]:
        """The number of each combination. Its first word, the case, mostly determines the rest."""
        for texts in combinations:
            last = self._last.get(texts[0])
            if last is None or last[0] != texts:
                last = self._last[texts[0]] = texts, self.combinations[texts]
            yield last[1]


def _values(rows: Sequence[msgspec.Struct]) -> dict[str, Sequence[Any]]:
    by_field = list(zip(*map(msgspec.structs.astuple, rows), strict=True)) or [()] * len(FIELDS)
    return dict(zip(FIELDS, by_field, strict=True))


def _check(columns: Columns, rows: Sequence[Any]) -> None:
    """Raise ValueError for times too short for a clock, and for good trials that took no time."""
    floats = np.stack([columns.numbers[name] for name, kind in NUMBERS.items() if kind is float])
    if ((floats > 0) & (floats < LEAST)).any():
        raise ValueError("a number is too small")
    if any(rows[row].status == "ok" for row in np.flatnonzero(~(columns.numbers["elapsed_s"] > 0)).tolist()):
        raise ValueError("a good trial took no time")


@functools.cache
def _line_struct(schema: int) -> type[msgspec.Struct]:
    """A struct for the lines of a schema. Only fields that the schema lacks are optional."""
    defaults = {
        name: msgspec.Raw(json.dumps(value).encode()) if isinstance(value, dict) else value
        for name, value in lacking_fields(schema).items()
    }
    fields: list[Any] = [
        (name, _hint(name, kinds), *([defaults[name]] if name in defaults else [])) for name, kinds in FIELDS.items()
    ]
    return msgspec.defstruct("Line", fields, kw_only=True, forbid_unknown_fields=True, gc=False)


def _hint(name: str, kinds: frozenset[type]) -> Any:
    """The type of a field for msgspec, which takes no more than :func:`lab.results.trial.problem`."""
    if dict in kinds:
        return msgspec.Raw
    text: Any = Literal[tuple(sorted(WORDS[name]))] if name in WORDS else str
    hints: dict[type, Any] = {str: text, bool: bool, types.NoneType: None}
    if float in kinds:
        hints[float] = Annotated[float, msgspec.Meta(ge=0, lt=float(LARGEST))]
    elif int in kinds:
        hints[int] = Annotated[int, msgspec.Meta(ge=0, le=LARGEST - 1)]
    first, *others = (hint for kind, hint in hints.items() if kind in kinds)
    for other in others:
        first = first | other
    return first


def _read_object(name: str, text: bytes) -> dict[str, object]:
    value = from_json(f'{{"{name}": {text.decode()}}}')[name]
    if not isinstance(value, dict) or (name == "options" and not are_options(value)):
        raise ValueError(f"{name} cannot be {value!r:.60}")
    return dict(all_without_secrets(value))


def _read_text(name: str, text: str) -> str:
    if not isinstance(text, int) and not is_short(name, text):
        raise ValueError(f"{name} is too long")
    return text if isinstance(text, int) else without_secrets(text)


def _times(texts: Sequence[str]) -> npt.NDArray[np.datetime64]:
    """Times in UTC, quickly if all have one form of _TIMES. Raises ValueError."""
    lengths, joined = set(map(len, texts)), "".join(texts)
    form = _TIMES.get(min(lengths, default=0))
    if form is not None and len(lengths) == 1 and joined.isascii():
        least, largest = form
        signs = np.frombuffer(joined.encode(), np.uint8).reshape(-1, len(least))
        if ((signs >= least) & (signs <= largest)).all():
            times = signs[:, :-6].copy().view(f"S{len(least) - 6}")[:, 0].astype("M8[us]")
            if times.min() < _FIRST:
                raise ValueError("there was no year 0")
            return times
    return np.array([read_time(text).replace(tzinfo=None) for text in texts], "M8[us]")


def read_columns(path: Path, end: int, decoder: Decoder) -> Columns:
    """The lines in the first ``end`` bytes of a file, up to the first bad one. Raises OSError."""
    with open_file(path) as file, _no_garbage_collection():
        return join([decoder.of_trials([]), *_read_bunches(file.fileno(), end, decoder)])


def _read_bunches(descriptor: int, end: int, decoder: Decoder) -> Iterator[Columns]:
    """The columns of each bunch of whole lines; the last one has the problem if a line is bad."""
    # glibc keeps a freed block of this size for the next bunch; else the kernel would clear new memory each time
    bytearray(_KEPT_BYTES)
    start, size = 0, _BUNCH_BYTES
    while start < end:
        block = os.pread(descriptor, min(size, end - start), start)
        if not block:
            raise OSError(errno.EIO, "it became shorter meanwhile")
        length = block.rfind(b"\n") + 1
        if not length and len(block) > MOST_LINE_BYTES:
            raise OSError(errno.EFBIG, LONG_LINE)
        if length:
            yield (part := decoder.of_lines(block[:length], start))
            if part.problem:
                return
        start, size = start + length, _BUNCH_BYTES if length else 2 * size  # for one long line


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Rows are millions of objects without cycles, and looking for cycles takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
