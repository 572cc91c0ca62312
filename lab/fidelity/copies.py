"""One copy of all probes: what it was, and what became of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from lab.base.errors import shorten
from lab.design.factors import Direction
from lab.fidelity.probes import LINUX, OWN_TIME, Probe, known_to

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


class View(StrEnum):
    """Where a copy is looked at."""

    MOUNT = "through the mount"
    STORE = "on the store"
    REMOUNT = "after a remount"
    CLIENT = "on the client"


# The first of these that there is decides: what the client finds when it comes again, or reads
DECIDING = (View.CLIENT, View.REMOUNT, View.MOUNT, View.STORE)


@dataclass(frozen=True)
class Place:
    """Between which ends a copy went: ``store`` is the server's, ``options`` those of the mount and the server."""

    protocol: str
    store: str
    options: Mapping[str, str]

    @property
    def label(self) -> str:
        """In a few words."""
        levels = (f"{name}={level}" for name, level in self.options.items())
        return " ".join([self.protocol.upper(), self.store, *levels])


@dataclass(frozen=True)
class Ends:
    """What a copy went through: who ``mounted`` the share on the client, what was negotiated, and the file systems."""

    mounted: str
    dialect: str
    client_store: str
    server_store: str

    @property
    def label(self) -> str:
        """In a few words."""
        way = ", ".join(filter(None, [self.dialect, f"mounted by {self.mounted}" if self.mounted != "none" else ""]))
        return f"{way}; client's {self.client_store or 'disk'}, server's {self.server_store or 'disk'}".lstrip("; ")


@dataclass(frozen=True)
class Copy:
    """A copy of all probes by one tool. ``command`` is how it was called, ``views`` where it was looked at.

    ``platforms`` are those of the two hosts, where it began first. A view of the other platform's has no judgement of
    what that cannot tell.
    """

    place: Place
    ends: Ends
    direction: Direction
    tool: str
    command: str
    views: Mapping[View, Mapping[str, Judgement]]
    debris: Mapping[str, int]
    platforms: tuple[str, str] = (LINUX, LINUX)

    @property
    def probes(self) -> tuple[Probe, ...]:
        """Those of either platform."""
        return known_to(self.platforms)

    @property
    def label(self) -> str:
        """In a few words."""
        return f"{self.place.label} {self.tool} {self.direction}"

    def judgement(self, probe: Probe) -> Judgement:
        """The verdict, and in ``how`` also where another view differs from it."""
        telling = {view: of_view[probe.name] for view, of_view in self.views.items() if probe.name in of_view}
        if not telling:
            return Judgement(Verdict.IMPOSSIBLE, self._why_untold(probe))
        view = _deciding(probe, telling)
        judgement = telling[view]
        others = ((other, telling[other].verdict) for other in telling if other is not view)
        differing = [f"{verdict} {other}" for other, verdict in others if verdict is not judgement.verdict]
        return Judgement(judgement.verdict, "; ".join(filter(None, [judgement.how, *differing])))

    def _why_untold(self, probe: Probe) -> str:
        source, target = self.platforms
        if source not in probe.on:
            return f"{source} has no such attribute"
        return f"{target} cannot tell"

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
            views = {
                view.value: of_view[probe.name].verdict.value
                for view, of_view in self.views.items()
                if probe.name in of_view
            }
            results[probe.name] = {"verdict": judgement.verdict.value, "how": judgement.how, "views": views}
        return {
            "protocol": self.place.protocol, "store": self.place.store, "options": dict(self.place.options),
            "platforms": list(self.platforms), "ends": asdict(self.ends), "direction": self.direction.value,
            "tool": self.tool, "command": self.command,
            "debris": dict(self.debris), "results": results,
        }  # fmt: skip


def _deciding(probe: Probe, telling: Mapping[View, Judgement]) -> View:
    """The view whose verdict counts, of those that can tell."""
    if probe.by_store and View.STORE in telling:
        return View.STORE
    return next(view for view in DECIDING if view in telling)


class Verdict(StrEnum):
    """What became of one probe in one copy."""

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
