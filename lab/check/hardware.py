"""`lab check --hardware`: compare the lab's assumptions about a system with a host, and change nothing.

The assumptions are in files beside the platform and the protocols that make them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from lab import protocols
from lab.base.errors import LabFailure
from lab.base.untrusted import first_line
from lab.check.finding import Finding, is_lost, of_error
from lab.check.hardware_file import AS_ASSUMED, DIFFERS, NOT_ASKED, NOT_TOLD
from lab.check.machine import Machine
from lab.hosts import Result
from lab.hosts.assumptions import Assumption, Capture, Question, rank, read_assumptions
from lab.platforms import Facts, Platform
from lab.platforms.preflight import Preflight

DEADLINE_S = 60
Asked = TypeVar("Asked", bound=Question)


@dataclass(frozen=True)
class Answer:
    """The verdict (:mod:`lab.check.hardware_file`) on an assumption, and the output of the host's command.

    Without an output ``failure`` is the finding about it. ``reason`` says why the host was not asked.
    """

    assumption: Assumption
    verdict: str
    output: str = ""
    failure: Finding | None = None
    reason: str = ""


def assumptions_about(platform: type[Platform]) -> tuple[Assumption, ...]:
    """The assumptions of the platform and its drivers, each once."""
    owners: list[type[Preflight | protocols.Driver]] = [platform.preflight_class, *_drivers(platform)]
    rows: dict[Assumption, None] = {}
    for owner in owners:
        for path in owner.assumption_files:
            rows |= dict.fromkeys(read_assumptions(path))
    return tuple(rows)


def captures_of(platform: type[Platform]) -> tuple[Capture, ...]:
    """The captures of the platform and its drivers, each once."""
    captures = (capture for driver in _drivers(platform) for capture in driver.captures)
    return tuple(dict.fromkeys([*platform.preflight_class.captures, *captures]))


def _drivers(platform: type[Platform]) -> list[type[protocols.Driver]]:
    drivers = (protocol.drivers.get(platform.name) for protocol in protocols.by_name().values())
    return [driver for driver in drivers if driver]


def findings(machine: Machine, peer: str, answers: list[Answer]) -> Iterator[Finding]:
    """Ask about every assumption, and add each answer to ``answers``; ``peer`` is the other host's data address.

    Raises HostError if the connection is lost.
    """
    subject, assumptions = f"{machine.role} hardware", assumptions_about(type(machine.platform))
    if not assumptions:
        yield Finding("ok", subject, f"nothing is assumed of {machine.platform.name} that has not been seen")
    elif machine.facts is None:
        yield Finding("note", subject, "could not tell: that needs its facts", "solve the problems above first")
    else:
        for row in rank(about_version(machine, assumptions)):
            answers.append(_ask(machine, machine.facts, row, peer))
            yield _finding(subject, machine.facts, answers[-1])


def about_version(machine: Machine, questions: Iterable[Asked]) -> list[Asked]:
    """The questions about the version of this host; all if the version is unknown."""
    version = machine.platform.preflight.version(machine.facts) if machine.facts else None
    return [row for row in questions if version is None or row.holds_for(version)]


def ask(machine: Machine, facts: Facts, question: Question, peer: str) -> Result:
    """The output of a question's command. Raises LabFailure."""
    words = (facts.interface, peer, facts.user)
    return machine.host.shell(question.ask, *words, root=question.root, deadline_s=DEADLINE_S, check=False)


def why_not_asked(machine: Machine, question: Question) -> tuple[str, str]:
    """Why a question is not asked here, and what to do about it; two empty texts if it is asked."""
    if question.root and machine.no_root:
        return "without root", "see sudo above"
    if question.root and machine.host.is_narrow:
        return "by sudo = helper", "give another sudo for it"
    return "", ""


def _ask(machine: Machine, facts: Facts, row: Assumption, peer: str) -> Answer:
    subject = f"{machine.role} hardware"
    if not row.ask:
        return Answer(row, NOT_ASKED)
    reason, remedy = why_not_asked(machine, row)
    if reason:
        note = Finding("note", subject, f"could not tell {reason}: {row.what}", remedy)
        return Answer(row, NOT_TOLD, failure=note, reason=f"not asked {reason}")
    try:
        output = ask(machine, facts, row, peer).output
    except LabFailure as error:
        if is_lost(error):
            raise
        finding = of_error("warning", subject, error)
        message = f"could not be looked at: {row.what}: {finding.message}"
        return Answer(row, NOT_TOLD, failure=replace(finding, message=message))
    return Answer(row, AS_ASSUMED if re.search(row.expected, output, re.MULTILINE) else DIFFERS, output)


def _finding(subject: str, facts: Facts, answer: Answer) -> Finding:
    row = answer.assumption
    if answer.failure:
        return answer.failure
    if answer.verdict == NOT_ASKED:
        return Finding("note", subject, f"only a run shows: {row.what} ({row.source})", row.expected)
    if answer.verdict == AS_ASSUMED:
        return Finding("ok", subject, f"as assumed: {row.what}")
    tail = " / ".join(map(first_line, answer.output.splitlines()[-4:])) or "nothing"
    message = f"differs: {row.what}: it says {tail}; assumed is {row.expected} ({row.source})"
    remedy = f"it is {facts.os}; {row.breaks}. Please report it: `lab check --hardware --share FILE`"
    return Finding("warning", subject, message, remedy)
