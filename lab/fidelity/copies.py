"""One copy of all probes: what it was, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from lab.design.factors import Direction
from lab.fidelity.probes import LINUX, Probe, known_to
from lab.fidelity.verdicts import Judgement, Verdict


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
