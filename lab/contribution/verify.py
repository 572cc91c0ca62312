"""Verify a contribution from elsewhere. It is data: nothing in it is run, followed or believed.

Everything that can be computed again is computed again: digests, medians, ceilings, the order of the plan. A
contribution with any flaw is refused as a whole. Nothing outside its folder is read.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.base.errors import BadInput
from lab.base.groups import grouped
from lab.base.untrusted import read_lines
from lab.contribution import plausible, record
from lab.contribution.derived import check_courses, check_derived
from lab.contribution.files import check_digests, check_entries, read_record
from lab.contribution.flaw import Flaw, limit
from lab.contribution.hosts import check_hosts
from lab.contribution.links import check_links
from lab.contribution.order import check_loads, check_order, check_times, plan_again
from lab.contribution.plausible import Record
from lab.contribution.record import Contribution, Median
from lab.contribution.status import check_statuses
from lab.results.packed_run import RUN, TRIALS
from lab.results.public import names_left, private_keys
from lab.results.run_folder import RunFolder
from lab.results.trial import STORE_PROTOCOL, Trial, lacking_fields, read_line

SAME = 1e-9  # relative tolerance of medians of the same numbers
Lines = list[tuple[int, dict[str, Any]]]


@dataclass
class Collection:
    """What a collection has: by the digest of each run and each trial, the name of its contribution."""

    runs: dict[str, str] = field(default_factory=dict)
    trials: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, records: Sequence[Record]) -> None:
        """Add the run and the good trials of an accepted contribution."""
        self.runs[record.digest_trials(records)] = name
        self.trials |= {record.digest_trial(trial): name for trial in records if trial["status"] == "ok"}


def verify(folder: Path, collection: Collection | None = None) -> list[Flaw]:
    """What does not add up in a contribution, or is in ``collection`` already: at most MOST_FLAWS and a note."""
    return limit(_verify(folder, collection or Collection()))


def read_records(folder: Path) -> list[dict[str, Any]]:
    """The trials of a verified contribution, for :meth:`Collection.add`. Raises BadInput."""
    return RunFolder(folder).records()


def describe_lacking(records: Sequence[Record]) -> str:
    """How many trials are void or failed, so that medians leave them out; empty if none is."""
    counts = Counter(trial["status"] for trial in records)
    parts = [f"{counts[status]} {status}" for status in ("void", "failed") if counts[status]]
    return f" ({' and '.join(parts)} of {len(records)} trials)" if parts else ""


def _verify(folder: Path, collection: Collection) -> Iterator[Flaw]:
    entries = list(check_entries(folder))
    yield from entries
    if entries and any(flaw.what != "missing" for flaw in entries):
        return  # only ordinary files of the right size are opened
    has_record = all(flaw.file != record.NAME for flaw in entries)
    contribution, flaws = read_record(folder) if has_record else (None, [])
    yield from flaws
    if contribution:
        yield from check_digests(folder, contribution)
    try:
        run = RunFolder(folder)
    except BadInput as error:
        yield Flaw(RUN, None, _without(folder, error))
        return
    lines, bad = _read_trials(run)
    yield from bad
    yield from _check_names(run, lines)
    records = [trial for _, trial in lines]
    yield from _check_repeated(lines)
    ceilings = plausible.link_ceilings(records)
    for line, trial in lines:
        for problem in plausible.problems_of(trial, ceilings, run.run):
            yield Flaw(TRIALS, line, f"{trial['trial_id']}: {problem}")
    yield from check_times(lines, run.run)
    planned, unplanned = plan_again(lines, run)
    yield from unplanned
    if planned:
        trials = [(line, Trial.from_json(trial)) for line, trial in lines]
        yield from check_order(lines, planned, run.run)
        yield from check_links(lines, planned, run.run)
        yield from check_statuses(trials, planned, run.run)
        yield from check_derived(trials, planned)
        yield from check_loads(trials, planned, run.run)
    yield from check_hosts(lines, run.run)
    yield from check_courses(run, lines)
    yield from _check_new(lines, records, collection)
    if contribution and not bad:
        yield from _check_record(contribution, run, records)


def _without(folder: Path, error: BadInput) -> str:
    """The text of an error without the path of the folder."""
    return str(error).replace(f"{folder}/", "").replace(str(folder), ".")


def _check_names(run: RunFolder, lines: Lines) -> Iterator[Flaw]:
    if "replaced" not in run.run:
        yield Flaw(RUN, None, "replaced: missing: this is no copy without names, as `lab contribute` makes one")
    for key in private_keys(run.run):
        yield Flaw(RUN, None, f"{key}: no copy without names has it")
    try:
        for file, line, kind, name in names_left(run, lines):
            yield Flaw(file, line, f"a name was left in it ({kind}): {name}")
    except BadInput as error:  # too many names to look for
        yield Flaw(RUN, None, _without(run.path, error))


def _read_trials(run: RunFolder) -> tuple[Lines, list[Flaw]]:
    """The trials with their line numbers, and flaws about lines that hold no trial."""
    lacking, lines, bad = lacking_fields(run.run["schema"]), [], []
    try:
        for number, line in enumerate(read_lines(run.trials_path), 1):
            if not line.endswith(b"\n"):
                bad.append(Flaw(TRIALS, number, "it has no end: the file was cut off"))
            trial, problem = read_line(line.removesuffix(b"\n"), lacking)
            if problem:
                bad.append(Flaw(TRIALS, number, problem))
            else:
                lines.append((number, trial))
    except OSError as error:
        bad.append(Flaw(TRIALS, None, f"cannot be read: {error.strerror}"))
    if not lines and not bad:
        bad.append(Flaw(TRIALS, None, "it holds no trial"))
    return lines, bad


def _check_repeated(lines: Lines) -> Iterator[Flaw]:
    """Two trials with one id, or with the same measurement."""
    for name, key_of in (("trial_id", lambda trial: trial["trial_id"]), ("measurement", _measurement)):
        first_line: dict[object, int] = {}
        again = [
            (line, f"{trial['trial_id']}: the {name} of line {first_line[key]} again")
            for line, trial in lines
            if (key := key_of(trial)) is not None and first_line.setdefault(key, line) != line
        ]
        yield from _once(again)


def _measurement(trial: Record) -> object:
    """A key that no two transfers share: the start, the duration and the bytes."""
    if trial["status"] != "ok" or trial["protocol"] == STORE_PROTOCOL:
        return None
    return trial["started_at"], trial["elapsed_s"], trial["wire_tx_bytes"], trial["wire_rx_bytes"]


def _check_new(lines: Lines, records: Sequence[Record], collection: Collection) -> Iterator[Flaw]:
    """A run, or trials, that the collection already has."""
    if name := collection.runs.get(record.digest_trials(records)):
        yield Flaw(TRIALS, None, f"the same run as {name}")
        return
    repeated = grouped(
        (name, (line, f"{trial['trial_id']}: the same trial as in {name}"))
        for line, trial in lines
        if trial["status"] == "ok" and (name := collection.trials.get(record.digest_trial(trial)))
    )
    for problems in repeated.values():
        yield from _once(problems)


def _once(problems: Sequence[tuple[int, str]]) -> Iterator[Flaw]:
    """One flaw for a problem of many lines: the first line, and the number of further lines."""
    for line, problem in problems[:1]:
        others = f", and so in {len(problems) - 1} more lines" if len(problems) > 1 else ""
        yield Flaw(TRIALS, line, f"{problem}{others}")


def _check_record(contribution: Contribution, run: RunFolder, records: Sequence[Record]) -> Iterator[Flaw]:
    """How `contribution.json` differs from the files of the contribution."""
    if contribution.measured_sha256 != record.digest_trials(records):
        yield Flaw(record.NAME, None, f"measured_sha256 is not that of {TRIALS}")
    if contribution.hosts != record.hosts_of(run.run):
        yield Flaw(record.NAME, None, f"hosts: not what {RUN} says of them")
    try:
        medians = record.medians_of(run)
    except BadInput as error:
        yield Flaw(TRIALS, None, _without(run.path, error))
        return
    stated, computed = ({median.case_id: median for median in rows} for rows in (contribution.medians, medians))
    if len(stated) < len(contribution.medians):
        yield Flaw(record.NAME, None, "medians: a case stands there twice")
    for case_id in sorted(stated.keys() | computed.keys()):
        if problem := _difference(case_id, stated.get(case_id), computed.get(case_id)):
            yield Flaw(record.NAME, None, problem)


def _difference(case_id: str, stated: Median | None, computed: Median | None) -> str:
    """How a stated median differs from the computed one; empty if it does not."""
    if stated is None or computed is None:
        return f"medians: {case_id}: {'missing' if stated is None else 'no good trial is of it'}"
    if stated.n != computed.n:
        return f"medians: {case_id}: n is {stated.n}, and {computed.n} good trials are there"
    for name in ("MB_per_s", "low", "high"):
        value, recomputed = getattr(stated, name), getattr(computed, name)
        is_known = value is not None and recomputed is not None
        if value is not recomputed and not (is_known and math.isclose(value, recomputed, rel_tol=SAME)):
            return f"medians: {case_id}: {name} is {value}, and {recomputed} recomputed from bytes and seconds"
    return ""
