"""One timed transfer, by one client or several, over the setup of its case."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from lab.base.errors import CommandError, LabFailure, RestoreError, TransferError
from lab.design.case import Case
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.results.observed import Observed
from lab.run.case.radio import with_radios
from lab.run.case.session import Session
from lab.run.transfer.observation import observe
from lab.run.transfer.part import Part, keeps_what_it_moves, make_part, naming_full_disk, naming_hole, server_of_mount
from lab.run.transfer.payload import PayloadFiles, check_arrived, payload_files
from lab.run.transfer.preparation import lay_out, prepare
from lab.run.transfer.proof import describe_others, not_on_the_wire, ways_of
from lab.run.transfer.result import Observation, TransferResult, count_after, count_before, result_of
from lab.run.transfer.several_clients import SomeFailed, move_several
from lab.run.transfer.store_moved import raise_fault


def transfer(session: Session, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move the payload of each client under its clock, which ends the transfer after ``deadline_s`` seconds.

    If the mount vanished in the middle, the transfer begins anew. Raises LabFailure if it fails or a byte is wrong.
    """
    move = move_several if case.clients > 1 else _move_one
    with _naming_ended_process(session):
        while True:
            setup = session.set_up(case)
            try:
                return move(session, case, trial_id, deadline_s)
            except RestoreError:
                raise
            except LabFailure as error:
                # a command that failed prepares or checks the transfer
                may_be_mount = isinstance(error, TransferError | CommandError)
                may_be_mount = may_be_mount and session.settings.find_ended(Role.SERVER) is None
                if not (may_be_mount and session.drop_lost_mount(case, error)):
                    raise_fault(session.pair, setup.store, error)
                    raise


@contextmanager
def _naming_ended_process(session: Session) -> Iterator[None]:
    """Name a process of the lab's that ended meanwhile as the cause of an error."""
    try:
        yield
    except RestoreError:
        raise
    except LabFailure as error:
        ended = session.settings.find_ended()
        if ended is None:
            raise
        cause = error.message if isinstance(error, TransferError) else error.cause()
        named = TransferError(f"{ended.name} ended during the transfer; {cause}", error.remedy, host=ended.host)
        raise (SomeFailed(named, error.together) if isinstance(error, SomeFailed) else named) from error


def _move_one(session: Session, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move the payload once over the setup of its case. Raises LabFailure if that fails or a byte is wrong."""
    part = make_part(session, session.pair, case, trial_id)
    with payload_files(part) as files, naming_hole(part):
        prepare(part)
        lay_out(part)
        before = count_before(part.pair, part.setup.store)
        timing = time_tool(part, deadline_s)
        after = count_after(part.pair, part.setup.store)
        report = part.tool.read_report(timing.printed, part.move) or Observed()
        ways = ways_of(case, report)
        server = [counts.server for counts in (before, after) if counts.server]
        observation = _check_and_observe(part, ways[0], timing, server, files)
    observed = replace(observation.observed, requests=report.requests, frames=report.frames)
    observation = replace(observation, observed=observed)
    unproven = next(filter(None, (not_on_the_wire(part, way, timing.counted) for way in ways)), "")
    others = dict(describe_others(Role.CLIENT, case, timing.counted))
    result = result_of(part, before, after, timing, {"client": timing.counted}, observation, unproven, others)
    return replace(result, timing=replace(timing, elapsed_s=part.tool.elapsed_s(report, timing.elapsed_s)))


def time_tool(part: Part, deadline_s: float) -> Timing:
    """Run the tool under the client's clock. Raises TransferError, which names a lack of space."""
    clock, interface = part.pair.platforms[Role.CLIENT].clock, part.pair.interface(Role.CLIENT)
    flush = part.endpoints.flush if keeps_what_it_moves(part.case) and not part.case.is_of_names else ""
    with naming_full_disk(part), naming_hole(part):
        argv = part.words(part.tool.argv)
        return clock.time_transfer(interface, flush, argv, deadline_s, server_of_mount(part))


def _check_and_observe(
    part: Part, moved: Case, timing: Timing, server: Sequence[Counters], files: PayloadFiles
) -> Observation:
    """Compare what arrived; meanwhile read samples and radios, and remove the source.

    Samples end with the last reading, whatever the check does meanwhile. The check runs in this thread, where an
    interruption ends it. Raises what any of them raised, once all have ended.
    """
    with ThreadPoolExecutor(3) as threads:
        radios = threads.submit(part.session.radios.read)
        observing = threads.submit(observe, part.pair, moved, timing, server, part.case.files)
        removed = threads.submit(files.remove, part.endpoints.source_place)
        check_arrived(part)
    removed.result()
    observation = observing.result()
    return replace(observation, observed=with_radios(observation.observed, radios.result()))
