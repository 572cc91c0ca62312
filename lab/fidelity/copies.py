"""One copy of all probes: what it was, and what became of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TypeAlias

from lab.base.errors import shorten
from lab.design.factors import Direction
from lab.fidelity.probes import LINUX, OWN_TIME, Probe, known_to

LONGEST_TEXT = 160  # characters of a value or an error that is shown
# What a tool says if it could not keep an attribute. An error about another attribute is no refusal of this one
CONCERNS = {
    "xattr": r"xattr|attribute",
    "finder": r"xattr|attribute",
    "flag": r"flags",
    "acl": r"acl\b|acl_|permissions|attribute|access list",
    "owner": r"owner|chown|chgrp",
    "mode": r"permissions|chmod|mode",
    "time": r"times|utime",
    "birth": r"times|utime",
    "hard link": r"\blink",
    "name": r"creat|open|exists|mkstemp|rename|stat\b",
}
ANYTHING, NOTHING = "", "(?!)"
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")  # in an error: mostly a path, and in that the name of a probe
TIME = re.compile(r"-?[0-9]{1,12}\.[0-9]{9}")


class View(StrEnum):
    """Where a copy is looked at."""

    MOUNT = "through the mount"
    STORE = "on the store"
    REMOUNT = "after a remount"
    CLIENT = "on the client"


# The first view that exists decides: what the client finds when it comes again, or reads
DECIDING = (View.CLIENT, View.REMOUNT, View.MOUNT, View.STORE)


@dataclass(frozen=True)
class Place:
    """What a copy crossed: the protocol, the server's store, and the options of mount and server."""

    protocol: str
    store: str
    options: Mapping[str, str]

    @property
    def label(self) -> str:
        """The place in a few words, also the key of a place in a survey."""
        levels = (f"{name}={level}" for name, level in self.options.items())
        return " ".join([self.protocol.upper(), self.store, *levels])


@dataclass(frozen=True)
class Ends:
    """Who ``mounted`` the share on the client, the negotiated dialect, and the file systems of both hosts."""

    mounted: str
    dialect: str
    client_store: str
    server_store: str

    @property
    def label(self) -> str:
        """The ends in a few words."""
        mount = ", ".join(filter(None, [self.dialect, f"mounted by {self.mounted}" if self.mounted != "none" else ""]))
        return f"{mount}; client's {self.client_store or 'disk'}, server's {self.server_store or 'disk'}".lstrip("; ")


