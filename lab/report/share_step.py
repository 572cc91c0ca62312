"""The one thing to try after `lab measure`: what would help most, or tell most, in words that need no explanation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from lab import stats
from lab.report.analysis import Analysis
from lab.report.findings import Point
from lab.report.next_step import MANY_LOST, share_lost
from lab.results.one_sided import ClientLink, is_one_sided, link_of, share_of
from lab.results.trial import RunJson
from lab.stats import client_alone, limit, time_budget
from lab.stats.line_rate import filled_speed, speed_label

GIGABIT = 10**9  # bits per second: with less on a cable, some part of it is old or broken
OLD_DIALECTS = ("SMB 1", "SMB 2.0", "SMB 2.0.2", "NFSv2")
PLAIN_TARGET = re.compile(r"[A-Za-z0-9_.:/@~%+-]{1,200}")  # of a run of somebody else it may be anything
CABLE = "connect this machine by cable, and measure again"
ADVICE = {
    client_alone.WIFI: CABLE,
    client_alone.HALF_DUPLEX: "have both ends of the cable negotiate (`auto`), try another cable, and measure again",
    client_alone.SYNC: "mount the share without `sync`, if a crash may lose the last seconds, and measure again",
    client_alone.SIGNING: "where you trust the network, switch off signing on the server and here, and measure again",
    client_alone.ENCRYPTION: "where you trust the network, switch off encryption of the share, and measure again",
    limit.LOSSES: "try another cable, another port and another switch, and measure again",
    limit.WINDOW: "over so long a way, copy several files at once",
    limit.ROUND_TRIPS: "over so long a way, copy several files at once, or use `rsync` over SSH",
    limit.DISTURBED: "end what else runs on this machine (`top` shows it), and measure again",
    "client CPU": "end what else runs on this machine, or try the other protocols that the server has",
    time_budget.START_UP: "measure longer, for larger files say more",
}
# What decides comes first, where write and read were held back by different things
URGENT = (client_alone.HALF_DUPLEX, limit.LOSSES, limit.DISTURBED, client_alone.WIFI, client_alone.SYNC)


def next_step(analysis: Analysis, verdicts: Sequence[stats.Row], path: str) -> Point:
    """The step; ``verdicts`` are those of the fastest way to write and to read, ``path`` is the run folder."""
    run, command = analysis.trials.frame.attrs.get("run", {}), shlex.quote(path)
    if not verdicts or share_lost(analysis.trials) > MANY_LOST:
        why = "trials do not count" if verdicts else "no trial counts"
        return Point("Next", [f"see why {why}: `lab show {command} --table lost`"])
    ordered = sorted(verdicts, key=lambda row: URGENT.index(name) if (name := row["limited_by"]) in URGENT else 99)
    return Point("Next", [_step(run, ordered, _effective(analysis)), f"the rest: `lab show {command} --full`"])


def _step(run: RunJson, verdicts: Sequence[stats.Row], effective: Mapping[str, object]) -> str:
    link = link_of(run)
    names = [row["limited_by"] for row in verdicts]
    if link.bits_per_s and link.bits_per_s < GIGABIT and not link.wireless and not link.tunnel:
        return (
            f"this link has negotiated only {speed_label(link.bits_per_s)}: try another cable and another port; both "
            "ends and the switch should have 1 Gbit/s"
        )
    if advice := next((ADVICE[name] for name in names if name in ADVICE), ""):
        return advice
    if limit.UNCLEAR in names and link.wireless:
        return CABLE
    if found := [row for row in verdicts if (row["limited_by"], row["grade"]) == (limit.LINK, limit.PROBABLE)]:
        return _narrow_part(link, found)
    if set(names) == {limit.LINK}:
        return "nothing: the share is as fast as this link is; only a faster one would help"
    if (dialect := str(effective.get("dialect", ""))) in OLD_DIALECTS:
        return f"the server speaks {dialect}, which is old: have it offer a newer version, and measure again"
    return _look_at_server(run, link)


def _narrow_part(link: ClientLink, verdicts: Sequence[stats.Row]) -> str:
    """What to do about a part of the way that is narrower than this end of it."""
    speeds = [speed for row in verdicts if (speed := filled_speed(link, row["bytes_per_s"]))]
    if speeds and min(speeds) >= GIGABIT:
        return (
            f"nothing, if {speed_label(min(speeds))} is what this network has, for the share fills it; otherwise look "
            "for the port, cable or switch that has no more"
        )
    return "look for a slow part between here and the server: a switch, a powerline adapter, a port at 100 Mbit/s"


def _look_at_server(run: RunJson, link: ClientLink) -> str:
    """Where the server was not seen, what it did is the next thing to know."""
    if link.tunnel:
        return "measure without the VPN, in the server's own network"
    if not is_one_sided(run):
        return "see what both hosts did: `lab report`"
    share, target = share_of(run), str(run.get("title") or "")
    named = target if PLAIN_TARGET.fullmatch(target) else "TARGET"
    server = share.server if share.server and PLAIN_TARGET.fullmatch(share.server) else "HOST"
    return f"with a login there the lab sees its processor and disk: `lab measure {named} --server {server}`"


def _effective(analysis: Analysis) -> Mapping[str, object]:
    """What was in effect for the share, by its first good transfer."""
    trials = analysis.some
    return dict(trials["effective"].iloc[0]) if len(trials) else {}
