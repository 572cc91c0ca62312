"""What the lab takes for granted about a system, the files that say so, and output that is worth a capture.

A file is TOML beside the module that relies on it, with a table for each assumption in the order to show: ``what``,
``expected``, ``source`` and ``breaks`` are texts, ``risk`` is a name of :class:`Risk` in small letters, and a version
is a text such as ``"10.15"``. The rest may be left out. ``perl_functions`` are shell functions that ``ask`` may call:
name, and the Perl script beside the file that each runs.
"""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from lab.base.scripts import read_script
from lab.base.validation import Model, read_text, read_toml, validate
from lab.hosts.command import shell_function

Version = tuple[int, int]


class Risk(IntEnum):
    """What is lost if an assumption is false, the worst first."""

    LEFT_BEHIND = 1
    WRONG_FIGURES = 2
    NO_RUN = 3
    NO_PROTOCOL = 4
    TOLD = 5

    @property
    def words(self) -> str:
        return {
            Risk.LEFT_BEHIND: "something stays changed on the host",
            Risk.WRONG_FIGURES: "figures are wrong, and nothing says so",
            Risk.NO_RUN: "nothing is measured",
            Risk.NO_PROTOCOL: "a protocol is not measured",
            Risk.TOLD: "a trial fails or less is known, and the lab says so",
        }[self]


@dataclass(frozen=True)
class Question:
    """What a host of some versions of a system is asked: ``since`` one version and ``before`` another.

    ``name`` is how files refer to it, and stays when its texts change. ``ask`` is a script for ``/bin/sh`` that changes
    nothing: ``$1`` is the data interface, ``$2`` the other host's address, ``$3`` the account that logs in.
    """

    name: str
    ask: str
    root: bool = False
    since: Version = (0, 0)
    before: Version = (1000, 0)

    def holds_for(self, version: Version) -> bool:
        """Whether the question is about systems of this version."""
        return self.since <= version < self.before


@dataclass(frozen=True, kw_only=True)
class Assumption(Question):
    """Something that the lab relies on.

    If ``what`` is true, the regular expression ``expected`` is found in the output of ``ask``, standard error included.
    Without an ``ask``, only a run or a person can show it, and ``expected`` says how. ``source`` says why the lab
    assumes it. If it is ``unverified``, only hardware can prove it. ``breaks`` says what goes wrong if it is false, and
    ``risk`` how bad that is.
    """

    what: str
    expected: str
    source: str
    risk: Risk
    breaks: str
    ask: str = ""
    unverified: bool = False


@dataclass(frozen=True, kw_only=True)
class Capture(Question):
    """Output that a parser reads, worth keeping for the tests; ``parse`` raises if it cannot."""

    parse: Callable[[str], object]


def rank(assumptions: Iterable[Assumption]) -> list[Assumption]:
    """Assumptions in the order to check them: the unverified first, then by risk, then as given."""
    return sorted(assumptions, key=lambda row: (not row.unverified, row.risk))


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
    def _check_together(self) -> Self:
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
    def _check_names(self) -> Self:
        if wrong := [name for name in self.assumptions if not NAME.fullmatch(name)]:
            raise ValueError(f"[{wrong[0]}]: a name is small letters, digits and hyphens, at most 60")
        return self


@functools.cache
def read_assumptions(path: Path) -> tuple[Assumption, ...]:
    """The assumptions in a file. Raises BadInput, which names file, table and key, for what is wrong in it."""
    content = read_toml(read_text(path, "install the lab anew"), path, "a file of assumptions")
    tables = validate(File, {"assumptions": content}, path).assumptions
    rows = []
    for name, table in tables.items():
        functions = [shell_function(word, read_script(str(path), file)) for word, file in table.perl_functions.items()]
        fields = table.model_dump(exclude={"perl_functions"}) | {"ask": "".join(functions) + table.ask.strip()}
        rows.append(Assumption(name=name, **fields))
    return tuple(rows)