@dataclass(frozen=True)
class Copy:
    """A copy of all probes by one tool. ``command`` is the call of the tool; ``views`` are the places looked at.

    ``platforms`` are the platform of the source, then of the target. A view lacks the probes that its platform cannot
    read.
    """

    place: Place
    ends: Ends
    direction: Direction
    tool: str
    command: str
    views: Views
    debris: Mapping[str, int]
    platforms: tuple[str, str] = (LINUX, LINUX)

    @property
    def probes(self) -> tuple[Probe, ...]:
        """The probes of either platform."""
        return known_to(self.platforms)

    @property
    def label(self) -> str:
        """The copy in a few words."""
        return f"{self.place.label} {self.tool} {self.direction}"

    def judgement(self, probe: Probe) -> Judgement:
        """The verdict, and in ``how`` also where another view differs from it."""
        by_view = self._by_view(probe)
        if not by_view:
            source, target = self.platforms
            why = f"{target} cannot tell" if source in probe.on else f"{source} has no such attribute"
            return Judgement(Verdict.IMPOSSIBLE, why)
        order = (View.STORE, *DECIDING) if probe.by_store else DECIDING
        judgement = next(by_view[view] for view in order if view in by_view)
        others = by_view.items()
        differing = [f"{other.verdict} {view}" for view, other in others if other.verdict is not judgement.verdict]
        return Judgement(judgement.verdict, "; ".join(filter(None, [judgement.how, *differing])))

    def _by_view(self, probe: Probe) -> dict[View, Judgement]:
        return {view: judgements[probe.name] for view, judgements in self.views.items() if probe.name in judgements}

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many probes have each verdict."""
        verdicts = [self.judgement(probe).verdict for probe in self.probes]
        return {verdict: verdicts.count(verdict) for verdict in Verdict}

    @property
    def is_whole(self) -> bool:
        """Whether all that the source had was kept."""
        return not any(self.counts[verdict] for verdict in (Verdict.CHANGED, Verdict.LOST, Verdict.REFUSED))

    def to_json(self) -> dict[str, object]:
        """For a program to read."""
        results = {}
        for probe in self.probes:
            judgement = self.judgement(probe)
            views = {view.value: by_view.verdict.value for view, by_view in self._by_view(probe).items()}
            results[probe.name] = {"verdict": judgement.verdict.value, "how": judgement.how, "views": views}
        return {
            "protocol": self.place.protocol, "store": self.place.store, "options": dict(self.place.options),
            "platforms": list(self.platforms), "ends": asdict(self.ends), "direction": self.direction.value,
            "tool": self.tool, "command": self.command, "debris": dict(self.debris), "results": results,
        }  # fmt: skip


class Verdict(StrEnum):
    """What became of one probe in one copy."""

    KEPT = "kept"
    CHANGED = "changed"
    LOST = "lost"
    REFUSED = "refused"
    IMPOSSIBLE = "impossible"
    UNSEEN = "could not be looked at"


@dataclass(frozen=True)
class Reading:
    """What a host read of a probe: ``state`` is value, none, missing or error; ``text`` is the value or the error."""

    state: str
    text: str = ""

    @classmethod
    def of(cls, pair: object) -> Reading:
        """A reading from a pair that a host printed. Raises ValueError."""
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"{pair!r:.60} is no reading of a probe")
        return cls(*pair)


@dataclass(frozen=True)
class Judgement:
    """A verdict, and how: what was changed into what, or what the tool said."""

    verdict: Verdict
    how: str = ""


Views: TypeAlias = Mapping[View, Mapping[str, Judgement]]  # by the name of the probe


@dataclass(frozen=True)
class Judge:
    """Compares what was read with the source.

    ``refused`` says why the source lacks a probe. ``failures`` is what the tool said of a probe; ``unread`` is what it
    said about reading the probe at the source. All are by the probe's name.
    """

    source: Mapping[str, Reading]
    refused: Mapping[str, str]
    failures: Mapping[str, str]
    unread: Mapping[str, str] = field(default_factory=dict)

    def judge(self, probe: Probe, target: Reading, plain: Reading | None) -> Judgement:
        """What became of a probe. ``plain`` is the reading of an object without the attribute at the target."""
        source = self.source[probe.name]
        if probe.name in self.refused or source.state != "value":
            is_unread = source.state == "error" and probe.name not in self.refused
            reason = self.refused.get(probe.name) or source.text or "the source does not hold it"
            return Judgement(Verdict.UNSEEN if is_unread else Verdict.IMPOSSIBLE, _short(reason))
        if target == source:
            return Judgement(Verdict.KEPT)
        if failure := _said_of(probe, target, self.failures):
            return Judgement(Verdict.REFUSED, failure)
        failed = [reading.text for reading in (target, plain) if reading and reading.state == "error"]
        if unread := _said_of(probe, target, self.unread) or next(iter(failed), ""):
            return Judgement(Verdict.UNSEEN, _short(unread))
        how = "" if target.state in ("none", "missing") else f"{_show(probe, source)} → {_show(probe, target)}"
        return Judgement(Verdict.LOST if _is_lost(probe, source, target, plain) else Verdict.CHANGED, how)


def _said_of(probe: Probe, target: Reading, failures: Mapping[str, str]) -> str:
    """What the tool said about this attribute, or an empty text."""
    is_gone, kind = target.state in ("missing", "error"), "name" if probe.names else probe.attribute
    concern = ANYTHING if is_gone else CONCERNS.get(kind, NOTHING)
    # a line about a file explains its loss better than one about the folder around it, which rsync prints first
    lines = sorted(failures.get(probe.name, "").splitlines(), key=lambda line: f"/{probe.name}/" not in line)
    return next((_short(line) for line in lines if re.search(concern, QUOTED.sub("", line), re.IGNORECASE)), "")


def _is_lost(probe: Probe, source: Reading, target: Reading, plain: Reading | None) -> bool:
    """Whether nothing of the attribute is left: it is missing, or the same as on any new object."""
    if target.state in ("none", "missing"):
        return True
    if probe.names:
        return set(_names(target)) < set(_names(source))
    if probe.attribute in ("time", "birth"):
        return bool(TIME.fullmatch(target.text)) and OWN_TIME[0] <= float(target.text) < OWN_TIME[1]
    return target == plain


def _names(reading: Reading) -> list[str]:
    """The names in a reading of a probe of names; none in any other text."""
    try:
        names = json.loads(reading.text)
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _show(probe: Probe, reading: Reading) -> str:
    """A reading with escapes: é is written in two ways that look alike."""
    names = _names(reading) if probe.names else []
    return _short(", ".join(name.encode("unicode_escape").decode() for name in names) or reading.text)


def _short(text: str) -> str:
    return shorten(text.encode("utf-8", "backslashreplace").decode(), LONGEST_TEXT)
