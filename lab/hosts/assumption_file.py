"""Files of assumptions: TOML beside the module that relies on them, a table for each assumption, in the order to show.

``what``, ``expected``, ``source`` and ``breaks`` are texts, ``risk`` is a name of :class:`Risk` in small letters, and a
version is a text such as ``"10.15"``. The rest may be left out. ``perl_functions`` are shell functions that ``ask`` may
call: name, and the Perl script beside the file that each runs.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from lab.base.scripts import read_script
from lab.base.validation import Model, read_text, read_toml, validate
from lab.hosts.assumption import Assumption, Question, Risk, Version
from lab.hosts.perl import shell_function

NAME = re.compile(r"[a-z0-9-]{1,60}")  # as lab/check/hardware_file.py reads it back
VERSION = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3})?")


def _risk(text: object) -> Risk:
    if text not in (names := [risk.name.lower() for risk in Risk]):
        raise ValueError(f"is none of {', '.join(names)}")
    return Risk[str(text).upper()]


def _version(text: object) -> Version:
    if not isinstance(text, str) or not VERSION.fullmatch(text):
        raise ValueError('is no version, such as "10.15" or "27"')
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


Text = Annotated[str, Field(min_length=1)]
VersionText = Annotated[Version, BeforeValidator(_version)]


class Table(Model):
    """The table of an assumption."""

    model_config = ConfigDict(strict=True)

    what: Text
    perl_functions: dict[str, str] = Field(default_factory=dict)
    ask: str = ""
    expected: Text
    source: Text
    unverified: bool = False
    root: bool = False
    since: VersionText = Question.since
    before: VersionText = Question.before
    risk: Annotated[Risk, BeforeValidator(_risk)]
    breaks: Text

    @model_validator(mode="after")
    def _check_together(self) -> Table:
        if self.since >= self.before:
            raise ValueError("before: is no later version than since")
        if not self.ask and (self.root or self.perl_functions):
            raise ValueError("ask: is missing; root and perl_functions are about a command")
        if self.ask:
            try:
                fits_nothing = re.search(self.expected, "", re.MULTILINE)
            except re.error as error:
                raise ValueError(f"expected: is no regular expression: {error}") from error
            if fits_nothing:
                raise ValueError("expected: is found in an empty output, too")
        return self


class File(Model):
    """A file of assumptions."""

    assumptions: dict[str, Table]

    @model_validator(mode="after")
    def _check_names(self) -> File:
        if wrong := [name for name in self.assumptions if not NAME.fullmatch(name)]:
            raise ValueError(f"[{wrong[0]}]: a name is small letters, digits and hyphens, at most 60")
        return self


@functools.cache
def read_assumptions(path: Path) -> tuple[Assumption, ...]:
    """The assumptions in a file. Raises BadInput, which names file, table and key, for what is wrong in it."""
    content = read_toml(read_text(path, "install the lab anew"), path, "a file of assumptions")
    tables = validate(File, {"assumptions": content}, path).assumptions
    return tuple(_assumption(name, table, path) for name, table in tables.items())


def _assumption(name: str, table: Table, path: Path) -> Assumption:
    functions = (
        shell_function(function, read_script(str(path), script)) for function, script in table.perl_functions.items()
    )
    fields = table.model_dump(exclude={"perl_functions"})
    return Assumption(name=name, **fields | {"ask": "".join(functions) + table.ask.strip()})
