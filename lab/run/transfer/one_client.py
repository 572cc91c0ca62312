"""A transfer by one client: the tool under the client's clock, the check of what arrived, what the hosts counted."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lab.design.case import Case
from lab.hosts import Role
from lab.platforms import Counters, Timing
from lab.platforms.network import Radio
from lab.results.observed import Observed
from lab.run.case.pair import Pair
from lab.run.case.radio import with_radios
from lab.run.case.session import Session
from lab.run.case.setup import Setup
from lab.run.transfer.observation import Observation, observe
from lab.run.transfer.payload import describe_writer
from lab.run.transfer.places import Endpoints, PayloadFiles, endpoints_of, payload_files
from lab.run.transfer.preparation import lay_out, prepare
from lab.run.transfer.proof import describe_others, not_on_the_wire, ways_of
from lab.run.transfer.result import TransferResult, count_after, count_before, result_of
from lab.run.transfer.tool_call import (
    ToolCall,
    check_arrived,
    explained,
    keeps_what_it_moves,
    make_tool_call,
    server_of_mount,
)


@dataclass(frozen=True)
class _Seen:
    """What is looked at once a transfer has ended: what the hosts counted meanwhile, and what their radios say."""

    observation: Observation
    radios: Mapping[Role, Radio]


def move(session: Session, setup: Setup, case: Case, trial_id: str, deadline_s: float) -> TransferResult:
    """Move the payload once over what stands. Raises LabFailure where it fails or a byte is wrong."""
    pair = session.pair
    endpoints = endpoints_of(pair, setup, case, trial_id)
    files_of_folder = case.files if session.payload.is_folder else None
    with payload_files(pair, endpoints, setup.mount.payloads, files_of_folder) as files:
        tool_call = make_tool_call(session, setup, case, endpoints)
        argv = tool_call.words(tool_call.tool.argv)
        prepare(session, setup, case, endpoints, argv)
        lay_out(session, setup, case, tool_call.words(tool_call.tool.lay_out), endpoints.target)
        before = count_before(pair, setup.store)
        timing = _time(pair, setup, case, endpoints, argv, deadline_s)
        after = count_after(pair, setup.store)
        report = tool_call.tool.read_report(timing.printed, tool_call.move) or Observed()
        moved = ways_of(case, report)
        counted = [counts.server for counts in (before, after) if counts.server]
        seen = _check_and_look(session, setup, case, endpoints, tool_call, moved[0], timing, counted, files)
    observed = with_radios(seen.observation.observed, seen.radios)
    observed = replace(observed, requests=report.requests, frames=report.frames)
    more: dict[str, str | int] = {**tool_call.versions, **dict(describe_others(Role.CLIENT, case, timing.counted))}
    more |= {**seen.observation.effective, **describe_writer(case, endpoints)}
    unproven = _describe_unproven(pair, setup, moved, timing)
    clients = {"client": timing.counted}
    result = result_of(pair, setup, case, before, after, timing, clients, observed, unproven, more)
    elapsed_s = tool_call.tool.elapsed_s(report, timing.elapsed_s)
    return replace(result, timing=replace(timing, elapsed_s=elapsed_s), samples=seen.observation.samples)


def _time(
    pair: Pair, setup: Setup, case: Case, endpoints: Endpoints, argv: tuple[str, ...], deadline_s: float
) -> Timing:
    """Run the tool under the client's clock. Raises TransferError, which names a lack of space."""
    clock, interface = pair.platforms[Role.CLIENT].clock, pair.interface(Role.CLIENT)
    flush = endpoints.flush if keeps_what_it_moves(case) and not case.is_of_names else ""
    with explained(pair, endpoints, case):
        return clock.time_transfer(interface, flush, argv, deadline_s, server_of_mount(pair, setup, case))


def _check_and_look(
    session: Session,
    setup: Setup,
    case: Case,
    endpoints: Endpoints,
    tool_call: ToolCall,
    moved: Case,
    timing: Timing,
    counted: Sequence[Counters],
    files: PayloadFiles,
) -> _Seen:
    """Compare what arrived, and read meanwhile what was sampled and what the radios say; the source is removed, too.

    What was sampled ends with the last reading, whatever the check does meanwhile. The check runs in this thread, where
    an interruption ends it. Raises what any of them raised, once all have ended.
    """
    with ThreadPoolExecutor(3) as threads:
        radios = threads.submit(session.radios.read)
        observation = threads.submit(observe, session.pair, moved, timing, counted, case.files)
        removed = threads.submit(files.remove, endpoints.source_place)
        check_arrived(session, setup, case, endpoints, tool_call)
    removed.result()
    return _Seen(observation.result(), radios.result())


def _describe_unproven(pair: Pair, setup: Setup, moved: Sequence[Case], timing: Timing) -> str:
    """Why not all of a transfer is proven to have crossed the wire; empty where it is."""
    driver, path = setup.served.drivers[Role.CLIENT], setup.attached.path
    return next(filter(None, (not_on_the_wire(pair, driver, path, way, timing.counted) for way in moved)), "")
