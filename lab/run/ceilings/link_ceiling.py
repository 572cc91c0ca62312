"""The link's ceiling: what the link carries with a case's MTU and TCP buffers, without a file protocol.

iperf3 measures the link in both directions, before the first trial of a block on each such network and after the last.
Either shot may meet a bad moment, so the larger one counts. :mod:`lab.results.dataframe` picks it, because a trial is
recorded before the second shot. A shot that an outage cut does not count.
"""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

from lab.base.errors import LabFailure
from lab.base.present import present
from lab.design.blocks import Slot
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms.timing import Armed, Offset
from lab.results.trial import Trial
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.transfer.in_parallel import start_all
from lab.run.transfer.recorded import VOID, Recorded, now, plan_trial
from lab.run.transfer.result import describe_outage
from lab.workloads import iperf3

PROTOCOL = "link"
AFTER = "-after"  # ends the id of a second shot
AGAIN = "-again"  # ends the id of a test that confirms the first one
LEAST_SHARE = 0.5  # of its twin: two good tests of one link differ by less
SLOWER = "{slow:.1f} MB/s, less than half of its twin's {twin:.1f}: measured again, {again:.1f}"


def ids(slot: Slot, suffix: str = "") -> dict[str, str]:
    """The id of each direction's test in the slot's block and network; with AFTER, the ids of the second shot."""
    block, network = f"b{slot.block:03d}", _network(slot)
    return {direction.value: f"{block}-{PROTOCOL}-{network}-{direction}{suffix}" for direction in Direction}


def last_slots(slots: Sequence[Slot]) -> list[Slot]:
    """The last slot of a block on each network."""
    return list({_network(slot): slot for slot in slots}.values())


def _network(slot: Slot) -> str:
    clients = f"-clients{slot.case.clients}" if slot.case.clients > 1 else ""
    return f"mtu{slot.case.mtu}-tcp{slot.case.tcp_space}{clients}"


def rows(slot: Slot, missing: Mapping[str, str], started_at: str) -> dict[str, Trial]:
    """A planned test for each direction in ``missing``, which holds the tests' ids."""
    return {
        direction: replace(
            plan_trial(slot, started_at), trial_id=trial_id, case_id=f"{PROTOCOL}-{direction}-{_network(slot)}",
            position=0, protocol=PROTOCOL, tool=iperf3.NAME, direction=direction, workload="stream", size_bytes=0,
            files=0, anchor=False,
        )
        for direction, trial_id in missing.items()
    }  # fmt: skip


def measure(session: Session, slot: Slot, rows: Mapping[str, Trial], seconds: float, recorded: Recorded) -> None:
    """Make the tests in ``rows``, and record them; a test that fails is a failed trial.

    A test that an outage cut is void, gets an id of its own, and is repeated once. Raises LabFailure if the network
    cannot be set, or iperf3 does not start.
    """
    session.set_up_network(slot.case)
    with session.settings.scope():
        servers = _start_servers(session, slot.case.clients)
        trials: dict[str, Trial] = {}
        try:
            for direction, row in rows.items():
                trials[direction] = _run(session, servers, row, seconds)
        except BaseException:
            for trial in trials.values():  # keep what was measured, although its twin is missing
                recorded.add(trial)
            raise
        for direction, trial in trials.items():
            twin = _rate_of_twin(trial, [*trials.values(), *recorded.of_block(trial.block)], recorded)
            if trial.status == "void" or (twin and (rate(trial) or twin) < LEAST_SHARE * twin):
                again = _run(session, servers, rows[direction], seconds)
                for outcome in _judge(trial, again, twin):
                    recorded.add(replace(outcome, trial_id=recorded.free_id(outcome.trial_id)))
            else:
                recorded.add(trial)


def _start_servers(session: Session, clients: int) -> list[tuple[str, int]]:
    """Start an iperf3 on the server for each client, because one takes one test at a time; their addresses and ports.

    If the hosts file names an iperf3, it is the only one.
    """
    listening = session.pair.config.server.iperf3
    if listening and listening != "off":
        return [listening]
    server = session.pair.sides[Role.SERVER]
    call = session.pair.platforms[Role.SERVER].programs.call(iperf3.NAME)
    ports = range(iperf3.PORT, iperf3.PORT + clients)
    for port in ports:
        started = iperf3.server(server.host, call, server.address, server.directory, server.listening, port)
        session.settings.apply(started)
    return [(session.pair.server_seen.address, port) for port in ports]


