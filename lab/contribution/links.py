"""Whether the tests of the link are those that the plan asks for, and whether each trial notes the one of its block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lab.base.templates import pattern_of
from lab.contribution.finding import Finding
from lab.contribution.order import PLANNED, Planned
from lab.contribution.plausible import SAME, Record, is_planned
from lab.design.blocks import Slot
from lab.results.packed_run import TRIALS
from lab.results.set_aside import ASIDE
from lab.results.trial import RunJson, Trial, has_second_shots
from lab.run.ceilings import link_ceiling
from lab.run.ceilings.link_ceiling import AFTER, AGAIN, LEAST_SHARE, PROTOCOL, SLOWER, VOID
from lab.run.transfer.recorded import plan_trial

# What the id of a test has more than that of its shot: it was measured again, or once more after a run was resumed
SUFFIX = re.compile(rf"({VOID}|{AGAIN})?(-\d+)?")
ROUNDED = 0.06  # of what a reason says in MB/s with one digit
# Fields that are those of the plan in every test: one of the link counts none of them
OF_NONE = ("client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes", "ceiling_bytes_per_s", "verified")
Tests = Mapping[str, tuple[int, Trial]]  # by id, with the line


def check_links(lines: Sequence[tuple[int, Record]], planned: Planned, run: RunJson) -> Iterator[Finding]:
    """Tests that the plan has not, that are missing or void for nothing, and ceilings of trials that no test gave."""
    tests = {one["trial_id"]: (line, Trial.from_json(one)) for line, one in lines if one["protocol"] == PROTOCOL}
    shots = _shots(planned.slots, has_second_shots(run))
    for trial_id, (line, test) in tests.items():
        if ASIDE not in trial_id and (what := _not_planned(test, shots) or _not_replaced(test, tests)):
            yield Finding(TRIALS, line, f"{trial_id}: {what}")
    transfers = [(line, one) for line, one in lines if is_planned(one)]
    yield from _check_ceilings(transfers, tests, planned)
    if tests:
        yield from _check_missing(transfers, tests, planned, run)


def _shots(slots: Sequence[Slot], after: bool) -> Mapping[str, Trial]:
    """Each test that the plan asks for, by id, as far as the plan decides it."""
    rows: dict[str, Trial] = {}
    for slot in slots:
        for suffix in ("", AFTER) if after else ("",):
            ids = link_ceiling.ids(slot, suffix)
            if not rows.keys() >= set(ids.values()):
                rows |= {row.trial_id: row for row in link_ceiling.rows(slot, plan_trial(slot, ""), ids).values()}
    return rows


def _not_planned(test: Trial, shots: Mapping[str, Trial]) -> str:
    """What is otherwise about a test than its id says; its bytes are what it moved, and its store that of any trial."""
    shot = next((shots[name] for name in _bases(test.trial_id) if name in shots), None)
    if shot is None:
        return "the sweep and its seed give no such test of the link"
    names = [*(name for name in PLANNED if name not in ("size_bytes", "store")), *OF_NONE]
    differing = [name for name in names if getattr(test, name) != getattr(shot, name)]
    return f"{', '.join(differing)}: not as the sweep and its seed have it" if differing else ""


def _bases(trial_id: str) -> Iterator[str]:
    """The ids that it may have been made of."""
    return (trial_id[:end] for end in range(len(trial_id), 0, -1) if SUFFIX.fullmatch(trial_id[end:]))


def _not_replaced(test: Trial, tests: Tests) -> str:
    """Why a test cannot be void: the lab measures again, and keeps the first one only where that was as slow."""
    if test.status != "void":
        return f"{VOID}, and is {test.status}" if VOID in test.trial_id else ""
    base = next((name for name in _bases(test.trial_id) if VOID not in name and name in tests), None)
    if VOID not in test.trial_id or base is None:
        return "is void, and was not measured again"
    match = pattern_of(SLOWER).fullmatch(test.reason)
    if match is None:
        return ""
    return "" if _was_slower(_rate(test), _rate(tests[base][1]), match) else f"is void ({test.reason:.80}): it was not"


def _rate(test: Trial) -> float:
    """In MB/s, whatever became of it."""
    return test.size_bytes / test.elapsed_s / 1e6 if test.elapsed_s else 0.0


def _was_slower(own: float, again: float, match: re.Match[str]) -> bool:
    """Whether a test was less than half as fast as the next one and its twin, as its reason says with these numbers."""
    try:
        slow, second, twin = (float(match[name]) for name in ("slow", "again", "twin"))
    except ValueError:
        return False
    is_so = abs(own - slow) < ROUNDED and abs(again - second) < ROUNDED
    return is_so and own < LEAST_SHARE * again and slow < LEAST_SHARE * twin + ROUNDED


def _check_ceilings(transfers: Sequence[tuple[int, Record]], tests: Tests, planned: Planned) -> Iterator[Finding]:
    """Trials that note another ceiling than the test before them has; of one that failed there may be none yet."""
    for line, one in transfers:
        slot, stated = planned.slot(one["trial_id"]), one["ceiling_bytes_per_s"]
        if slot is None or (stated is None and one["status"] == "failed"):
            continue
        _, test = tests.get(link_ceiling.ids(slot)[slot.case.direction], (0, None))
        rate = link_ceiling.rate(test)
        if (stated is None) != (rate is None) or (stated and rate and abs(rate - stated) > SAME * rate):
            told = "no test of the link" if rate is None else f"the test of the link before it gave {rate:.6g}"
            what = f"ceiling_bytes_per_s {stated if stated is None else format(stated, '.6g')}, and {told}"
            yield Finding(TRIALS, line, f"{one['trial_id']}: {what}")


def _check_missing(
    transfers: Sequence[tuple[int, Record]], tests: Tests, planned: Planned, run: RunJson
) -> Iterator[Finding]:
    """Tests that are missing though trials of their network were measured: those after it but in the last block."""
    measured = [slot for _, one in transfers if one["status"] != "failed" and (slot := planned.slot(one["trial_id"]))]
    due = {name: None for slot in measured for name in link_ceiling.ids(slot).values()}
    last = max((slot.block for slot in measured), default=0)
    whole = [slot for slot in measured if slot.block < last or str(run.get("ended", "")).startswith("complete")]
    if has_second_shots(run):
        due |= {name: None for slot in whole for name in link_ceiling.ids(slot, AFTER).values()}
    yield from (Finding(TRIALS, None, f"{name} is missing") for name in due if name not in tests)
