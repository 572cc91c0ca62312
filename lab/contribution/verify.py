"""Verifying a contribution from elsewhere: it is data, of which nothing is run, followed or believed.

Everything that can be computed again is: digests, medians, ceilings, the order of the plan. What does not add up is
listed, and then the contribution is refused as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.base.errors import BadInput
from lab.base.untrusted import read_lines
from lab.contribution import plausible, record
from lab.contribution.courses import check_courses
from lab.contribution.derived import check_derived
from lab.contribution.files import check_digests, check_entries, read_record
from lab.contribution.finding import Finding, findings_at, limit
from lab.contribution.hosts import check_hosts
from lab.contribution.links import check_links
from lab.contribution.loads import check_loads
from lab.contribution.order import check_order, plan_again
from lab.contribution.plausible import Record
from lab.contribution.record import Contribution, Median
from lab.contribution.status import check_statuses
from lab.contribution.times import check_times
from lab.results.packed_run import RUN, TRIALS
from lab.results.public import names_left, private_keys
from lab.results.run_folder import RunFolder
from lab.results.trial import STORE_PROTOCOL, RunJson, Trial, fields_lacking_in, read_line

SAME = 1e-9  # of medians that are computed of the same numbers
Lines = list[tuple[int, dict[str, Any]]]


@dataclass
class Collection:
    """What a collection has already: the name of the contribution that each run and each trial came with, by digest."""

    runs: dict[str, str] = field(default_factory=dict)
    trials: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, records: Sequence[Record]) -> None:
        """Note the good trials of a contribution that was taken."""
        self.runs[record.digest_trials(records)] = name
        self.trials |= {record.digest_trial(one): name for one in records if _is_ok(one)}


def verify(folder: Path, collection: Collection | None = None) -> list[Finding]:
    """Why a folder is no contribution that adds up, at most :data:`lab.contribution.finding.MOST_FINDINGS` things.

    Empty where all adds up, and nothing of it is in ``collection``. Nothing outside of the folder is read, and no link
    is followed.
    """
    return limit(_verify(Path(folder), collection or Collection()))


def read_records(folder: Path) -> list[dict[str, Any]]:
    """The trials of a contribution that was verified, such as for :meth:`Collection.add`. Raises BadInput."""
    return RunFolder(folder).records()


def describe_lacking(records: Sequence[Record]) -> str:
    """How many trials of a contribution count for nothing, for whoever reads its medians; empty where all do."""
    counts = {status: sum(one["status"] == status for one in records) for status in ("void", "failed")}
    told = [f"{count} {status}" for status, count in counts.items() if count]
    return f" ({' and '.join(told)} of {len(records)} trials)" if told else ""


def _verify(folder: Path, collection: Collection) -> Iterator[Finding]:
    entries = list(check_entries(folder))
    yield from entries
    if entries and any(finding.what != "missing" for finding in entries):
        return  # what is no ordinary file of its size is not even opened
    contribution, findings = read_record(folder) if not _lacks(entries, record.NAME) else (None, [])
    yield from findings
    if contribution:
        yield from check_digests(folder, contribution)
    try:
        run = RunFolder(folder)
    except BadInput as error:
        yield Finding(RUN, None, _without(folder, error))
        return
    lines, bad = _read_trials(run)
    yield from bad
    yield from _check_names(run, lines)
    records = [one for _, one in lines]
    yield from _check_repeated(lines)
    yield from _check_plausible(lines, run.run)
    yield from check_times(lines, run.run)
    planned, unplanned = plan_again(lines, run)
    yield from unplanned
    if planned:
        trials = [(line, Trial.from_json(one)) for line, one in lines]
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


def _lacks(entries: Sequence[Finding], name: str) -> bool:
    return any(finding.file == name for finding in entries)


def _without(folder: Path, error: BadInput) -> str:
    """What an error says, without the folder, whose place is nobody's business."""
    return str(error).replace(f"{folder}/", "").replace(str(folder), ".")


def _check_names(run: RunFolder, lines: Lines) -> Iterator[Finding]:
    """Names that a copy for strangers has not."""
    if "replaced" not in run.run:
        yield Finding(RUN, None, "replaced: missing: this is no copy without names, as `lab contribute` makes one")
    for key in private_keys(run.run):
        yield Finding(RUN, None, f"{key}: no copy without names has it")
    try:
        for file, line, kind, name in names_left(run, lines):
            yield Finding(file, line, f"a name was left in it ({kind}): {name}")
    except BadInput as error:  # of more names than anybody can look for
        yield Finding(RUN, None, _without(run.path, error))


