"""Compute the facts of a trial again that follow from its other facts or from its course, and compare."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab import workloads
from lab.base.untrusted import from_json, read_lines
from lab.contribution.flaw import Flaw
from lab.contribution.order import Planned
from lab.contribution.plausible import Record, is_transfer
from lab.design.case import Case
from lab.design.factors import owner_of
from lab.hosts import ROLES
from lab.platforms import Counters
from lab.results.observed import HostUsage, Observed, TcpFacts
from lab.results.packed_run import SAMPLES, TRIALS
from lab.results.run_folder import RunFolder
from lab.results.together import Together
from lab.results.trial import DD, DISK, STORE_PROTOCOL, Trial
from lab.run.ceilings.store_ceiling import add_ceiling
from lab.run.transfer.observation import least_overhead, wire_facts
from lab.run.transfer.proof import ways_of
from lab.run.transfer.several_observed import jain_index
from lab.workloads.metadata import TOOL as METADATA

ROUNDED = 0.00051  # tolerance of a number with three decimals
CLOSE = 1e-4  # relative tolerance of a result from rounded numbers
ROUNDED_S = 2e-6  # tolerance of seconds with six decimals
# A host counts each of these in every transfer or in none
OF_HOSTS = ("cpu_cores", "tx_bytes", "rx_bytes", "memory_least_bytes", "disk_read_bytes", "disk_written_bytes")
OF_WIRE = ("overhead", "lost_bytes", "reverse_lost_bytes")
OF_TRIALS = ("client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes")
STORE = ("bytes_per_s", "spread", "size_bytes", "disk_bytes")


def check_derived(trials: Sequence[tuple[int, Trial]], planned: Planned) -> Iterator[Flaw]:
    """Facts of transfers that do not follow from the facts that they are computed from."""
    measured = [(line, trial) for line, trial in trials if planned.slot(trial.trial_id) and trial.status != "failed"]
    yield from _check_counted(measured)
    shots = [trial for _, trial in trials if trial.protocol == STORE_PROTOCOL and trial.tool in (DD, DISK)]
    for line, trial in measured:
        if slot := planned.slot(trial.trial_id):
            problems = (*_problems(trial, slot.case), *_of_store(trial, shots))
            yield from (Flaw(TRIALS, line, f"{trial.trial_id}: {problem}") for problem in problems)


def _check_counted(measured: Sequence[tuple[int, Trial]]) -> Iterator[Flaw]:
    """Trials without a count that other trials of the run have."""
    known = {name for _, trial in measured for name in _counted(trial)}
    for line, trial in measured:
        if lacking := known - set(_counted(trial)):
            problem = f"{', '.join(sorted(lacking))}: not counted, and counted in other trials"
            yield Flaw(TRIALS, line, f"{trial.trial_id}: {problem}")


def _counted(trial: Trial) -> Iterator[str]:
    observed = trial.observed
    places = ((trial, OF_TRIALS, ""), (observed.wire, OF_WIRE, "observed.wire."))
    for of, names, path in (*places, *((observed.of(role), OF_HOSTS, f"observed.{role}.") for role in ROLES)):
        yield from (f"{path}{name}" for name in names if getattr(of, name, None) is not None)


def _problems(trial: Trial, case: Case) -> Iterator[str]:
    yield from _of_wire(trial, case)
    yield from _of_time(trial, case)
    if trial.observed.together:
        yield from _of_clients(trial, trial.observed.together)
    elif (client := trial.observed.client) and client.tx_bytes is not None:
        counted, noted = (client.tx_bytes, client.rx_bytes), (trial.wire_tx_bytes, trial.wire_rx_bytes)
        if counted != noted:
            yield f"the client counted {counted} bytes sent and received, and wire_tx_bytes, wire_rx_bytes are {noted}"


def _of_wire(trial: Trial, case: Case) -> Iterator[str]:
    """Compare the bytes on the wire with the payload, and both hosts with each other."""
    way, stated, tcp = ways_of(case, trial.observed)[0], trial.observed.wire, trial.observed.tcp or TcpFacts()
    client, server = _counters(trial.wire_tx_bytes, trial.wire_rx_bytes), trial.observed.server or HostUsage()
    of_server = _counters(server.tx_bytes, server.rx_bytes)
    if trial.observed.together:
        way, tcp = replace(case, size_bytes=trial.size_bytes), TcpFacts()
    if stated is None or client is None or not way.size_bytes:
        return
    least = least_overhead(tcp.mss, tcp.pmtu)
    computed = replace(wire_facts(way, client, of_server, None), least_overhead=least)
    known = [*(["least_overhead"] if least else []), *(["lost_bytes", "reverse_lost_bytes"] if of_server else [])]
    for name in ("overhead", *known):
        if getattr(stated, name) != getattr(computed, name):
            yield f"observed.wire.{name} is {getattr(stated, name)}, and {getattr(computed, name)} by what was counted"


def _counters(sent: int | None, received: int | None) -> Counters | None:
    return None if sent is None or received is None else Counters(sent, received, None, None, {})


def _of_time(trial: Trial, case: Case) -> Iterator[str]:
    """Compare the seconds of a trial with the counts that depend on them."""
    elapsed_s, observed = trial.elapsed_s or 0.0, trial.observed
    own_s = workloads.tool(case.tool).elapsed_s(observed, math.inf)
    if own_s != math.inf:
        if own_s != elapsed_s:
            yield f"elapsed_s is {elapsed_s}, and {own_s} by what {case.tool} says of itself"
        return
    for role, cpu_s in (("client", trial.client_cpu_s), ("server", trial.server_cpu_s)):
        cores = getattr(observed.of(role), "cpu_cores", None)
        if cores is None or cpu_s is None or observed.together:
            continue
        if abs(cores - cpu_s / elapsed_s) > ROUNDED:
            yield f"{role}_cpu_s {cpu_s:.6g} in elapsed_s {elapsed_s} are {cpu_s / elapsed_s:.3f} cores, not {cores}"
    usage, wire = observed.client or HostUsage(), observed.wire
    mean = max(usage.tx_bytes or 0, usage.rx_bytes or 0) / elapsed_s
    if usage.peak_bytes_per_s is not None and not observed.together and usage.peak_bytes_per_s < mean * (1 - CLOSE) - 1:
        yield f"observed.client.peak_bytes_per_s is {usage.peak_bytes_per_s}, and the mean {mean:.0f} by elapsed_s"
    edges_s = (wire.before_first_byte_s or 0.0) + (wire.after_last_byte_s or 0.0) if wire else 0.0
    for name, part_s in (("flush_s", observed.flush_s or 0.0), ("the seconds before and after the payload", edges_s)):
        if part_s > elapsed_s * (1 + CLOSE) + ROUNDED:
            yield f"{name}: {part_s} of elapsed_s {elapsed_s}"


def _of_clients(trial: Trial, together: Together) -> Iterator[str]:
    """The figures of several clients follow from the figures of each client."""
    rows = together.clients or ()
    starts, ends = [row.started_s or 0.0 for row in rows], [row.ended_s or 0.0 for row in rows]
    if len(rows) < 2 or min(end - start for start, end in zip(starts, ends, strict=True)) <= 0:
        yield "observed.together: clients that did not move anything together"
        return
    rates = [(row.size_bytes or 0) / (end - start) for row, start, end in zip(rows, starts, ends, strict=True)]
    computed: dict[str, float] = {
        "elapsed_s": max(ends) - min(starts), "skew_s": max(starts) - min(starts), "tail_s": max(ends) - min(ends),
        "slowest_bytes_per_s": min(rates), "median_bytes_per_s": statistics.median(rates),
        "fastest_bytes_per_s": max(rates), "jain": jain_index(rates) if any(rates) else 0.0,
    }  # fmt: skip
    sums = {"size_bytes": "size_bytes", "wire_tx_bytes": "tx_bytes", "wire_rx_bytes": "rx_bytes"}
    computed |= {name: sum(getattr(row, field) or 0 for row in rows) for name, field in sums.items()}
    stated = {**vars(trial), **{name: value for name, value in vars(together).items() if value is not None}}
    for name, value in computed.items():
        number = stated[name]
        if not (isinstance(number, int | float) and math.isclose(number, value, rel_tol=CLOSE, abs_tol=ROUNDED_S)):
            yield f"{name} is {number}, and {value:.9g} by what each client did"


def _of_store(trial: Trial, shots: Sequence[Trial]) -> Iterator[str]:
    """The store's ceiling of a trial follows from the shots of its block; older runs note less of it."""
    computed = add_ceiling(Observed(), [shot for shot in shots if _place_of(shot) == _place_of(trial)])
    for name in (f"store_ceiling_{name}" for name in STORE):
        stated, value = getattr(trial.observed, name), getattr(computed, name)
        if stated != value and not (stated is None and trial.observed.store_ceiling_bytes_per_s):
            yield f"observed.{name} is {stated}, and {value} by the shots of its block"


