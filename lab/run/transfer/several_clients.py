"""One transfer by several clients at the same time: armed, then a common instant, and each by its own clock.

The transfer has three results: what all moved while all were active, what all moved until the last had ended, and each
client by itself. Speeds over different times are never added up.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from lab.base.errors import LabFailure, TransferError
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import BY_CLIENT
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.platforms.armed import Armed, Instants, Offset
from lab.results.together import ClientPart, Together
from lab.run.case.client_session import ClientSession
from lab.run.case.session import Session
from lab.run.case.setup import Setup
from lab.run.transfer.common_start import start_all
from lab.run.transfer.in_effect import buffers_of, not_in_effect
from lab.run.transfer.payload import describe_writer, writer_of
from lab.run.transfer.places import Endpoints, endpoints_of, payload_files
from lab.run.transfer.preparation import MOST_AT_ONCE, lay_out, prepare_all
from lab.run.transfer.proof import not_on_the_wire
from lab.run.transfer.result import TransferResult, count_after, count_before, result_of
from lab.run.transfer.several_observed import Course, observe_all
from lab.run.transfer.tool_call import (
    ToolCall,
    check_arrived,
    explained,
    keeps_what_it_moves,
    make_tool_call,
    server_of_mount,
)

CLOCK_MOVED = "the clock of {name} moved by {moved_s:.3f} s against the controller's during the transfer"
DRIFT = 100e-6  # of two clocks, in seconds a second: those of computers keep half of that
SLACK_S = 0.001  # in which a clock that is adjusted slowly may move as well
NumberT = TypeVar("NumberT", int, float)


class SomeFailed(TransferError):
    """Some of the clients did not end well; ``together`` has the numbers of the others."""

    def __init__(self, error: LabFailure, together: Together):
        super().__init__(error.message, error.remedy, host=error.host)
        self.together = together


@dataclass(frozen=True)
class Part:
    """What one client does in the transfer. ``written_by`` names the client that writes what it reads, if one does."""

    session: ClientSession
    setup: Setup
    endpoints: Endpoints
    tool_call: ToolCall
    written_by: str | None


@dataclass(frozen=True)
class _Ended:
    """A part that has ended well. ``offsets`` are those of the client's clock, before and after."""

    offsets: tuple[Offset, Offset]
    instants: Instants
    timing: Timing