def _run(session: Session, servers: Sequence[tuple[str, int]], row: Trial, seconds: float) -> Trial:
    """The trial with the result of one test, by all clients that have an iperf3; void if the link went down."""
    row, before = replace(row, started_at=now()), _carrier_changes(session.pair)
    try:
        if len(servers) > 1:
            report = _measure_together(session, servers, row.direction, seconds)
        else:
            (address, port), pair = servers[0], session.pair
            call = pair.platforms[Role.CLIENT].programs.call(iperf3.NAME)
            report = iperf3.measure(pair.hosts[Role.CLIENT], call, address, row.direction, seconds, port)
        outcome = replace(
            row, size_bytes=int(report["bytes"]), elapsed_s=report["elapsed_s"],
            retransmits=int(report["retransmits"]) if "retransmits" in report else None, status="ok",
        )  # fmt: skip
    except LabFailure as error:
        outcome = replace(row, status="failed", reason=error.cause_first())
    after = _carrier_changes(session.pair)
    outage = describe_outage({role.value: after[role] - before[role] for role in sorted(before.keys() & after.keys())})
    if not outage:
        return outcome
    return replace(outcome, status="void", reason="; ".join(filter(None, [outage, outcome.reason])))


def _measure_together(
    session: Session, servers: Sequence[tuple[str, int]], direction: str, seconds: float
) -> Mapping[str, float]:
    """A test by several clients: all bytes, over the time from the first stream's start to the last program's end.

    How long iperf3 takes before its seconds begin differs from client to client, so only the ends are comparable.
    """
    pairs = session.pairs[: len(servers)]

    def command(pair: Pair, server: tuple[str, int]) -> AbstractContextManager[Armed]:
        platform = pair.platforms[Role.CLIENT]
        argv = iperf3.client_words(platform.programs.call(iperf3.NAME), server[0], direction, seconds, server[1])
        return platform.clock.armed(pair.interface(Role.CLIENT), "", argv, seconds + iperf3.GRACE_S)

    def end(number: int, armed: Armed, _: Offset) -> tuple[float, Mapping[str, float]]:
        ended = armed.wait()
        address, port = servers[number]
        report = iperf3.parse(armed.timing().printed, f"{address} port {port}")  # raises if there was no end
        instants, after = present(ended)
        return instants.ended_s - after.ahead_s, report

    ends = start_all([command(pair, server) for pair, server in zip(pairs, servers, strict=True)], end)
    reports = [report for _, report in ends]
    longest_s = max(ended_s for ended_s, _ in ends) - min(ended_s - report["elapsed_s"] for ended_s, report in ends)
    counted = set.intersection(*map(set, reports)) & {"bytes", "retransmits"}
    totals = {name: sum(report[name] for report in reports) for name in counted}
    return {**totals, "elapsed_s": longest_s}


def _carrier_changes(pair: Pair) -> dict[Role, int]:
    """How often the data link of each host went up or down so far, as far as it can be read."""

    def count(role: Role) -> int | None:
        with suppress(LabFailure):
            return pair.platforms[role].network.carrier_changes(pair.interface(role))
        return None

    return {role: changes for role, changes in pair.ask(count).items() if changes is not None}


def _rate_of_twin(trial: Trial, block: Sequence[Trial], recorded: Recorded) -> float | None:
    """The speed of the other shots in this direction on this network; without any, of the block's other direction."""
    rates = [rate(other) for other in recorded.of_case(trial.case_id)]
    if not any(rates):
        network = (trial.mtu, trial.tcp_space)
        others = [other for other in block if other.protocol == PROTOCOL and (other.mtu, other.tcp_space) == network]
        rates = [rate(other) for other in others if other.direction != trial.direction]
    good = [value for value in rates if value]
    return statistics.median(good) if good else None


def _judge(first: Trial, again: Trial, twin: float | None) -> list[Trial]:
    """Which of two tests counts: the first if both were about as slow, else the second."""
    slow, second = rate(first), rate(again)
    if slow is not None and (second is None or slow >= LEAST_SHARE * second):
        return [first, replace(again, trial_id=f"{again.trial_id}{AGAIN}")]
    reason = first.reason
    if slow is not None and second is not None and twin is not None:
        reason = SLOWER.format(slow=slow / 1e6, twin=twin / 1e6, again=second / 1e6)
    return [replace(first, trial_id=f"{first.trial_id}{VOID}", status="void", reason=reason), again]


def rate(trial: Trial | None) -> float | None:
    """Bytes per second of a test; None if it failed."""
    return trial.size_bytes / trial.elapsed_s if trial and trial.status == "ok" and trial.elapsed_s else None
