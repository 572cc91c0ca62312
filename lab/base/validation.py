"""Reads a file into a frozen model; each mistake becomes one line of a message."""

import glob
import io
import itertools
import shlex
import stat
import tomllib
import typing
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from lab.base import untrusted
from lab.base.did_you_mean import hint, nearest
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.units import parse_seconds, parse_share, parse_size
from lab.base.untrusted import one_line

Size = Annotated[int, BeforeValidator(parse_size)]
Share = Annotated[float, BeforeValidator(parse_share)]
Seconds = Annotated[float, BeforeValidator(parse_seconds)]


class Model(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    _file: Path | None = None

    def model_post_init(self, context: Any) -> None:
        """Remember the file, which :func:`validate` passes as context."""
        self._file = context

    @property
    def place(self) -> str:
        """The beginning of a message about the model: its file and a colon; empty without a file."""
        return f"{self._file}: " if self._file else ""


MOST_SIMILAR_FILES = 1000  # in a folder, compared with a missing one
MOST_DOTS = 200  # in a line of TOML: the parser takes time with their square
MOST_PROBLEMS = 20  # of one file in one message
# In place of messages of pydantic that are about Python
PLAIN_WORDS = {
    "tuple_type": "is not a list",
    "too_short": "is an empty list; it needs at least one level",
    "model_type": "is not a section",
}


def read_text(path: Path, remedy: str) -> str:
    """The text of a file. Raises BadInput; for a missing file it names a similar one nearby, or else ``remedy``."""
    try:
        content = untrusted.read_file(path, untrusted.MOST_INPUT_BYTES, links=True)
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file; {_similar_file(path) or remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def read_toml(text: str, path: Path, kind: str) -> dict[str, Any]:
    """The content of a TOML file, a ``kind`` such as ``a sweep``. Raises BadInput, also for text too hard to parse."""
    if len(text) > untrusted.MOST_INPUT_BYTES:
        raise BadInput(f"{path}: {kind} of {len(text):,} characters: at most {untrusted.MOST_INPUT_BYTES:,}")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:
            raise BadInput(f"{path}: line {number}: more than {MOST_DOTS} dots", "write prose in several lines")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not every bad number or depth is a TOMLDecodeError
        raise BadInput(f"{path}: not valid TOML: {error}") from error


def _similar_file(path: Path) -> str:
    """A question about a file nearby with the same ending and a similar name; empty if there is none."""
    files = path.parent.glob(f"*{glob.escape(path.suffix)}") if path.suffix else iter(())
    by_name = {file.stem: file for file in itertools.islice(files, MOST_SIMILAR_FILES)}
    name = nearest(path.stem, by_name)
    return f"did you mean {one_line(str(by_name[name]))}?" if name else ""


ModelT = TypeVar("ModelT", bound=Model)


def validate(model: type[ModelT], content: dict[str, Any], path: Path) -> ModelT:
    """The model for the content of a file. Raises BadInput with a line for each mistake."""
    try:
        return model.model_validate(content, context=path)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # pydantic also calls a list too short if its only level is wrong
        wrong = {problem["loc"][:-1] for problem in problems}
        problems = [problem for problem in problems if problem["type"] != "too_short" or problem["loc"] not in wrong]
        lines = [_explain(problem, path, model) for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            lines.append(f"{path}: and {len(problems) - MOST_PROBLEMS:,} more such problems")
        raise BadInput("\n".join(lines), several=True) from error


def _explain(problem: ErrorDetails, path: Path, model: type[Model]) -> str:
    """One line: file, section, key, what is wrong, and what would be right."""
    names = [part for part in problem["loc"] if isinstance(part, str)]
    own_error = problem.get("ctx", {}).get("error")  # of a validator of the lab's
    complaint = str(own_error) if own_error else PLAIN_WORDS.get(problem["type"], problem["msg"])
    if not names:  # about the file as a whole, which is long and may hold secrets
        return f"{path}: {complaint}"
    section, unknown = model, False
    if collected := _collected(model, names[0]):  # its sections have names of their own in the file
        section, names = collected, names[1:]
    for depth, name in enumerate(names):
        if depth == 0 and collected:
            continue
        field = section.model_fields.get(name)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, Model)):
            names, unknown = names[: depth + 1], field is None
            break
        section = field.annotation
    names = [one_line(name, 80) for name in names]
    where = ": ".join([str(path), " ".join([*(f"[{name}]" for name in names[:-1]), names[-1]])])
    is_table = problem["type"] == "extra_forbidden" and isinstance(problem["input"], dict)
    if len(names) == 1 and (section is not model or is_table):
        where = f"{path}: [{names[-1]}]"
        if own_error and complaint.partition(": ")[0] in section.model_fields:  # about one key in relation to others
            return f"{where} {complaint}"
    if unknown:
        fields = [name for name in section.model_fields if not _collected(section, name)]
        return f"{where}: unknown; what may stand here is {', '.join(fields)}{hint(names[-1], fields)}"
    if problem["type"] == "missing":
        return f"{where}: missing"
    ending = _warn_of_readers(path) if "password" in names[-1] else f" (it is {abbreviate(problem['input'])})"
    return f"{where}: {complaint}{ending}"


def _collected(model: type[Model], name: str) -> type[Model] | None:
    """The model of the sections that a field collects by name; None for any other field."""
    field = model.model_fields.get(name)
    words = typing.get_args(field.annotation) if field and typing.get_origin(field.annotation) is dict else ()
    return words[1] if words and isinstance(words[1], type) and issubclass(words[1], Model) else None


def _warn_of_readers(path: Path) -> str:
    """A warning if a password may stand in a file that others can read."""
    try:
        open_to_others = path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
    except OSError:
        open_to_others = 0
    if not open_to_others:
        return ""
    chmod = shlex.join(["chmod", "600", str(path)])
    return f"; others can read this file: `{chmod}`, and change a password that stood here"


def abbreviate(value: object) -> str:
    """A value from a file for a message, shortened."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return "a number of very many digits"
