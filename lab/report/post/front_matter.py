"""Front matter: what a generator of sites reads of a post, as YAML between ``---`` or as TOML between ``+++``."""

from __future__ import annotations

from contextlib import suppress

from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.answer import points
from lab.results.trial import read_time

KINDS = {"yaml": ("---", ": "), "toml": ("+++", " = ")}
LONGEST, LONGEST_TAG, MOST_TAGS = 200, 40, 12


def front_matter(kind: str, title: str, run: Analysis, path: str) -> str:
    """Title, date (of the run, UTC), description and tags; with an empty line after it. ``kind`` is one of KINDS."""
    fence, sets = KINDS[kind]
    fields = {"title": quoted(one_line(title)), "date": _date(run), "description": quoted(_description(run, path))}
    fields["tags"] = f"[{', '.join(map(quoted, _tags(run)))}]"
    lines = [f"{name}{sets}{value}" for name, value in fields.items() if value]
    return "\n".join([fence, *lines, fence, "", ""])


def quoted(text: str) -> str:
    """Text in double quotes as YAML 1.1 and 1.2, TOML and, but for ``\\U``, JSON read it back.

    Whatever is not printed plainly stands as its number. Raises ValueError for half a character, which no file holds.
    """
    return f'"{"".join(map(_quoted, text))}"'


def _quoted(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    if "\ud800" <= char <= "\udfff":
        raise ValueError(f"{char!r} is half a character")
    return f"\\u{ord(char):04x}" if ord(char) < 2**16 else f"\\U{ord(char):08x}"


def _date(run: Analysis) -> str:
    """When the run began, as YAML and TOML write a time; empty where it does not tell."""
    with suppress(ValueError, TypeError):
        return f"{read_time(run.trials.frame.attrs['run']['started_at']).replace(tzinfo=None):%Y-%m-%dT%H:%M:%S}Z"
    return ""


def _description(run: Analysis, path: str) -> str:
    """The first statement of the answer."""
    first, *_ = points(run, path)
    return one_line(f"{first.heading}: {first.parts[0]}.", LONGEST)


def _tags(run: Analysis) -> list[str]:
    """What it is about, and which protocols and tools it has."""
    trials = run.trials
    cells = trials.cells(("protocol", "tool"), trials.transfer)
    named = [one_line(str(level), LONGEST_TAG) for name in ("protocol", "tool") for level in cells.levels[name]]
    return list(dict.fromkeys(["file sharing", "benchmark", *named]))[:MOST_TAGS]
