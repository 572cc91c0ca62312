"""One transfer by several clients at the same time: armed, then started at one instant, and each timed by its clock.

The transfer has three results: what all moved while all were active, what all moved until the last had ended, and each
client by itself. Speeds over different times are never added up.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from typing import TypeVar

from lab.base.errors import LabFailure, TransferError
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import BY_CLIENT
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.platforms.timing import Armed, Offset
from lab.results.together import ClientPart, Together
from lab.run.case.session import Session
from lab.run.transfer.in_parallel import start_all
from lab.run.transfer.part import Part, keeps_what_it_moves, make_part, naming_full_disk, naming_hole, server_of_mount
from lab.run.transfer.payload import check_arrived, describe_writer, payload_files, writer_of
from lab.run.transfer.preparation import MOST_AT_ONCE, lay_out, prepare_all
from lab.run.transfer.proof import buffers_of, not_in_effect, not_on_the_wire
from lab.run.transfer.result import TransferResult, count_after, count_before, result_of
from lab.run.transfer.several_observed import ClientTransfer, observe_all

CLOCK_MOVED = "the clock of {name} moved by {moved_s:.3f} s against the controller's during the transfer"
DRIFT = 100e-6  # seconds a second between two clocks; computers stay below half of that
SLACK_S = 0.001  # that a clock may move as well while it is adjusted slowly
NumberT = TypeVar("NumberT", int, float)


class SomeFailed(TransferError):
    """Some of the clients failed; ``together`` has the numbers of the others."""

    def __init__(self, error: LabFailure, together: Together):
        super().__init__(error.message, error.remedy, host=error.host)
        self.together = together


def move_several(session: Session, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move a payload by each of the case's clients, over its setup. Raises LabFailure if any of them fails."""
    pairs = session.pairs[: case.clients]
    parts = [make_part(session, pair, case, f"{trial_id}-{number}") for number, pair in enumerate(pairs, 1)]
    first = parts[0]
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(payload_files(part))
        prepare_all(parts)
        for part in parts:
            lay_out(part)
        before = count_before(session.pair, first.setup.store)
        outcomes = start_all([_arm(part, deadline_s) for part in parts], partial(_wait, parts))
        after = count_after(session.pair, first.setup.store)
        transfers = _successful(parts, outcomes)
        server = [counts.server for counts in (before, after) if counts.server]
        observation = observe_all(session.pair, case, transfers, server)
        _check_all(parts)
    clients = {transfer.part.client.name: transfer.timing.counted for transfer in transfers}
    timing, unproven = _timing_of_all(transfers), _describe_unproven(transfers)
    return result_of(first, before, after, timing, clients, observation, unproven)


def _arm(part: Part, deadline_s: float) -> AbstractContextManager[Armed]:
    """The tool on one client, ready to start."""
    clock, interface = part.pair.platforms[Role.CLIENT].clock, part.pair.interface(Role.CLIENT)
    flush = part.endpoints.flush if keeps_what_it_moves(part.case) else ""
    return clock.armed(interface, flush, part.words(part.tool.argv), deadline_s, server_of_mount(part))


def _wait(parts: Sequence[Part], number: int, armed: Armed, before: Offset) -> ClientTransfer | LabFailure:
    """The transfer of one client once it has ended. A failure is returned, so that the others' numbers are kept."""
    part, case = parts[number], parts[number].case
    try:
        with naming_full_disk(part), naming_hole(part):
            end = armed.wait()
            timing = armed.timing()  # raises if there was no end
    except LabFailure as error:
        return error
    instants, after = present(end)
    moved_s = abs(after.ahead_s - before.ahead_s)
    is_usual = moved_s <= before.bound_s + after.bound_s + DRIFT * timing.elapsed_s + SLACK_S
    is_by_client = describe_writer(part).get("written_by") in BY_CLIENT
    return ClientTransfer(
        part, timing,
        started_s=instants.started_s - before.ahead_s,
        ended_s=instants.ended_s - after.ahead_s,
        bound_s=max(before.bound_s, after.bound_s),
        zero_s=before.ahead_s + instants.samples_ahead_s,
        clock_moved_s=0.0 if is_usual else moved_s,
        written_by=parts[writer_of(number, case)].client.name if is_by_client else None,
    )  # fmt: skip


def _successful(parts: Sequence[Part], outcomes: Sequence[ClientTransfer | LabFailure]) -> list[ClientTransfer]:
    """Each client's transfer, in seconds since the first start. Raises SomeFailed if one has failed."""
    first_s = min((transfer.started_s for transfer in outcomes if isinstance(transfer, ClientTransfer)), default=0.0)
    transfers = [transfer.since(first_s) if isinstance(transfer, ClientTransfer) else transfer for transfer in outcomes]
    failures = [failure for failure in transfers if isinstance(failure, LabFailure)]
    if failures:
        rows = [
            transfer.row()
            if isinstance(transfer, ClientTransfer)
            else ClientPart(name=part.client.name, problem=transfer.cause_first())
            for part, transfer in zip(parts, transfers, strict=True)
        ]
        raise SomeFailed(failures[0], Together(clients=tuple(rows)))
    return [transfer for transfer in transfers if isinstance(transfer, ClientTransfer)]


def _timing_of_all(transfers: Sequence[ClientTransfer]) -> Timing:
    """The transfer as one: from the first start to the last end, with the counts of all clients."""
    first = transfers[0].timing
    counted = [transfer.timing.counted for transfer in transfers]
    together = Counters(
        tx_bytes=sum(counts.tx_bytes for counts in counted), rx_bytes=sum(counts.rx_bytes for counts in counted),
        cpu_s=_sum([counts.cpu_s for counts in counted]), retransmits=_sum([counts.retransmits for counts in counted]),
        state=first.counted.state,
    )  # fmt: skip
    elapsed_s = max(transfer.ended_s for transfer in transfers) - min(transfer.started_s for transfer in transfers)
    tool_cpu_s = sum(transfer.timing.tool_cpu_s for transfer in transfers)
    return replace(first, elapsed_s=round(elapsed_s, 6), counted=together, tool_cpu_s=tool_cpu_s)


def _sum(numbers: Sequence[NumberT | None]) -> NumberT | None:
    """The sum, if all of them are known."""
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if len(known) == len(numbers) else None


def _describe_unproven(transfers: Sequence[ClientTransfer]) -> str:
    """Why the transfer does not count: a clock that was set, a cached payload, or a setting; empty if it counts."""
    for transfer in transfers:
        if transfer.clock_moved_s:
            return CLOCK_MOVED.format(name=transfer.part.client.name, moved_s=transfer.clock_moved_s)
    for transfer in transfers:
        if why := not_on_the_wire(transfer.part, transfer.part.case, transfer.timing.counted):
            return f"{transfer.part.client.name}: {why}"
    for transfer in transfers[1:]:  # the first one's settings are looked at for every transfer
        state = {Role.CLIENT: transfer.timing.counted.state}
        if why := not_in_effect(transfer.part.case, state, buffers_of(transfer.part.pair)):
            return f"{transfer.part.client.name}: {why}"
    return ""


def _check_all(parts: Sequence[Part]) -> None:
    """Compare every byte that arrived, of all clients. What mounts anew does so one after the other."""
    first = parts[0]
    if first.endpoints.target_place.in_mount or first.words(first.tool.verification):
        for part in parts:
            check_arrived(part)
        return
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        for checked in [threads.submit(check_arrived, part) for part in parts]:
            checked.result()