def move(session: Session, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move one payload by each of the case's clients, over what stands. Raises LabFailure where any of them fails."""
    sessions = [ClientSession(session, pair) for pair in session.pairs[: case.clients]]
    parts = [_part(sessions, number, case, f"{trial_id}-{number + 1}") for number in range(case.clients)]
    with ExitStack() as stack:
        files_of_folder = case.files if session.payload.is_folder else None
        for part in parts:
            kept = part.setup.mount.payloads
            stack.enter_context(payload_files(part.session.pair, part.endpoints, kept, files_of_folder))
        prepare_all([(part.session, part.setup, part.endpoints) for part in parts], case)
        for part in parts:
            laid_out = part.tool_call.words(part.tool_call.tool.lay_out)
            lay_out(part.session, part.setup, case, laid_out, part.endpoints.target)
        first = parts[0]
        before = count_before(session.pair, first.setup.store)
        outcomes = _time_all(parts, case, deadline_s)
        after = count_after(session.pair, first.setup.store)
        courses = _courses(parts, case, outcomes)
        ended = [one for one in outcomes if isinstance(one, _Ended)]  # all of them, or that has raised
        counted = [counts.server for counts in (before, after) if counts.server]
        observation = observe_all(session.pair, case, courses, counted)
        _check_all(parts, case)
    unproven = _describe_clocks(parts, ended) or _describe_unproven(parts, case, courses)
    unproven = unproven or _not_in_effect(parts, case, courses)
    clients = {part.session.name: course.timing.counted for part, course in zip(parts, courses, strict=True)}
    more: dict[str, str | int] = {**first.tool_call.versions, **observation.effective}
    more |= describe_writer(case, first.endpoints)
    result = result_of(
        session.pair, first.setup, case, before, after, _timing_of_all(courses), clients, observation.observed,
        unproven, more,
    )  # fmt: skip
    return replace(result, samples=observation.samples)


def _part(sessions: Sequence[ClientSession], number: int, case: Case, payload_id: str) -> Part:
    session = sessions[number]
    setup = session.setup_of(case)
    endpoints = endpoints_of(session.pair, setup, case, payload_id)
    is_by_one = describe_writer(case, endpoints).get("written_by") in BY_CLIENT
    writer = sessions[writer_of(number, case)].name if is_by_one else None
    return Part(session, setup, endpoints, make_tool_call(session, setup, case, endpoints), writer)


# --- timing


def _time_all(parts: Sequence[Part], case: Case, deadline_s: float) -> list[_Ended | LabFailure]:
    """Start all of them at one instant, and wait for their ends. Raises HostError where one cannot be begun."""
    return start_all(
        [_armed(part, case, deadline_s) for part in parts],
        lambda number, armed, before: _wait(parts[number], case, armed, before),
    )


def _armed(part: Part, case: Case, deadline_s: float) -> AbstractContextManager[Armed]:
    """The client with everything ready."""
    pair = part.session.pair
    clock, interface = pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    flush = part.endpoints.flush if keeps_what_it_moves(case) else ""
    watched = server_of_mount(pair, part.setup, case)
    return clock.armed(interface, flush, part.tool_call.words(part.tool_call.tool.argv), deadline_s, watched)


def _wait(part: Part, case: Case, armed: Armed, before: Offset) -> _Ended | LabFailure:
    """What becomes of one of them: a failure is kept, so that the others' numbers are."""
    try:
        with explained(part.session.pair, part.endpoints, case):
            end = armed.wait()
            timing = armed.timing()  # raises where there was no end
    except LabFailure as error:
        return error
    instants, after = present(end)
    return _Ended((before, after), instants, timing)


def _courses(parts: Sequence[Part], case: Case, outcomes: Sequence[_Ended | LabFailure]) -> list[Course]:
    """Each client's part by one clock, in seconds since the first start. Raises SomeFailed where one has failed."""
    starts = (one.instants.started_s - one.offsets[0].ahead_s for one in outcomes if isinstance(one, _Ended))
    first_s = min(starts, default=0.0)
    courses: list[Course] = []
    rows: list[ClientPart] = []
    for part, outcome in zip(parts, outcomes, strict=True):
        if isinstance(outcome, _Ended):
            courses.append(_course(part, case, outcome, first_s))
            rows.append(courses[-1].row())
        else:
            rows.append(ClientPart(name=part.session.name, problem=outcome.cause_first()))
    failures = [outcome for outcome in outcomes if isinstance(outcome, LabFailure)]
    if failures:
        raise SomeFailed(failures[0], Together(clients=tuple(rows)))
    return courses


def _course(part: Part, case: Case, ended: _Ended, first_s: float) -> Course:
    """One client's part; ``first_s`` is the first start by the controller's clock."""
    (before, after), instants = ended.offsets, ended.instants
    return Course(
        pair=part.session.pair,
        timing=ended.timing,
        started_s=instants.started_s - before.ahead_s - first_s,
        ended_s=instants.ended_s - after.ahead_s - first_s,
        bound_s=max(before.bound_s, after.bound_s),
        size_bytes=case.size_bytes,
        zero_s=first_s + before.ahead_s + instants.samples_ahead_s,
        written_by=part.written_by,
    )


def _timing_of_all(courses: Sequence[Course]) -> Timing:
    """The transfer as one: from the first start to the last end, with the counts of all clients."""
    first = courses[0].timing
    counted = [course.timing.counted for course in courses]
    together = Counters(
        tx_bytes=sum(one.tx_bytes for one in counted),
        rx_bytes=sum(one.rx_bytes for one in counted),
        cpu_s=_sum([one.cpu_s for one in counted]),
        retransmits=_sum([one.retransmits for one in counted]),
        state=first.counted.state,
    )
    elapsed_s = max(course.ended_s for course in courses) - min(course.started_s for course in courses)
    tool_cpu_s = sum(course.timing.tool_cpu_s for course in courses)
    return replace(first, elapsed_s=round(elapsed_s, 6), counted=together, tool_cpu_s=tool_cpu_s)


def _sum(numbers: Sequence[NumberT | None]) -> NumberT | None:
    """The sum, where all of them are known."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if len(known) == len(numbers) else None


# --- what makes it void


def _describe_clocks(parts: Sequence[Part], ended: Sequence[_Ended]) -> str:
    """Which clock was set, or went wrong, while the transfer lasted; empty where none did."""
    for part, one in zip(parts, ended, strict=True):
        before, after = one.offsets
        moved_s = abs(after.ahead_s - before.ahead_s)
        if moved_s > before.bound_s + after.bound_s + DRIFT * one.timing.elapsed_s + SLACK_S:
            return CLOCK_MOVED.format(name=part.session.name, moved_s=moved_s)
    return ""


def _describe_unproven(parts: Sequence[Part], case: Case, courses: Sequence[Course]) -> str:
    """Why not all of a client's payload is proven to have crossed the wire; empty where all is."""
    for part, course in zip(parts, courses, strict=True):
        driver, path = part.setup.served.drivers[Role.CLIENT], part.setup.attached.path
        if why := not_on_the_wire(part.session.pair, driver, path, case, course.timing.counted):
            return f"{part.session.name}: {why}"
    return ""


def _not_in_effect(parts: Sequence[Part], case: Case, courses: Sequence[Course]) -> str:
    """Which setting of a further client was not as the case says; empty where all were."""
    for part, course in zip(parts[1:], courses[1:], strict=True):
        pair, state = part.session.pair, course.timing.counted.state
        if why := not_in_effect(case, {Role.CLIENT: state}, buffers_of(pair)):
            return f"{part.session.name}: {why}"
    return ""


def _check_all(parts: Sequence[Part], case: Case) -> None:
    """Compare every byte of what arrived, of all clients. What mounts anew does so one after the other."""

    def check(part: Part) -> None:
        check_arrived(part.session, part.setup, case, part.endpoints, part.tool_call)

    first = parts[0]
    if first.endpoints.target_place.in_mount or first.tool_call.words(first.tool_call.tool.verification):
        for part in parts:
            check(part)
        return
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        for checked in [threads.submit(partial(check, part)) for part in parts]:
            checked.result()
