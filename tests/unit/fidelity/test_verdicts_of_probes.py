"""Verdicts: kept, changed, lost, refused, impossible; and that no reading of a host is an error of the lab's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.base.untrusted import one_line
from lab.fidelity.copies import Judge, Judgement, Reading, Verdict
from lab.fidelity.probed_host import split_lines
from lab.fidelity.probes import ALL, PROBES, Probe

MISSING, NONE = Reading("missing"), Reading("none")
MODE_FAILS = "cp: preserving permissions for '…/name-trailing-dot/end.': Operation not supported"
SENDER_FAILS = 'rsync: [sender] opendir "/a/p-0/name-bar" failed: Too many levels of symbolic links (40)'
SUMMARY = "rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1358)"
CREATE_FAILS = "cp: cannot create regular file '…/name-case/name': File exists"


def judge(
    name: str,
    source: Reading,
    target: Reading,
    plain: Reading | None = None,
    failure: str = "",
    refused: str = "",
    unread: str = "",
) -> Judgement:
    failures, refusals, unread_by = ({name: text} if text else {} for text in (failure, refused, unread))
    (probe,) = (probe for probe in ALL if probe.name == name)
    return Judge({name: source}, refusals, failures, unread_by).judge(probe, target, plain)


def value(text: str) -> Reading:
    return Reading("value", text)


@pytest.mark.parametrize(
    ("name", "source", "target", "plain", "failure", "verdict"),
    [
        ("data", value("a"), value("a"), None, "", Verdict.KEPT),
        ("data", value("a"), value("b"), None, "", Verdict.CHANGED),
        ("data", value("a"), MISSING, None, "", Verdict.LOST),
        ("owner", value("1"), value("1"), None, "cp: failed to preserve ownership", Verdict.KEPT),
        ("fifo", value("fifo"), MISSING, None, "cp: cannot create fifo 'x': Operation not permitted", Verdict.REFUSED),
        ("xattr-small", value("16 bytes"), NONE, NONE, "", Verdict.LOST),
        ("xattr-small", value("16 bytes"), NONE, NONE, "rsync_xal_set: lsetxattr failed", Verdict.REFUSED),
        ("xattr-small", NONE, NONE, NONE, "", Verdict.IMPOSSIBLE),
        ("setuid", value("4755"), value("0644"), value("0644"), "", Verdict.LOST),
        ("setuid", value("4755"), value("0755"), value("0644"), "", Verdict.CHANGED),
        ("mtime-nanoseconds", value("1000000000.123456789"), value("1000000000.000000000"), None, "", Verdict.CHANGED),
        ("mtime-seconds", value("1000000000.000000000"), value("1795600000.000000000"), None, "", Verdict.LOST),
        ("name-nfc", value('["caf\\u00e9"]'), value('["cafe\\u0301"]'), None, "", Verdict.CHANGED),
        ("name-case", value('["NAME", "name"]'), value('["NAME"]'), None, "", Verdict.LOST),
        ("name-case", value('["NAME", "name"]'), value('["NAME"]'), None, CREATE_FAILS, Verdict.REFUSED),
        ("name-trailing-dot", value('["end."]'), value('["EH03FO~2"]'), None, MODE_FAILS, Verdict.CHANGED),
        ("name-not-utf8", value('["latin-1 \\udce9"]'), value('["latin-1 \\ufffd"]'), None, "", Verdict.CHANGED),
    ],
)
def test_a_verdict_follows_from_what_was_read(
    name: str, source: Reading, target: Reading, plain: Reading | None, failure: str, verdict: Verdict
) -> None:
    assert judge(name, source, target, plain, failure).verdict is verdict


@pytest.mark.parametrize(
    ("name", "target", "plain", "unread", "how"),
    [
        ("name-bar", MISSING, None, SENDER_FAILS, SENDER_FAILS),
        ("data", Reading("error", "Stale file handle"), None, "", "Stale file handle"),
        ("setuid", value("0644"), Reading("error", "Input/output error"), "", "Input/output error"),
        ("xattr-small", NONE, NONE, "cp: getting attribute 'user.a' of '…': Stale file handle", None),
    ],
)
def test_an_error_of_the_end_that_is_read_is_no_verdict_about_the_share(
    name: str, target: Reading, plain: Reading | None, unread: str, how: str | None
) -> None:
    told = judge(name, value("a"), target, plain, unread=unread)
    assert told == Judgement(Verdict.UNSEEN, unread if how is None else how)


def test_what_the_written_end_refused_stays_refused_and_what_arrived_is_kept() -> None:
    assert judge("data", value("a"), MISSING, failure=CREATE_FAILS, unread=SENDER_FAILS).verdict is Verdict.REFUSED
    assert judge("data", value("a"), value("a"), unread=SENDER_FAILS) == Judgement(Verdict.KEPT)
    assert judge("setuid", value("4755"), value("0644"), value("0644"), unread=SENDER_FAILS).verdict is Verdict.LOST


def test_a_source_that_cannot_be_read_says_nothing_of_the_share() -> None:
    assert judge("data", Reading("error", "Input/output error"), MISSING).verdict is Verdict.UNSEEN


@pytest.mark.parametrize(
    ("message", "unread", "others"),
    [
        (f"{SENDER_FAILS}\n{SUMMARY}", SENDER_FAILS, ""),
        (SUMMARY, "", SUMMARY),
        ("cp: cannot open '/a/p-0/data/object' for reading: Input/output error", True, ""),
        ("cp: cannot create regular file '/mnt/cp-0/data/object': File exists", "", True),
        ("cp: '/a/p-0/data' and '/mnt/cp-0/data' are the same", "", True),
        ("cp: getting attribute 'user.x' of '/a/p-0/x': Operation not supported", "", True),
        ("ssh: connect to host nas port 22: Connection refused", True, ""),
        ("not tried: copies before it did not end", True, ""),
        ("did not end within 20 s", "", True),
    ],
)
def test_what_a_tool_says_of_the_end_that_it_reads_is_told_apart(
    message: str, unread: str | bool, others: str | bool
) -> None:
    expected = tuple(message if part is True else part for part in (unread, others))
    for source, target in (("/a/p-0", "/mnt/cp-0"), ("me@nas:/a/p-0", "me@nas:/mnt/cp-0")):
        assert split_lines(message, source, target) == expected


def test_an_error_about_another_attribute_refuses_nothing() -> None:
    """cp -a may say of every file that it cannot set the owner; what else is lost there is lost without a word."""
    failure = "cp: failed to preserve ownership for '/mnt/x': Operation not permitted"
    assert judge("xattr-small", value("16 bytes"), NONE, NONE, failure).verdict is Verdict.LOST
    owner = judge("owner", value("54321"), value("0"), value("0"), failure)
    assert owner == Judgement(Verdict.REFUSED, failure)


def test_a_file_that_did_not_come_is_explained_by_what_was_said_of_it_and_not_of_its_folder() -> None:
    of_folder = 'rsync: [generator] failed to set permissions on "…/data": Operation not supported (95)'
    of_file = 'rsync: [receiver] mkstemp "…/data/.object.tmAHu9" failed: Operation not supported (95)'
    assert judge("data", value("a"), MISSING, None, f"{of_folder}\n{of_file}").how == of_file


def test_the_reason_is_the_sources_refusal_or_both_readings_with_escapes() -> None:
    (probe,) = (probe for probe in ALL if probe.name == "xattr-64k")
    refused = Judge({probe.name: NONE}, {probe.name: "No space left on device"}, {}).judge(probe, MISSING, None)
    assert refused == Judgement(Verdict.IMPOSSIBLE, "No space left on device")
    changed = judge("name-nfc", value('["caf\\u00e9"]'), value('["cafe\\u0301"]'))
    assert changed.how == "caf\\xe9 → cafe\\u0301"


@given(st.sampled_from(PROBES), st.lists(st.text(), min_size=6, max_size=6))
def test_any_reading_gets_a_verdict_that_can_be_shown(chosen: Probe, texts: list[str]) -> None:
    source, target, plain = (Reading(*texts[start : start + 2]) for start in (0, 2, 4))
    failing = Judge({chosen.name: Reading("value", source.text)}, {}, {chosen.name: target.text})
    judgement = failing.judge(chosen, target, plain)
    assert one_line(judgement.how) == judgement.how
    assert judge(chosen.name, source, target, plain).verdict in Verdict


@pytest.mark.parametrize("answer", [None, [], ["value"], ["value", 3], "value", {"value": ""}])
def test_what_is_no_reading_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match="is no reading"):
        Reading.of(answer)
