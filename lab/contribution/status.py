"""Check that the facts of each trial give its status, by the code that decided it in the run.

Some causes, such as a sleep of the client, stand in the reason alone. Then the reason must be one that the lab writes,
and no fact of the trial may contradict it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lab import platforms
from lab.base.errors import LabFailure
from lab.base.templates import pattern_of
from lab.contribution.flaw import Flaw
from lab.contribution.order import Planned
from lab.design.case import Case
from lab.design.factors import LOCAL
from lab.hosts import ROLES, Role
from lab.results.json_object import RunJson
from lab.results.packed_run import TRIALS
from lab.results.set_aside import DISTURBED
from lab.results.trial import STORE_PROTOCOL, Trial
from lab.run.ceilings.foreign_load import OTHERS
from lab.run.ceilings.link_ceiling import SLOWER
from lab.run.ceilings.store_tools import not_from_devices
from lab.run.transfer.part import keeps_what_it_moves
from lab.run.transfer.proof import NOT_CROSSED, Buffers, contradiction, least_bytes, payload_bytes, ways_of
from lab.run.transfer.result import OUTAGE, SLEPT
from lab.run.transfer.several_clients import CLOCK_MOVED
from lab.run.transfer.store_moved import FAULT

# The observations that a failed trial may have
OF_FAILED = frozenset({"together", "mount_tries"})
MEASURED = ("elapsed_s", "client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes", "retransmits")
CROSSED = "bytes crossed the client's interface"
OF_CLIENT = re.compile(r"(client(?:\.\d+)?): ")  # begins a reason about one of several clients


def check_statuses(trials: Sequence[tuple[int, Trial]], planned: Planned, run: RunJson) -> Iterator[Flaw]:
    """Trials whose facts contradict their status, or whose reason the lab never writes."""
    hosts = run.get("hosts", {})
    kinds = {role: platforms.named(str(hosts[role].get("platform"))) for role in ROLES if role in hosts}
    buffers = {role: kind.settings_class.tcp_buffers_in for role, kind in kinds.items() if kind}
    for line, trial in trials:
        slot = planned.slot(trial.trial_id)
        problems = _problems(trial, slot.case if slot else None, run, buffers)
        yield from (Flaw(TRIALS, line, f"{trial.trial_id}: {problem}") for problem in problems)


def _problems(trial: Trial, case: Case | None, run: RunJson, buffers: Buffers) -> Iterator[str]:
    against = list(filter(None, _contradictions(trial, case, buffers)))
    if case and case.mount_options.get("multichannel") == "true" and trial.status == "ok":
        # bytes may have crossed other interfaces
        against = [fact for fact in against if not fact.endswith(CROSSED)]
    if trial.status == "failed":
        yield from _problems_of_failed(trial)
    elif trial.status == "ok":
        yield from (f"is ok, and {fact}" for fact in against)
        if trial.reason:
            yield f"is ok, and has a reason not to be: {trial.reason:.80}"
    elif not _is_known(trial, against, run):
        yield f"is void ({trial.reason:.80}), which its own facts do not bear out"
    if case and trial.status != "failed" and trial.verified != (keeps := keeps_what_it_moves(case)):
        yield f"verified is {trial.verified}, where what was moved {'is' if keeps else 'is not'} compared"


def _problems_of_failed(trial: Trial) -> Iterator[str]:
    """A failed transfer has no numbers."""
    observed = [name for name in trial.observed.to_json() if name not in OF_FAILED]
    numbers = [name for name in MEASURED if getattr(trial, name) is not None]
    effective = ["effective"] if trial.effective.to_json() else []
    if facts := [*numbers, *effective, *observed, *(["verified"] if trial.verified else [])]:
        yield f"failed, and has what only a transfer that ended well has: {', '.join(facts[:5])}"
    if not trial.reason.strip():
        yield "failed, and says no reason"


def _contradictions(trial: Trial, case: Case | None, buffers: Buffers) -> Iterator[str]:
    """The facts against a good trial, in the words of the run."""
    if trial.protocol in (STORE_PROTOCOL, LOCAL):
        yield not_from_devices(trial)
    if trial.observed.carrier_changes:
        yield "the link of a host went up or down during it"
    if case is None or trial.status == "failed":
        return
    yield from _not_crossed(trial, case)
    try:
        yield contradiction(case, _states(trial, buffers), trial.observed, buffers)
    except LabFailure as error:
        yield str(error)


def _not_crossed(trial: Trial, case: Case) -> Iterator[str]:
    """Payloads that did not cross the wire whole, for each client and direction."""
    rows = (trial.observed.together.clients or ()) if trial.observed.together else ()
    counts = [(f"{row.name}: ", row.tx_bytes, row.rx_bytes) for row in rows]
    for who, sent, received in counts or [("", trial.wire_tx_bytes, trial.wire_rx_bytes)]:
        for way in ways_of(case, trial.observed):
            if sent is None or received is None:
                yield f"{who}what crossed the wire is not counted"
            elif (moved := payload_bytes(way, sent, received)) < (least := least_bytes(way)):
                yield f"{who}only {moved} of {least} {CROSSED}"


def _states(trial: Trial, roles: Iterable[Role]) -> Mapping[Role, Mapping[str, str]]:
    effective = {name: str(value) for name, value in trial.effective.to_json().items()}
    return {
        role: {name.removeprefix(f"{role}_"): value for name, value in effective.items() if name.startswith(f"{role}_")}
        for role in roles
    }


def _is_known(trial: Trial, against: Sequence[str], run: RunJson) -> bool:
    """Whether the lab writes the reason of a void trial, and its facts agree as far as they can."""
    if trial.reason.startswith(DISTURBED):  # the trial was good before others disturbed its block
        return not against and bool(pattern_of(OTHERS).fullmatch(trial.reason.removeprefix(DISTURBED)))
    reason = OF_CLIENT.sub("", trial.reason, count=1)
    if match := pattern_of(NOT_CROSSED).fullmatch(reason):
        return any(fact.endswith(f"only {match['moved']} of {match['least']} {CROSSED}") for fact in against)
    if trial.reason in against:
        return True
    return bool(reason) and any(
        pattern.fullmatch(reason) is not None and is_so(trial, run) for pattern, is_so in UNRECORDED
    )


def _had_outage(trial: Trial, _: RunJson) -> bool:
    changes = sum(map(int, re.findall(r"(\d+) carrier changes", trial.reason)))
    return trial.protocol == "link" or changes == (trial.observed.carrier_changes or 0) > 0


# Reasons without a fact in the record, and the trials that can have them
UNRECORDED: tuple[tuple[re.Pattern[str], Callable[[Trial, RunJson], bool]], ...] = (
    (pattern_of(SLEPT), lambda _, run: run.get("hosts", {}).get("client", {}).get("transport") == "local"),
    (pattern_of(CLOCK_MOVED), lambda trial, _: trial.observed.together is not None),
    (FAULT, lambda trial, _: trial.effective.server_store is not None),
    (pattern_of(OUTAGE), _had_outage),
    (pattern_of(SLOWER), lambda trial, _: trial.protocol == "link"),
)
