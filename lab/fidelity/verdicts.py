"""What became of a probe: the object at one end compared with that at the other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lab.base.errors import shorten
from lab.fidelity.probes import OWN_TIME, Probe

LONGEST_TEXT = 160  # characters of a value or an error that is shown
# What a tool says where it could not keep an attribute. An error about another one is no refusal of this one
CONCERNS = {
    "xattr": r"xattr|attribute",
    "finder": r"xattr|attribute",
    "flag": r"flags",
    "acl": r"acl\b|acl_|permissions|attribute|access list",
    "owner": r"owner|chown|chgrp",
    "mode": r"permissions|chmod|mode",
    "time": r"times|utime",
    "hard link": r"\blink",
    "name": r"creat|open|exists|mkstemp|rename|stat\b",
}
ANYTHING, NOTHING = "", "(?!)"
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")  # in an error: mostly a path, and in that the name of a probe
TIME = re.compile(r"-?[0-9]{1,12}\.[0-9]{9}")


class Verdict(StrEnum):
    """Of one probe, in one copy."""

    KEPT = "kept"
    CHANGED = "changed"
    LOST = "lost"
    REFUSED = "refused"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Reading:
    """What a host read of a probe: ``state`` is value, none, missing or error, ``text`` the value or what was said."""

    state: str
    text: str = ""

    @classmethod
    def of(cls, pair: object) -> Reading:
        """One of what a host printed. Raises ValueError."""
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"{pair!r:.60} is no reading of a probe")
        return cls(*pair)


@dataclass(frozen=True)
class Judgement:
    """A verdict, and how: what was changed into what, or what the tool said."""

    verdict: Verdict
    how: str = ""


@dataclass(frozen=True)
class Judge:
    """Compares what was read with the source. ``refused`` is why a probe could not be laid there, by its name.

    ``failures`` is what the tool said of each probe at which it failed.
    """

    source: Mapping[str, Reading]
    refused: Mapping[str, str]
    failures: Mapping[str, str]

    def judge(self, probe: Probe, target: Reading, plain: Reading | None) -> Judgement:
        """What became of a probe. ``plain`` is the same of an object there that was given no attribute."""
        source = self.source[probe.name]
        if probe.name in self.refused or source.state != "value":
            why = self.refused.get(probe.name) or source.text or "the source does not hold it"
            return Judgement(Verdict.IMPOSSIBLE, _short(why))
        if target == source:
            return Judgement(Verdict.KEPT)
        verdict = Verdict.LOST if _is_lost(probe, source, target, plain) else Verdict.CHANGED
        how = "" if target.state in ("none", "missing") else f"{_show(probe, source)} → {_show(probe, target)}"
        if failure := self._refusal(probe, target):
            return Judgement(Verdict.REFUSED, failure)
        return Judgement(verdict, how)

    def _refusal(self, probe: Probe, target: Reading) -> str:
        """What the tool said about this attribute; empty where it said nothing of it."""
        is_gone, kind = target.state in ("missing", "error"), "name" if probe.names else probe.attribute
        concern = ANYTHING if is_gone else CONCERNS.get(kind, NOTHING)
        # a line about a file explains its loss better than one about the folder around it, which rsync prints first
        lines = sorted(self.failures.get(probe.name, "").splitlines(), key=lambda line: f"/{probe.name}/" not in line)
        return next((_short(line) for line in lines if re.search(concern, QUOTED.sub("", line), re.IGNORECASE)), "")


def _is_lost(probe: Probe, source: Reading, target: Reading, plain: Reading | None) -> bool:
    """Whether nothing of the attribute is left: it is missing, or as that of any new object."""
    if target.state in ("none", "missing"):
        return True
    if probe.names:
        return set(_names(target)) < set(_names(source))
    if probe.attribute == "time":
        return bool(TIME.fullmatch(target.text)) and OWN_TIME[0] <= float(target.text) < OWN_TIME[1]
    return target == plain


def _names(reading: Reading) -> Sequence[str]:
    """The names in a reading of a probe of names; none where it is not that."""
    try:
        names = json.loads(reading.text)
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _show(probe: Probe, reading: Reading) -> str:
    """A reading as a person tells it from another one: é is written in two ways that look alike."""
    names = _names(reading) if probe.names else []
    return _short(", ".join(name.encode("unicode_escape").decode() for name in names) or reading.text)


def _short(text: str) -> str:
    return shorten(text.encode("utf-8", "backslashreplace").decode(), LONGEST_TEXT)