def _place_of(trial: Trial) -> tuple[int, str, str, dict[str, str]]:
    options = {name: level for name, level in trial.options.items() if owner_of(name) == trial.store}
    return trial.block, trial.direction, trial.store, options


BEFORE_S = 0.05  # the times of samples have hundredths of a second
AFTER_S = 2.0  # a busy machine may take so long to take the last sample
COUNTS = ("tx_bytes", "rx_bytes", "disk_read_bytes", "disk_written_bytes")
Course = Mapping[str, Any]


def check_courses(run: RunFolder, lines: Sequence[tuple[int, Record]]) -> Iterator[Flaw]:
    """Courses that contradict their trial, and transfers without a course although others have one."""
    if not run.samples_path.exists():
        return
    courses: dict[str, list[tuple[int, Course]]] = defaultdict(list)
    for number, text in enumerate(read_lines(run.samples_path), 1):
        try:
            course = from_json(text.decode())
            courses[course["trial_id"]].append((number, course))
        except (ValueError, LookupError, TypeError) as error:
            yield Flaw(SAMPLES, number, f"no course of a trial: {error!r:.60}")
    for line, trial in lines:
        if is_transfer(trial):
            yield from _check_course(line, trial, courses.get(trial["trial_id"], []))


def _check_course(line: int, trial: Record, courses: Sequence[tuple[int, Course]]) -> Iterator[Flaw]:
    """Check the last course of a transfer; a transfer that was cut off and repeated has earlier ones."""
    if not courses:
        if trial["status"] != "failed" and "client" in trial["observed"]:
            yield Flaw(TRIALS, line, f"{trial['trial_id']}: its course is missing in {SAMPLES}")
        return
    number, course = courses[-1]
    if trial["status"] == "failed":
        yield Flaw(SAMPLES, number, f"{trial['trial_id']}: a course of a trial that failed: such a one has none")
        return
    for role in map(str, ROLES):
        usage, of_role = trial["observed"].get(role), course.get(role)
        if isinstance(usage, dict) and (problem := _problem_of_course(trial, role, usage, of_role)):
            yield Flaw(SAMPLES, number, f"{trial['trial_id']}: {role}: {problem}")


