"""The answer of `lab measure` for somebody new to file servers: how fast, why, how sure, what next."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab import stats
from lab.base.untrusted import one_line
from lab.report.analysis import Analysis
from lab.report.answer_points import MANY_LOST, Point, share_lost
from lab.report.trust import conditions
from lab.results.json_object import RunJson
from lab.results.one_sided import ClientLink, is_one_sided, link_of, share_of
from lab.stats import client_alone, limit, time_budget
from lab.stats.limit import filled_speed, line_rate, speed_label

WAYS = {"write": "writing", "read": "reading"}
PLAIN = {
    limit.LINK: "the network link itself",
    limit.WINDOW: "a small TCP window: too little data is on the way at once",
    limit.ROUND_TRIPS: "the long way: each request waits for its answer",
    limit.BESIDE: "other data on the same link",
    limit.DISK: "the server's disk",
    limit.FILE_SYSTEM: "the file system on the server, or the disk below it",
    limit.FLUSH: "the server's disk, which has to have all before the end",
    limit.LOSSES: "packets that got lost on the way",
    limit.SERVER: "the server or its disk",
    limit.DISTURBED: "other programs",
    limit.UNCLEAR: "it cannot be told",
    client_alone.WIFI: "the Wi-Fi",
    client_alone.HALF_DUPLEX: "a cable or port that is in half duplex",
    client_alone.SYNC: "the mount, which has the option sync",
    client_alone.SIGNING: "the signing of all SMB messages",
    client_alone.ENCRYPTION: "the encryption of all SMB messages",
    "client CPU": "the processor of this machine",
    "server CPU": "the processor of the server",
    time_budget.START_UP: "the start and the end of a transfer",
    time_budget.ONE_REQUEST: "one request at a time, each after the answer to the one before",
    time_budget.PROGRAMS: "the programs that copy",
    time_budget.SMALL_REQUESTS: "small requests, each of which has to be answered",
}  # limits in words that need no explanation
MOST_REASONS = 2  # why a limit cannot be told; the first reason is enough
GIGABIT = 10**9  # bits per second; with less on a cable, some part of it is old or broken
OLD_DIALECTS = ("SMB 1", "SMB 2.0", "SMB 2.0.2", "NFSv2")
PLAIN_TARGET = re.compile(r"[A-Za-z0-9_.:/@~%+-]{1,200}")  # the target of a foreign run may be anything
CABLE = "connect this machine by cable, and measure again"
ADVICE = {
    client_alone.WIFI: CABLE,
    client_alone.HALF_DUPLEX: "have both ends of the cable negotiate (`auto`), try another cable, and measure again",
    client_alone.SYNC: "mount the share without `sync`, if a crash may lose the last seconds, and measure again",
    client_alone.SIGNING: "where you trust the network, switch off signing on the server and here, and measure again",
    client_alone.ENCRYPTION: "where you trust the network, switch off encryption of the share, and measure again",
    limit.LOSSES: "try another cable, another port and another switch, and measure again",
    limit.WINDOW: "raise the TCP buffers of the receiving end (`socket options` of Samba set them, too), or copy "
    "several files at once",
    limit.BESIDE: "find out what else uses this link, and measure again without it",
    time_budget.SMALL_REQUESTS: "mount the share with larger requests (`rsize`, `wsize`), and measure again",
    limit.ROUND_TRIPS: "over so long a way, copy several files at once, or use `rsync` over SSH",
    limit.DISTURBED: "end what else runs on this machine (`top` shows it), and measure again",
    "client CPU": "end what else runs on this machine, or try the other protocols that the server has",
    time_budget.START_UP: "measure longer, for larger files say more",
}
# The order in which limits decide on the step if write and read were held back by different ones
URGENT = (client_alone.HALF_DUPLEX, limit.LOSSES, limit.DISTURBED, client_alone.WIFI, client_alone.SYNC)


@dataclass(frozen=True)
class Speed:
    """How fast one tool was in one direction: the median of ``count`` trials in MB/s, and its interval, else NaN.

    ``of_ceiling`` is its share of what iperf3 reached, else NaN. ``verdict`` is what held it back.
    """

    tool: str
    median: float
    low: float
    high: float
    count: int
    of_ceiling: float
    verdict: stats.Row


def points(run: Analysis, path: str) -> list[Point]:
    """The answer as headings and statements, the most important first. ``path`` is the run folder."""
    link = link_of(run.described)
    by_way = {way: speeds for way in WAYS if (speeds := _speeds(run, way))}
    fastest = {way: speeds[0] for way, speeds in by_way.items()}
    if not fastest:
        made = [Point("Speed", ["nothing was measured"])]
    else:
        made = [Point(way.capitalize(), list(_how_fast(speeds, link))) for way, speeds in by_way.items()]
        made += _held_back(fastest)
        made.append(Point("Trust", list(_trust(run, fastest, link))))
    return [*made, next_step(run, [speed.verdict for speed in fastest.values()], path)]


def _speeds(run: Analysis, direction: str) -> list[Speed]:
    verdicts = {tuple(row[name] for name in stats.POOLED): row for row in stats.rows_of(run.verdicts)}
    made = []
    for row in stats.rows_of(run.summary):
        if row["direction"] != direction or not row["n"]:
            continue
        ends = ("low", "high") if row["n"] == 1 or not np.isnan(row["low_MB_per_s"]) else ("min", "max")
        low, high = (row[f"{end}_MB_per_s"] for end in ends)
        verdict = verdicts[tuple(row[name] for name in stats.POOLED)]
        median, share = row["median_MB_per_s"], row["share_of_ceiling"]
        made.append(Speed(row["tool"], median, low, high, int(row["n"]), share, verdict))
    return sorted(made, key=lambda speed: -speed.median)


def _number(speed: float) -> str:
    return f"{speed:.{0 if speed >= 20 else 1}f}"


def _how_fast(speeds: list[Speed], link: ClientLink) -> Iterator[str]:
    first, *others = speeds
    span = "" if np.isnan(first.low) else f" ({_number(first.low)} to {_number(first.high)})"
    yield f"{_number(first.median)} MB/s{span} by {one_line(first.tool, 20)}{_share_of_link(first, link)}"
    for other in others:
        yield f"by {one_line(other.tool, 20)} {_number(other.median)} MB/s"


def _share_of_link(speed: Speed, link: ClientLink) -> str:
    if speed.of_ceiling > 0:
        return f", {100 * speed.of_ceiling:.0f} % of what the bare link reached"
    line = line_rate(link, None, {})
    if not line:
        return ""
    percent, name = f"{100e6 * speed.median / line['line_bytes_per_s']:.0f} %", speed_label(line["line_bits_per_s"])
    if link.wireless:
        return f", {percent} of the {name} at which its Wi-Fi sends"
    return f", {percent} of what this {name} link carries"


def _held_back(fastest: dict[str, Speed]) -> list[Point]:
    """The limit of each direction as a point, so that neither is left out; or one point for both."""
    if len(fastest) > 1 and len({speed.verdict["limited_by"] for speed in fastest.values()}) == 1:
        return [Point("Held back by", _verdict("both ways", fastest["write"].verdict))]
    return [
        Point(heading, _verdict(WAYS[way], speed.verdict))
        for heading, (way, speed) in zip(["Held back by", ""], fastest.items(), strict=False)
    ]


def _verdict(way: str, row: stats.Row) -> list[str]:
    name, grade = row["limited_by"], row["grade"]
    first, *more = re.sub(rf"^{re.escape(name)}: ", "", row["evidence"]).split("; ")
    certainty = "" if name == limit.UNCLEAR else f" ({grade})"
    plain = PLAIN.get(name, f"{name}, of which another one was faster")
    return [f"{way}: {plain}{certainty}: {first}", *(more[: MOST_REASONS - 1] if name == limit.UNCLEAR else more)]


def _trust(run: Analysis, fastest: dict[str, Speed], link: ClientLink) -> Iterator[str]:
    yield from conditions(run)
    count = min(speed.count for speed in fastest.values())
    if count == 1:
        yield "only one transfer each way: chance is in every number"
    else:
        # with too few values for 95 %, the brackets hold all n: the median lies beyond them with probability 2^(1-n)
        certainty = 95 if stats.interval_rank(count) else 100 * (1 - 2 ** (1 - count))
        yield f"{count} transfers each way; their true median lies in the brackets with {certainty:.0f} % certainty"
    if link.tunnel:
        yield "the way is a tunnel, such as a VPN, whose encryption is measured with it"
    if is_one_sided(run.described) and "read" in fastest:
        yield "what was read may have come from the server's memory, and not from its disk"


def next_step(run: Analysis, verdicts: Sequence[stats.Row], path: str) -> Point:
    """The next step; ``verdicts`` belong to the fastest way to write and to read, ``path`` is the run folder."""
    command = shlex.quote(path)
    if not verdicts or share_lost(run.trials) > MANY_LOST:
        why = "trials do not count" if verdicts else "no trial counts"
        return Point("Next", [f"see why {why}: `lab show {command} --table lost`"])
    ordered = sorted(verdicts, key=lambda row: URGENT.index(name) if (name := row["limited_by"]) in URGENT else 99)
    return Point("Next", [_step(run, ordered), f"the rest: `lab show {command} --full`"])


def _step(run: Analysis, verdicts: Sequence[stats.Row]) -> str:
    link = link_of(run.described)
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
    if link_rows := [row for row in verdicts if (row["limited_by"], row["grade"]) == (limit.LINK, limit.PROBABLE)]:
        return _narrow_part(link, link_rows)
    if set(names) == {limit.LINK}:
        return "nothing: the share is as fast as this link is; only a faster one would help"
    effective: dict[str, object] = run.some["effective"].iloc[0] if len(run.some) else {}  # of the first good transfer
    if (dialect := str(effective.get("dialect", ""))) in OLD_DIALECTS:
        return f"the server speaks {dialect}, which is old: have it offer a newer version, and measure again"
    return _look_at_server(run.described, link)


def _narrow_part(link: ClientLink, verdicts: Sequence[stats.Row]) -> str:
    """The step if a part of the way is narrower than this end of it."""
    speeds = [speed for row in verdicts if (speed := filled_speed(link, row["bytes_per_s"]))]
    if speeds and min(speeds) >= GIGABIT:
        return (
            f"nothing, if {speed_label(min(speeds))} is what this network has, for the share fills it; otherwise look "
            "for the port, cable or switch that has no more"
        )
    return "look for a slow part between here and the server: a switch, a powerline adapter, a port at 100 Mbit/s"


def _look_at_server(run: RunJson, link: ClientLink) -> str:
    if link.tunnel:
        return "measure without the VPN, in the server's own network"
    if not is_one_sided(run):
        return "see what both hosts did: `lab report`"
    share, target = share_of(run), str(run.get("title") or "")
    named = target if PLAIN_TARGET.fullmatch(target) else "TARGET"
    server = share.server if share.server and PLAIN_TARGET.fullmatch(share.server) else "HOST"
    return f"with a login there the lab sees its processor and disk: `lab measure {named} --server {server}`"