def _read_trials(run: RunFolder) -> tuple[Lines, list[Finding]]:
    """The trials with their lines, and what is wrong with the lines that hold none."""
    lacking, lines, bad = fields_lacking_in(run.run["schema"]), [], []
    try:
        for number, line in enumerate(read_lines(run.trials_path), 1):
            if not line.endswith(b"\n"):
                bad.append(Finding(TRIALS, number, "it has no end: the file was cut off"))
            one, problem = read_line(line.removesuffix(b"\n"), lacking)
            if problem:
                bad.append(Finding(TRIALS, number, problem))
            else:
                lines.append((number, one))
    except OSError as error:
        bad.append(Finding(TRIALS, None, f"cannot be read: {error.strerror}"))
    if not lines and not bad:
        bad.append(Finding(TRIALS, None, "it holds no trial"))
    return lines, bad


def _check_repeated(lines: Lines) -> Iterator[Finding]:
    """Two trials with one id, or with the same measurement."""
    for name, key_of in (("trial_id", lambda one: one["trial_id"]), ("measurement", _measurement)):
        first_line: dict[object, int] = {}
        again = [
            (line, f"{one['trial_id']}: the {name} of line {first_line[key]} again")
            for line, one in lines
            if (key := key_of(one)) is not None and first_line.setdefault(key, line) != line
        ]
        yield from _once(again)


def _measurement(one: Record) -> object:
    """What no two transfers have in common: none of them begins with another, takes as long, and moves as much."""
    if one["status"] != "ok" or one["protocol"] == STORE_PROTOCOL:
        return None
    return one["started_at"], one["elapsed_s"], one["wire_tx_bytes"], one["wire_rx_bytes"]


def _check_plausible(lines: Lines, run: RunJson) -> Iterator[Finding]:
    ceilings = plausible.link_ceilings([one for _, one in lines])
    for line, one in lines:
        problems = (f"{one['trial_id']}: {what}" for what in plausible.problems_of(one, ceilings, run))
        yield from findings_at(TRIALS, line, problems)


def _is_ok(one: Record) -> bool:
    return bool(one["status"] == "ok")


def _check_new(lines: Lines, records: Sequence[Record], collection: Collection) -> Iterator[Finding]:
    """A run, or trials, that the collection has."""
    if name := collection.runs.get(record.digest_trials(records)):
        yield Finding(TRIALS, None, f"the same run as {name}")
        return
    digests = [(line, one["trial_id"], record.digest_trial(one)) for line, one in lines if _is_ok(one)]
    known = [(line, one, collection.trials[digest]) for line, one, digest in digests if digest in collection.trials]
    for name in dict.fromkeys(other for _, _, other in known):
        yield from _once([(line, f"{one}: the same trial as in {name}") for line, one, other in known if other == name])


def _once(found: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """What is found in many lines, as it is in the first of them, with how many more there are."""
    for line, what in found[:1]:
        yield Finding(TRIALS, line, what + (f", and so in {len(found) - 1} more lines" if len(found) > 1 else ""))


def _check_record(contribution: Contribution, run: RunFolder, records: Sequence[Record]) -> Iterator[Finding]:
    """What `contribution.json` says otherwise than its files do."""
    if contribution.measured_sha256 != record.digest_trials(records):
        yield Finding(record.NAME, None, f"measured_sha256 is not that of {TRIALS}")
    if contribution.hosts != record.hosts_of(run.run):
        yield Finding(record.NAME, None, f"hosts: not what {RUN} says of them")
    try:
        medians = record.medians_of(run)
    except BadInput as error:
        yield Finding(TRIALS, None, _without(run.path, error))
        return
    stated, computed = _by_case(contribution.medians), _by_case(medians)
    if len(stated) < len(contribution.medians):
        yield Finding(record.NAME, None, "medians: a case stands there twice")
    for case_id in sorted(stated.keys() | computed.keys()):
        yield from findings_at(record.NAME, None, [_difference(case_id, stated.get(case_id), computed.get(case_id))])


def _by_case(medians: Sequence[Median]) -> Mapping[str, Median]:
    return {median.case_id: median for median in medians}


def _difference(case_id: str, stated: Median | None, computed: Median | None) -> str:
    """What a median is otherwise than it is computed; empty where it is the same."""
    if stated is None or computed is None:
        return f"medians: {case_id}: {'missing' if stated is None else 'no good trial is of it'}"
    if stated.n != computed.n:
        return f"medians: {case_id}: n is {stated.n}, and {computed.n} good trials are there"
    for name in ("MB_per_s", "low", "high"):
        value, recomputed = getattr(stated, name), getattr(computed, name)
        if (value is None) != (recomputed is None) or (
            value is not None and not math.isclose(value, recomputed, rel_tol=SAME)
        ):
            return f"medians: {case_id}: {name} is {value}, and {recomputed} recomputed from bytes and seconds"
    return ""