def _problem_of_course(trial: Record, role: str, usage: Mapping[str, Any], course: object) -> str:
    """How a course contradicts its trial; empty if it does not."""
    try:
        at_s: list[float] = course["at_s"]  # type: ignore[index]
        ends = {name: course[name][-1] for name in COUNTS if name in course}  # type: ignore[index,operator]
        available = [count for count in course["available_bytes"] if count is not None]  # type: ignore[index]
        lasted_s = at_s[-1] - at_s[0]
    except (LookupError, TypeError) as error:
        return f"no course of a host: {error!r:.60}"
    for name, count in (ends | {"memory_least_bytes": min(available, default=None)}).items():
        if count != usage.get(name):
            return f"{name} is {count}, and {usage.get(name)} in the trial"
    if len(at_s) - 2 != usage.get("samples"):
        return f"{len(at_s) - 2} samples, and the trial has {usage.get('samples')}"
    elapsed_s = trial["elapsed_s"]
    is_of_all = role == "client" and "together" not in trial["observed"] and trial["tool"] != METADATA.name
    if is_of_all and not elapsed_s - BEFORE_S <= lasted_s <= elapsed_s + AFTER_S:
        return f"it lasted {lasted_s:.2f} s, and elapsed_s is {elapsed_s}"
    return ""
