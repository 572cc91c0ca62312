"""Findings of the check: their order, their one line, and what an error becomes."""

from collections.abc import Iterator

import pytest

from lab.base.errors import CommandError, HostError, HostKeyError, LabFailure, RestoreError
from lab.check.finding import MOST_NAMED, Finding, Level, examine, of_error, verdict, worst_first


def test_the_worst_comes_first_and_else_the_order_stays() -> None:
    levels: list[Level] = ["ok", "note", "problem", "warning"]
    findings = [Finding(level, str(number), "") for number, level in enumerate(levels * 2)]
    assert [finding.subject for finding in worst_first(findings)] == ["2", "6", "3", "7", "1", "5", "0", "4"]


@pytest.mark.parametrize(
    ("levels", "line"),
    [
        ([], "ready: nothing is in the way"),
        (["ok", "note"], "ready: nothing is in the way"),
        (["warning", "note"], "ready, but 1 warning: s0 (see above)"),
        (["problem", "warning", "warning", "ok"], "not ready: 1 problem: s0 (see above)"),
        (["warning"] * (MOST_NAMED + 2), "ready, but 7 warnings: s0, s1, s2, s3, s4 and 2 more (see above)"),
    ],
)
def test_the_last_line_says_yes_yes_but_or_no(levels: list[Level], line: str) -> None:
    assert verdict([Finding(level, f"s{number}", "") for number, level in enumerate(levels)]) == line


def test_a_subject_with_two_findings_is_named_once() -> None:
    problems = [Finding("problem", "nfs", "one"), Finding("problem", "nfs", "two"), Finding("problem", "smb", "")]
    assert verdict(problems) == "not ready: 3 problems: nfs, smb (see above)"


def test_what_a_host_says_is_one_line_that_no_terminal_obeys() -> None:
    finding = Finding("ok", "client", "one\x1b[31m\r\n  two\u202e\n\n", "three\x07\tfour")
    assert (finding.message, finding.remedy) == ("one\\x1b[31m / two\\u202e", "three\\x07 four")


@pytest.mark.parametrize(
    ("error", "message", "remedy"),
    [
        (HostKeyError("mac: unknown key: x", "Compare it", host="client"), "mac: unknown key: x", "Compare it"),
        (HostError("mac: no route", "Is it on, and so on?", host="client"), "mac: no route", "Is it on, and so on?"),
        (LabFailure("It has. Two sentences: and a colon"), "It has. Two sentences: and a colon", ""),
        (RestoreError(["client: MTU"]), "not everything could be put back", "`lab restore` tries again / client: MTU"),
        (CommandError("client", ("ip", "x"), 2, "a\nb. C\n"), "ip x: exit code 2: b. C", ""),
        (CommandError("client", ("/bin/sh", "-c", "long\nscript"), 1, ""), "a script of the lab's: exit code 1", ""),
        (ValueError("no number"), "what a command printed cannot be read: no number", ""),
    ],
)
def test_an_error_is_a_finding_of_what_is_wrong_and_what_to_do(error: Exception, message: str, remedy: str) -> None:
    finding = of_error("problem", "client", error)
    assert (finding.message[: len(message)], finding.remedy) == (message, remedy)


def test_a_look_that_fails_is_a_finding_and_a_lost_connection_is_not() -> None:
    def look(error: Exception) -> Iterator[Finding]:
        yield Finding("ok", "a", "before")
        raise error

    for error in (LabFailure("no"), CommandError("client", ("x",), 1, "no"), ValueError("no"), KeyError("no")):
        before, failed = examine("a", lambda error=error: look(error))  # type: ignore[misc]
        assert (before.level, failed.level, failed.subject) == ("ok", "warning", "a")
        assert failed.message.startswith("could not be looked at: ")
    with pytest.raises(HostError, match="gone"):
        list(examine("a", lambda: look(HostError("gone"))))
