"""One timed transfer between two hosts whose settings stand: prepare, time, check the wire, verify, clean up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from lab.base.asleep import asleep_s
from lab.base.errors import CommandError, LabFailure, RestoreError, TransferError
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.platforms import Timing
from lab.results.observed import Observed
from lab.run import together
from lab.run.endpoints import Endpoints, endpoints_of, payload_files
from lab.run.in_effect import buffers_of, effective_of
from lab.run.measured import Measured, count_carrier_changes, count_server, describe_outage, describe_sleep
from lab.run.observation import observe
from lab.run.pair import Pair
from lab.run.payload_making import describe_writer
from lab.run.preparation import lay_out, prepare
from lab.run.radio import with_radios
from lab.run.session import Session
from lab.run.side_by_side import at_once
from lab.run.standing import Standing
from lab.run.store_moved import add_moved, count_moved, find_fault, raise_fault
from lab.run.task import check_arrived, explained, keeps_what_it_moves, make_task, server_of_mount
from lab.run.verdict import contradiction, ways_of
from lab.run.wire_proof import describe_others, not_on_the_wire


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move one payload under the client's clock, which ends it after ``deadline_s`` seconds; with several clients, one
    payload each at the same time.

    It begins anew where its mount was gone in the middle. Raises LabFailure where it fails or a byte is wrong.
    """
    with _naming_what_ended(session):
        while True:
            standing = session.stand(case)
            try:
                if case.clients > 1:
                    return together.transfer(session, case, trial_id, deadline_s)
                return _transfer_over(session, standing, case, trial_id, deadline_s)
            except RestoreError:
                raise
            except LabFailure as error:
                # a command that failed prepares or checks it
                may_be_mount = isinstance(error, TransferError | CommandError)
                may_be_mount = may_be_mount and session.settings.find_ended(Role.SERVER) is None
                if not (may_be_mount and session.drop_lost_mount(case, error)):
                    raise_fault(session.pair, standing.store, error)
                    raise


@contextmanager
def _naming_what_ended(session: Session) -> Iterator[None]:
    """Name the process of the lab's that ended meanwhile, in the error that came of it."""
    try:
        yield
    except RestoreError:
        raise
    except LabFailure as error:
        ended = session.settings.find_ended()
        if ended is None:
            raise
        cause = error.message if isinstance(error, TransferError) else error.cause()
        told = TransferError(f"{ended.name} ended during the transfer; {cause}", error.remedy, host=ended.host)
        raise (together.SomeFailed(told, error.together) if isinstance(error, together.SomeFailed) else told) from error


def _transfer_over(session: Session, standing: Standing, case: Case, trial_id: str, deadline_s: float) -> Measured:
    """Move the payload once over what stands."""
    pair = session.pair
    placed = replace(case, direction=Direction.WRITE) if case.is_of_names else case  # the client has the list
    endpoints = endpoints_of(pair, standing, placed, trial_id)
    payload, keeps = session.payload, keeps_what_it_moves(case)
    files_of_folder = case.files if payload.is_folder else None
    with payload_files(pair, endpoints, standing.mount.payloads, files_of_folder) as files:
        task = make_task(session, standing, case, endpoints)
        argv = task.words(task.tool.argv)
        prepare(session, standing, placed, endpoints, argv)
        lay_out(session, standing, case, task.words(task.tool.lay_out), endpoints.target)
        stored_before = count_moved(pair, standing.store)
        slept_s, before = asleep_s(), count_server(pair)
        flush = endpoints.flush if keeps and not case.is_of_names else ""
        timing = _time(pair, standing, case, endpoints, flush, argv, deadline_s)
        counted, slept_s = [*before, *count_server(pair)], asleep_s() - slept_s
        stored_after = count_moved(pair, standing.store)
        report = task.tool.read_report(timing.printed, task.move) or Observed()
        ways = ways_of(case, report)
        # what was sampled ends with the last reading, whatever the check does meanwhile
        observed = partial(observe, pair, ways[0], timing, counted, case.files)
        _, (radios, (seen, _)) = at_once(
            partial(check_arrived, session, standing, case, endpoints, task),
            partial(
                at_once, session.radios.read, partial(at_once, observed, partial(files.remove, endpoints.source_place))
            ),
        )
    states = {Role.CLIENT: timing.counted.state} | ({Role.SERVER: counted[-1].state} if counted else {})
    moved = counted[-1].since(counted[0]) if counted else None
    unproven = _describe_unproven(pair, standing, ways, timing)
    of_server = describe_others(Role.SERVER, case, moved) if moved else ()
    others = dict([*describe_others(Role.CLIENT, case, timing.counted), *of_server])
    others |= describe_writer(case, endpoints)
    effective = effective_of(standing, case, timing, states, {**task.versions, **others, **seen.effective})
    recorded = replace(with_radios(seen.observed, radios), requests=report.requests, frames=report.frames)
    recorded = add_moved(recorded, standing.store, stored_before, stored_after)
    hosts = {"client": timing.counted, "server": moved}
    outage, recorded = describe_outage(hosts), replace(recorded, carrier_changes=count_carrier_changes(hosts.values()))
    void = describe_sleep(pair, slept_s) or outage or unproven
    void = void or contradiction(case, states, recorded, buffers_of(pair)) or find_fault(pair, standing.store)
    timing = replace(timing, elapsed_s=task.tool.elapsed_s(report, timing.elapsed_s))
    return Measured(timing, moved, effective, void, recorded, seen.samples, keeps)


def _describe_unproven(pair: Pair, standing: Standing, ways: Sequence[Case], timing: Timing) -> str:
    """Why not all of a transfer is proven to have crossed the wire; empty where it is."""
    driver, path = standing.served.drivers[Role.CLIENT], standing.attached.path
    return next(filter(None, (not_on_the_wire(pair, driver, path, way, timing.counted) for way in ways)), "")


def _time(
    pair: Pair,
    standing: Standing,
    case: Case,
    endpoints: Endpoints,
    flush: str,
    argv: tuple[str, ...],
    deadline_s: float,
) -> Timing:
    """Run the tool under the client's clock. Raises TransferError, which names a lack of space."""
    clock, interface = pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    with explained(pair, endpoints, case):
        return clock.time_transfer(interface, flush, argv, deadline_s, server_of_mount(pair, standing, case))
