"""A survey on the screen, as a page, as a post and as JSON: they say the same, at any width, whatever a host said."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from lab.design.factors import Direction
from lab.fidelity import page
from lab.fidelity.copiers import POST_LINE, THERE, UNKNOWN, Engine
from lab.fidelity.copies import Copy, Ends, Judgement, Place, Verdict, View
from lab.fidelity.page import MARKS, answer_lines, columns_of, engine_lines, legend_lines, matrix_lines
from lab.fidelity.probes import LINUX, MACOS, known_to, laid_on
from lab.fidelity.survey import Survey
from lab.results.public import masker_of
from lab.results.run_folder import RunFolder
from lab.results.run_names import nothing_measured

ALL, PROBES = laid_on(LINUX), known_to([LINUX])
HOSTILE = "<script>alert(1)</script>\x1b[31m | `x`"


def judgements(start: int) -> dict[str, Judgement]:
    verdicts = itertools.islice(itertools.cycle(Verdict), start, None)
    return {probe.name: Judgement(verdict, HOSTILE) for probe, verdict in zip(ALL, verdicts, strict=False)}


def all_with(verdict: Verdict) -> dict[str, Judgement]:
    return {probe.name: Judgement(verdict) for probe in ALL}


def copy(number: int = 0, **views: dict[str, Judgement]) -> Copy:
    place = Place("smb", "ram", {"smb.time_machine": "false"} if number % 2 else {})
    looked_at = {View[name]: of_view for name, of_view in views.items()} or {View.STORE: judgements(number)}
    ends = Ends("gvfs", "SMB 3.1.1", "ext2/ext3", "tmpfs")
    return Copy(place, ends, Direction.WRITE, "cp-a", "cp -a", looked_at, {"._": 3})


def survey(copies: int) -> Survey:
    engine = Engine("client", f"/opt/{HOSTILE}/rsync", HOSTILE, {"A": THERE, "N": UNKNOWN})
    return Survey([engine], [f"AFP: {HOSTILE}"], [copy(number) for number in range(copies)], [])


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("copies", [1, 3, 5])
def test_the_matrix_fits_the_width_and_has_every_mark_once(width: int, copies: int) -> None:
    lines = list(matrix_lines(survey(copies).copies, width))
    assert max(map(len, lines)) <= width
    marks = sum(line.split()[1:].count(mark) for line in lines for mark in MARKS.values() if not line.endswith(":"))
    assert marks == len(PROBES) * copies


def test_the_legend_says_what_each_column_is_and_what_was_left_behind() -> None:
    first, second = legend_lines(survey(2).copies)
    assert first.startswith("   1  13 kept, ")
    ends = "SMB 3.1.1, mounted by gvfs; client's ext2/ext3, server's tmpfs"
    assert first.endswith(f": SMB ram cp-a write ({ends}), left behind: 3 ._*")
    assert second.startswith("   2  12 kept, ")
    assert ": SMB ram smb.time_machine=false cp-a write (" in second


def test_copies_that_went_alike_share_a_column() -> None:
    copies = [copy(0), copy(1), copy(6)]  # the third has the verdicts of the first
    assert columns_of(copies) == [(copies[0], copies[2]), (copies[1],)]
    first, _ = legend_lines(copies)
    assert first.count("cp-a write (") == 2
    assert len(next(matrix_lines(copies, 80)).split()) == 2


def test_the_answer_names_who_kept_the_most_and_what_nobody_kept() -> None:
    kept, lost = all_with(Verdict.KEPT), all_with(Verdict.LOST)
    some = kept | {"birth": Judgement(Verdict.LOST), "owner": Judgement(Verdict.LOST)}
    best, worst = copy(STORE=some), replace(copy(STORE=lost), tool="cp")
    most, never = answer_lines([worst, best])
    assert most == f"SMB write: cp-a kept the most, {len(PROBES) - 2} of {len(PROBES)} probes; the worst copy kept 0"
    assert never == "kept by no copy: owner, birth"
    for could_not in ({}, {"birth": Judgement(Verdict.IMPOSSIBLE)}):
        assert len(list(answer_lines([copy(STORE=kept | could_not)]))) == 1


def test_what_could_not_be_looked_at_is_no_loss_and_is_told_with_its_reason() -> None:
    unseen = copy(STORE=all_with(Verdict.KEPT) | {"name-bar": Judgement(Verdict.UNSEEN, "opendir … failed")})
    assert unseen.is_whole
    line = "could not be looked at: SMB ram cp-a write name-bar: opendir … failed"
    assert list(answer_lines([unseen]))[1:] == [line]
    assert list(answer_lines([unseen] * 7))[1:] == [line] * 5 + ["could not be looked at: 2 more, which the page has"]


def test_what_the_client_finds_when_it_comes_again_decides() -> None:
    kept, lost = all_with(Verdict.KEPT), all_with(Verdict.LOST)
    cached, mapped = copy(MOUNT=kept, STORE=lost, REMOUNT=lost), copy(MOUNT=kept, STORE=lost, REMOUNT=kept)
    assert cached.judgement(PROBES[0]) == Judgement(Verdict.LOST, "kept through the mount")
    assert mapped.judgement(PROBES[0]) == Judgement(Verdict.KEPT, "lost on the store")
    (holes,) = (probe for probe in PROBES if probe.by_store)
    assert cached.judgement(holes).verdict is mapped.judgement(holes).verdict is Verdict.LOST


def test_whole_is_what_kept_all_that_the_source_had() -> None:
    could = all_with(Verdict.KEPT) | {"birth": Judgement(Verdict.IMPOSSIBLE)}
    assert copy(STORE=could).is_whole
    for verdict in (Verdict.LOST, Verdict.CHANGED, Verdict.REFUSED):
        assert not copy(STORE=could | {"data": Judgement(verdict)}).is_whole


def test_page_and_post_have_the_matrix_and_nothing_raw(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "fidelity", {"title": HOSTILE})
    path = page.write(folder, survey(3), masker_of(folder, page.texts_of(survey(3))))
    html, post = path.read_text(), path.with_name("fidelity.md").read_text()
    for text in (html, post):
        assert text.count("<script>") == (text is html)  # that of every page, by its hash
        assert "\x1b" not in text
        assert all(probe.name in text.replace("\\", "") for probe in PROBES)
    assert "default-src 'none'" in html


def test_names_are_in_neither_unless_asked_for(tmp_path: Path) -> None:
    known = {"host": ["nas-of-ann"], "user": ["ann"], "share": ["Holidays"]}
    folder = RunFolder.create(tmp_path, "fidelity", {"title": "between nas-of-ann and 192.168.77.3", "names": known})
    refused = Judgement(Verdict.REFUSED, "cp: /Volumes/Holidays/x: Permission denied for ann on nas-of-ann.local")
    engine = Engine("client", "/Users/ann/bin/rsync", "3.4.1 by ann@example.org", {"N": "not on nas-of-ann"})
    ends = Ends("gvfs", "SMB 3.1.1 of 192.168.77.3", "ext4", "tmpfs")
    of_ann = replace(copy(STORE={probe.name: refused for probe in ALL}), ends=ends, command="cp /home/ann/x")
    left_out, failure = "AFP: nas-of-ann has none: smb://ann:hunter2@nas-of-ann", "192.168.77.3 is gone: pw: hunter2"
    surveyed = Survey([engine], [left_out], [of_ann], [failure])
    path = page.write(folder, surveyed, masker_of(folder, page.texts_of(surveyed)))
    names = ("nas-of-ann", "/ann", "ann@", "holidays", "192.168.77.3", "hunter2")
    for text in (path.read_text(), path.with_name("fidelity.md").read_text()):
        assert not [name for name in names if name in text.replace("\\", "").casefold()]
        assert all(part in text for part in ("Alike everywhere, for others to read it: ", "Permission denied for"))
    whole = page.write(folder, surveyed, None).read_text()
    assert all(name in whole for name in ("nas-of-ann", "/Users/ann/bin", "Holidays", "192.168.77.3"))
    assert "Alike everywhere" not in whole


def test_what_reads_trials_says_where_the_page_is(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, "fidelity", {})
    survey(1).keep(folder)
    refusal = nothing_measured(folder)
    assert "is of `lab fidelity`, which times nothing" in refusal.message
    assert refusal.remedy == f"{folder.report_path}/fidelity.html has what it found"


def test_json_has_every_verdict_of_every_view_and_engines_answer_the_line_of_2015() -> None:
    content = json.loads(json.dumps(survey(1).to_json()))
    (copied,) = content["copies"]
    assert (copied["protocol"], copied["tool"], copied["direction"]) == ("smb", "cp-a", "write")
    assert set(copied["results"]) == {probe.name for probe in PROBES}
    assert copied["results"]["data"]["views"] == {"on the store": copied["results"]["data"]["verdict"]}
    assert content["engines"][0]["post_line"].startswith("refuses it")
    heading, answer = engine_lines(survey(1).engines)
    assert POST_LINE in heading
    assert ("refuses it: -N (no such option)" in answer, answer.isprintable()) == (True, True)


def test_a_view_of_another_platform_judges_only_what_that_can_tell() -> None:
    kept = {probe.name: Judgement(Verdict.KEPT) for probe in laid_on(MACOS)}
    lost = {probe.name: Judgement(Verdict.LOST) for probe in laid_on(MACOS) if probe.is_alike}
    both = replace(copy(0, STORE=lost, REMOUNT=kept), platforms=(MACOS, LINUX))
    probes = {probe.name: probe for probe in both.probes}
    assert both.judgement(probes["mode-private"]) == Judgement(Verdict.KEPT, "lost on the store")
    assert both.judgement(probes["resource-fork"]) == Judgement(Verdict.KEPT)
    assert both.judgement(probes["capability"]) == Judgement(Verdict.IMPOSSIBLE, "macos has no such attribute")
    assert both.judgement(probes["holes"]).verdict is Verdict.LOST  # which only the store tells
    over_ssh = replace(copy(0, STORE=lost), platforms=(MACOS, LINUX))
    assert over_ssh.judgement(probes["xattr-small"]) == Judgement(Verdict.IMPOSSIBLE, "linux cannot tell")


def test_a_matrix_has_the_rows_of_the_platforms_that_copies_went_between() -> None:
    copies = [replace(copy(), platforms=(source, LINUX)) for source in (LINUX, MACOS)]
    linux, both = ({line.split()[0] for line in matrix_lines([copied], 80)} for copied in copies)
    assert both - linux >= {"resource-fork", "acl-mac-user", "flag-hidden", "quarantine"}
