"""The fleet file: pairs of hosts, and the sweeps that run on them, how often, how urgently and when."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, field_validator, model_validator

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput
from lab.base.untrusted import listing, one_line
from lab.base.validation import Model, Seconds, read_text, read_toml, validate
from lab.design.sweep_file import RUN_NAME
from lab.fleet.windows import Window, parse_window
from lab.hosts.sections import check_place

Name = Annotated[str, Field(pattern=f"^{RUN_NAME}$")]
TimeWindow = Annotated[Window, BeforeValidator(parse_window)]
HIGHEST = 1000  # of a priority


class Pairs(Model):
    """One ``[[pairs]]``: hosts files, each of which is a pair, and what is said of all of them."""

    hosts: tuple[str, ...] = Field(min_length=1)
    """Hosts files, or patterns of such as `hosts/*.ini`, from the folder of the fleet file. Each is a pair, which is
    called as its file is, without the ending."""
    name: Name | None = None  #: Another name for the pair; only where `hosts` is one file.
    tags: tuple[Name, ...] = ()
    """Words by which `[[tasks]]` choose pairs. A file that several `[[pairs]]` name has the tags of all."""
    site: Name | None = None
    """The site whose controllers reach these hosts: the name of a resource that workers of the scheduler have. Default:
    every worker reaches them."""

    @model_validator(mode="after")
    def _name_is_of_one_file(self) -> Pairs:
        if self.name and (len(self.hosts) > 1 or any(char in self.hosts[0] for char in "*?[")):
            raise ValueError("name: is for one file; several are called as the files are")
        return self


class Tasks(Model):
    """One ``[[tasks]]``: a sweep, and the pairs that it runs on."""

    sweep: str  #: A sweep file, from the folder of the fleet file, or the name of a sweep that comes with the lab.
    pairs: tuple[Name, ...] = ()  #: Names of pairs that it runs on. Default, without `tags` too: all.
    tags: tuple[Name, ...] = ()  #: It runs on every pair that has one of these tags.
    repetitions: int = Field(1, ge=1, le=1000, strict=True)
    """How many runs of it each pair gets. Every pair has had its first before any has its second."""
    priority: int = Field(0, ge=-HIGHEST, le=HIGHEST, strict=True)
    """If several tasks can begin, the one with the highest priority does."""
    windows: tuple[TimeWindow, ...] = ()
    """When it may run, such as `["Mon-Fri 20:00-06:00", "Sat-Sun 00:00-24:00"]`, by the clock of this machine. At the
    end of a window the run is stopped, puts everything back, and goes on in the next one. Default: always."""


class Fleet(Model):
    """A fleet file."""

    name: Name  #: The fleet's name, and that of its folder in `fleets`.
    description: str = ""  #: What the fleet is to find out, for people.
    most_at_once: int = Field(8, ge=1, le=1000, strict=True)
    """How many sweeps run at a time on this machine; of a scheduler of your own, on all of it."""
    attempts: int = Field(3, ge=1, le=100, strict=True)
    """How many attempts of a task may fail before it counts as failed. A pair that somebody else uses costs none."""
    retry_after: Annotated[Seconds, Field(le=86400)] = 600.0
    """How long after an attempt that failed, or could not begin, the next one begins at the earliest."""
    pairs: tuple[Pairs, ...]  #: The tables `[[pairs]]`.
    tasks: tuple[Tasks, ...]  #: The tables `[[tasks]]`.

    @property
    def folder(self) -> Path:
        """The folder of the fleet file; relative paths start there. Raises ValueError for a fleet without a file."""
        if self._file is None:
            raise ValueError("a fleet that was not read from a file")
        return self._file.parent


class _Top(Model):
    """The keys of the file with its tables as they are, checked first for a message without their details."""

    name: Name
    description: str = ""
    most_at_once: object = None
    attempts: object = None
    retry_after: object = None
    pairs: object
    tasks: object

    @field_validator("pairs", "tasks")
    @classmethod
    def _are_tables(cls, value: object) -> object:
        if not isinstance(value, list) or not value or not all(isinstance(table, dict) for table in value):
            raise ValueError("is to be one or more tables: [[pairs]] and [[tasks]], in double brackets")
        return value


def load_fleet(path: Path) -> Fleet:
    """Read a fleet file. Raises BadInput, also for a file among results, because its hosts files name commands."""
    try:
        check_place(path)
    except BadInput as error:
        raise BadInput(error.message, "look at it, and copy what is right to a fleet file outside") from error
    return parse_fleet(read_text(path, "docs/how-to/run-a-fleet.md has one to begin with"), path)


def parse_fleet(text: str, path: Path) -> Fleet:
    """Parse the text of the fleet file ``path``. Raises BadInput."""
    content = read_toml(text, path, "a fleet file")
    validate(_Top, content, path)
    problems = []
    for key, model in (("pairs", Pairs), ("tasks", Tasks)):
        for number, table in enumerate(content[key], 1):
            try:  # each table by itself, so that the message can name its keys
                validate(model, table, Path(f"{path}: [[{key}]] {number}"))
            except BadInput as error:
                problems.append(error.message)
    if problems:
        raise BadInput("\n".join(problems[:20]), several=True)
    return validate(Fleet, content, path)


def check_names(fleet: Fleet, pairs: dict[str, frozenset[str]], path: Path) -> None:
    """Raise BadInput if a task names a pair or tag that does not exist; ``pairs`` has the tags of each pair."""
    tags = sorted(frozenset().union(*pairs.values()))
    for number, task in enumerate(fleet.tasks, 1):
        for key, names, known in (("pairs", task.pairs, sorted(pairs)), ("tags", task.tags, tags)):
            for name in (name for name in names if name not in known):
                there = f"there are {listing(known) or 'none'}{hint(name, known)}"
                raise BadInput(f"{path}: [[tasks]] {number}: {key}: {one_line(name, 80)}: no pair has it; {there}")
