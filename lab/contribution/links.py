"""Check that the tests of the link follow the plan, and that each trial notes the ceiling of its block."""

import re
from collections.abc import Iterator, Mapping, Sequence

from lab.base.templates import pattern_of
from lab.contribution.flaw import Flaw
from lab.contribution.order import PLANNED, Planned
from lab.contribution.plausible import SAME, Record, is_planned
from lab.design.blocks import Slot
from lab.results.json_object import RunJson
from lab.results.packed_run import TRIALS
from lab.results.set_aside import is_aside
from lab.results.trial import Trial, has_second_shots
from lab.run.ceilings import link_ceiling
from lab.run.ceilings.link_ceiling import AFTER, AGAIN, LEAST_SHARE, PROTOCOL, SLOWER
from lab.run.transfer.recorded import VOID

# A test that was measured again, or after a run was resumed, has this after the id of its shot
SUFFIX = re.compile(rf"({VOID}|{AGAIN})?(-\d+)?")
ROUNDED = 0.06  # tolerance of MB/s with one decimal in a reason
# Fields that a test of the link does not count: they stay as in the plan
OF_NONE = ("client_cpu_s", "server_cpu_s", "wire_tx_bytes", "wire_rx_bytes", "ceiling_bytes_per_s", "verified")
Lines = Sequence[tuple[int, Record]]
Tests = Mapping[str, tuple[int, Trial]]  # by id, with the line


def check_links(lines: Lines, planned: Planned, run: RunJson) -> Iterator[Flaw]:
    """Tests that are not in the plan, missing, or void without cause; and ceilings of trials that no test gave."""
    tests = {test["trial_id"]: (line, Trial.from_json(test)) for line, test in lines if test["protocol"] == PROTOCOL}
    shots = _shots(planned.slots, has_second_shots(run))
    for trial_id, (line, test) in tests.items():
        if not is_aside(trial_id) and (problem := _not_planned(test, shots) or _not_replaced(test, tests)):
            yield Flaw(TRIALS, line, f"{trial_id}: {problem}")
    transfers = [(line, trial) for line, trial in lines if is_planned(trial)]
    yield from _check_ceilings(transfers, tests, planned)
    if tests:
        yield from _check_missing(transfers, tests, planned, run)


def _shots(slots: Sequence[Slot], after: bool) -> Mapping[str, Trial]:
    """Each test of the plan by its id, with the fields that the plan decides."""
    rows: dict[str, Trial] = {}
    for slot in slots:
        for suffix in ("", AFTER) if after else ("",):
            ids = link_ceiling.ids(slot, suffix)
            if not rows.keys() >= set(ids.values()):
                rows |= {row.trial_id: row for row in link_ceiling.rows(slot, ids, "").values()}
    return rows


def _not_planned(test: Trial, shots: Mapping[str, Trial]) -> str:
    """How a test differs from the plan's test of its id. Its bytes and its store may differ."""
    shot = next((shots[name] for name in _bases(test.trial_id) if name in shots), None)
    if shot is None:
        return "the sweep and its seed give no such test of the link"
    names = [*(name for name in PLANNED if name not in ("size_bytes", "store")), *OF_NONE]
    differing = [name for name in names if getattr(test, name) != getattr(shot, name)]
    return f"{', '.join(differing)}: not as the sweep and its seed have it" if differing else ""


def _bases(trial_id: str) -> Iterator[str]:
    """The ids of shots that the id of a test may begin with."""
    return (trial_id[:end] for end in range(len(trial_id), 0, -1) if SUFFIX.fullmatch(trial_id[end:]))


def _not_replaced(test: Trial, tests: Tests) -> str:
    """Why a test cannot be void. The lab repeats a slow test, and voids it only if the repetition is faster."""
    if test.status != "void":
        return f"{VOID}, and is {test.status}" if VOID in test.trial_id else ""
    base = next((name for name in _bases(test.trial_id) if VOID not in name and name in tests), None)
    if VOID not in test.trial_id or base is None:
        return "is void, and was not measured again"
    match = pattern_of(SLOWER).fullmatch(test.reason)
    if match is None or _was_slower(_rate(test), _rate(tests[base][1]), match):
        return ""
    return f"is void ({test.reason:.80}): it was not"


def _rate(test: Trial) -> float:
    return test.size_bytes / test.elapsed_s / 1e6 if test.elapsed_s else 0.0


def _was_slower(rate: float, again: float, match: re.Match[str]) -> bool:
    """Whether a test was less than half as fast as its repetition and its twin, as its reason says with numbers."""
    try:
        slow, second, twin = (float(match[name]) for name in ("slow", "again", "twin"))
    except ValueError:
        return False
    is_so = abs(rate - slow) < ROUNDED and abs(again - second) < ROUNDED
    return is_so and rate < LEAST_SHARE * again and slow < LEAST_SHARE * twin + ROUNDED


def _check_ceilings(transfers: Lines, tests: Tests, planned: Planned) -> Iterator[Flaw]:
    """Trials whose ceiling differs from the test before them; a failed trial may have none yet."""
    for line, trial in transfers:
        slot, stated = planned.slot(trial["trial_id"]), trial["ceiling_bytes_per_s"]
        if slot is None or (stated is None and trial["status"] == "failed"):
            continue
        _, test = tests.get(link_ceiling.ids(slot)[slot.case.direction], (0, None))
        rate = link_ceiling.rate(test)
        if (stated is None) != (rate is None) or (stated and rate and abs(rate - stated) > SAME * rate):
            measured = "no test of the link" if rate is None else f"the test of the link before it gave {rate:.6g}"
            problem = f"ceiling_bytes_per_s {stated if stated is None else format(stated, '.6g')}, and {measured}"
            yield Flaw(TRIALS, line, f"{trial['trial_id']}: {problem}")


def _check_missing(transfers: Lines, tests: Tests, planned: Planned, run: RunJson) -> Iterator[Flaw]:
    """Missing tests of networks that trials used. The last block may lack the tests after its trials."""
    ids = [trial["trial_id"] for _, trial in transfers if trial["status"] != "failed"]
    measured = [slot for trial_id in ids if (slot := planned.slot(trial_id))]
    due = {name: None for slot in measured for name in link_ceiling.ids(slot).values()}
    last = max((slot.block for slot in measured), default=0)
    whole = [slot for slot in measured if slot.block < last or str(run.get("ended", "")).startswith("complete")]
    if has_second_shots(run):
        due |= {name: None for slot in whole for name in link_ceiling.ids(slot, AFTER).values()}
    yield from (Flaw(TRIALS, None, f"{name} is missing") for name in due if name not in tests)
