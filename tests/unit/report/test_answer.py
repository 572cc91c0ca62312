"""The answer of a run in ten lines."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.rendered import COMPLETE, Like, answer_of, by_heading, lacking
from support.synthetic_frames import cases, noise, run
from support.synthetic_runs import make_trials, trial

from lab.report.analysis import Analysis
from lab.report.answer import HEADING, MOST_LINES, WIDTH, answer, points
from lab.report.answer_points import Point, held_back, what_matters
from lab.results import dataframe
from lab.results.run_folder import Trial
from lab.results.set_aside import ASIDE, FAILED

PLACEBOS = [f"p{number}" for number in range(40)]
SWEEPS: dict[str, list[Trial]] = {
    "full": make_trials(),
    "one case": make_trials(3, (1500,), ("default",), [("afp", "cp")]),
    "one protocol": make_trials(4, combinations=[("smb", "cp")]),
    "one block": make_trials(1),
    "one trial": [trial()],
    "all failed": [trial(status="failed", elapsed_s=None, client_cpu_s=None, server_cpu_s=None)],
    "all void": [trial(status="void", reason="cached")],
    "only the link": [trial(protocol="link", tool="iperf3")],
    "empty": [],
    "options": [
        trial(trial_id=f"{block}-{level}", case_id=level, block=block, options={"smb.signing": level}, protocol="smb")
        for block in (1, 2, 3)
        for level in ("default", "true")
    ],
    "no ceiling": [trial(ceiling_bytes_per_s=None)],
    "1,000 cases": [
        trial(trial_id=f"{mtu}{placebo}", case_id=f"{mtu}{placebo}", mtu=mtu, options={"placebo": placebo})
        for mtu in range(1000, 1025)
        for placebo in PLACEBOS
    ],
    "long names": [
        trial(trial_id=f"{block}-{letter}", case_id=letter, block=block, protocol=letter * 400, tool=letter * 400)
        for block in (1, 2, 3)
        for letter in "abc"
    ],
}  # fmt: skip

FEW = make_trials(combinations=[("afp", "cp")])


def made(of: pd.DataFrame, logs: np.ndarray[Any, Any]) -> dict[str, str]:
    trials = run(of, logs)
    trials.attrs["run"] = COMPLETE
    return by_heading(answer(with_verdicts(trials, pd.DataFrame()), "results/x"))


def with_verdicts(trials: pd.DataFrame, verdicts: pd.DataFrame) -> Analysis:
    """The analysis of trials, as if these had been their verdicts."""
    analysis = Analysis(trials)
    analysis.verdicts = verdicts
    return analysis


@pytest.mark.parametrize("sweep", SWEEPS)
def test_any_run_has_an_answer_of_ten_lines_that_fit_and_a_longer_one_on_a_narrow_screen(sweep: str) -> None:
    run = Analysis(dataframe.frame(SWEEPS[sweep], COMPLETE))
    whole = answer(run, "results/x")
    assert 3 <= len(whole) <= MOST_LINES
    assert whole[0].startswith("Fastest")
    assert {line[:HEADING].strip() for line in whole} >= {"What matters", "Trust", "Next"}
    first = ["".join(point.parts[0].split()) for point in points(run, "results/x")]
    for width in (0, 60, 75, 99, 200):
        lines = answer(run, "results/x", width)
        assert max(map(len, lines)) <= min(max(width, 60), WIDTH), width
        drawn = "".join("".join(line[HEADING:].split()) for line in lines)
        if width < WIDTH:
            assert [words for words in first if words not in drawn] == [], width
            assert len(lines) <= 20, width
        else:
            assert lines == whole


def test_a_winner_is_named_where_there_is_one() -> None:
    of = cases(protocol=["afp", "nfs", "smb"], mtu=[1500, 9000])
    faster = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.8])[:, None]
    text = made(of, noise(np.random.default_rng(1), of, 12) + faster)
    assert text["Fastest write"] == Like("SMB, MTU 9000: ...faster than the 5 others.")
    assert "protocol AFP → SMB: +" in text["What matters"]


def test_among_ties_no_winner_is_named_but_what_they_share() -> None:
    of = cases(protocol=["afp", "nfs"], tool=["cp", "rsync"], mtu=[1500, 9000])
    faster = 0.5 * (of["mtu"] == 9000).to_numpy()[:, None]
    text = made(of, noise(np.random.default_rng(4), of, 12) + faster)
    assert text["Fastest write"] == Like("too close to call between 4 of 8 cases, 1...MB/s; all of them have MTU 9000.")
    level = made(of, noise(np.random.default_rng(4), of, 12))
    assert level["Fastest write"].startswith("no case was shown to be faster than another: all 8 reached")
    three = cases(tool=["cp", "dd", "rsync"], mtu=[1500])
    few = made(three, np.random.default_rng(4).normal(4, 0.01, (3, 12)) - np.array([[0], [0], [1]]))["Fastest write"]
    assert few.startswith(tuple(f"too close to call between 2 of 3 cases: {tool} (" for tool in ("cp", "dd")))
    assert "rsync" not in few


def test_an_option_of_one_protocol_is_not_shared_by_cases_of_another() -> None:
    asked = [("smb", {"smb.signing": "default"}), ("smb", {"smb.signing": "true"}), ("nfs", {}), ("afp", {})]
    rng = np.random.default_rng(1)
    trials = [
        trial(
            trial_id=f"{block}-{number}", case_id=str(number), block=block, protocol=protocol, options=options,
            elapsed_s=float(rng.normal(5, 0.01)) * (2 if number in (0, 3) else 1),
        )
        for block in range(1, 9)
        for number, (protocol, options) in enumerate(asked)
    ]  # fmt: skip
    text = answer_of(trials)["Fastest write"]
    assert text.startswith("too close to call between 2 of 4 cases: ")
    assert lacking(text, "SMB, SMB signing true (", "NFS (", "all of them") == ["all of them"]


@pytest.mark.parametrize("blocks", [1, 2])
def test_too_few_blocks_name_nothing_and_say_how_to_measure_more(blocks: int) -> None:
    text = answer_of([copied for copied in FEW if copied.block <= blocks])
    assert text["Fastest"].startswith(f"no winner can be named from {blocks} block{'s' * (blocks > 1)} (at least 3")
    assert text["What matters"].startswith(f"too few blocks to tell ({blocks}); seen so far: ")
    assert text["Next"].startswith("measure more: set blocks = 6 in the sweep, then `lab run sweeps/demo.toml`")


def test_a_setting_that_was_not_shown_to_matter_is_said_to_be_so_with_what_could_have_been_seen() -> None:
    of = cases(protocol=["afp", "nfs"], mtu=[1500, 9000])
    faster = np.array([0.0, 0.0, 1.0, 1.0])[:, None]
    text = made(of, np.random.default_rng(5).normal(4, 0.03, (4, 6)) + faster)
    matters, not_shown = text["What matters"].split("; ", 1)
    assert matters.startswith("protocol AFP → NFS: +")
    assert not_shown == Like("MTU 1500 → 9000 not shown to matter (...it would show from ±...")
    step = "to see effects from some ±...set blocks = 12 in the sweep, then `lab run sweeps/demo.toml`..."
    assert text["Next"] == Like(step)
    row = {"factor": "mtu", "baseline": 1500, "level": 9000, "ratio": 0.94, "change_pct": -6.3, "established": False}
    row |= {"low_pct": -10.9, "high_pct": -1.6, "moderated_low_pct": -10.9, "moderated_high_pct": -1.6}
    (point,) = what_matters(pd.DataFrame([row]), 6)
    assert point.parts[0].endswith("MTU 1500 → 9000: -6.3 % (-11 to -1.6), perhaps by chance: it is one of many")


@pytest.mark.parametrize("faster", [1, -1, 0])
def test_where_the_largest_buffer_is_clearly_faster_a_larger_one_is_proposed(faster: int) -> None:
    of = cases(tcp_space=[65536, 524288], protocol=["afp", "nfs"])
    logs = np.random.default_rng(5).normal(4, 0.03, (4, 6)) + faster * np.array([[0.0], [0.0], [1.0], [1.0]])
    step = made(of, logs)["Next"]
    proposal = "add a TCP buffer above 512 KiB to the sweep (tcp_space), then `lab run "
    assert step.startswith(proposal) if faster == 1 else "TCP buffer above" not in step


@pytest.mark.parametrize("file", ["x; reboot", "$(reboot)", "`reboot`", "a\nb", "a" * 500])
def test_the_sweep_of_a_foreign_run_is_not_part_of_a_command(file: str) -> None:
    lines = answer(dataframe.frame([trial()], COMPLETE | {"sweep_file": file}), "results/x")
    assert "then `lab run SWEEP`" in " ".join(" ".join(lines).split())


def test_the_largest_effect_comes_first() -> None:
    of = cases(mtu=[1500, 9000], store=["ram", "disk"], tool=["cp", "rsync"])
    change = 0.3 * (of["mtu"] == 9000) - 0.6 * (of["store"] == "disk") + 0.1 * (of["tool"] == "rsync")
    text = made(of, np.random.default_rng(5).normal(4, 0.02, (8, 8)) + change.to_numpy()[:, None])["What matters"]
    assert text == Like("...store ram → disk: -4...MTU 1500 → 9000: +3...tool cp → rsync: +1...")


@pytest.mark.parametrize("changes", [{"finished_at": None}, {"ended": "interrupted"}])
def test_an_unfinished_run_is_gone_on_with_by_a_command_that_is_whole(changes: dict[str, Any]) -> None:
    step = answer_of([trial()], **changes)["Next"]
    assert step.startswith("the run is not complete; `lab run --resume results/x` goes on with it")
    run = Analysis(dataframe.frame([trial()], COMPLETE | changes))
    assert "`lab run --resume 'my runs/x'`" in " ".join(answer(run, "my runs/x"))
    path = f"/home/me/{'measurements/' * 6}20261122T203424Z-first"
    for width in (60, 80, 100):
        text = "".join(line[HEADING:] for line in answer(run, path, width)).replace(" ", "")
        assert f"`labrun--resume{path}`goesonwithit" in text, width


def test_where_many_trials_do_not_count_that_is_looked_at_first() -> None:
    lost = [trial(trial_id=f"v{n}", block=n, status="void", reason="cached") for n in range(4)]
    text = answer_of([*make_trials(3, combinations=[("smb", "cp")]), *lost])
    assert " void of 28 trials do not count" in text["Trust"]
    assert text["Next"].startswith("see why trials do not count: `lab show results/x --table lost`")
    endings = itertools.cycle([ASIDE, f"{ASIDE}-2", FAILED, f"{FAILED}-2"])
    repeated = [replace(void, trial_id=f"{void.trial_id}{end}") for void, end in zip(lost, endings, strict=False)]
    assert "do not count" not in answer_of([*make_trials(3, combinations=[("smb", "cp")]), *repeated])["Next"]
    assert answer_of(SWEEPS["all failed"])["Next"].startswith("see why no trial counts: ")
    assert answer_of(SWEEPS["all failed"])["Fastest"] == "no transfer was measured."


def test_a_command_is_whole_where_anything_else_can_be_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "some words of a statement that fills half a line or so"
    long = {heading: Point(heading, [words] * 5) for heading in ("Fastest write", "What matters", "Trust")}
    command = f"see why it is so: `lab show {'x ' * 45} --table lost`"
    monkeypatch.setattr("lab.report.answer.points", lambda *_: [*long.values(), Point("Next", [command, words])])
    monkeypatch.setattr("lab.report.answer.MOST_LINES", 7)
    text = by_heading(answer(pd.DataFrame()))
    assert text["Next"] == f"{command}."
    assert text["What matters"].count(words) > text["Fastest write"].count(words)


def test_verdicts_are_counted_with_their_grades_and_what_would_help() -> None:
    limits = ["link"] * 3 + ["protocol round trips"] * 2 + ["unclear"]
    grades = ["certain", "certain", "probable", "probable", "probable", "unclear"]
    verdicts = pd.DataFrame({"limited_by": limits, "grade": grades})
    helps = Like("there only a faster link...")
    waiting = "protocol round trips (waiting for replies) in 2 of 6 cases (probable)"
    (point,), (plain,), (only,) = map(held_back, (verdicts, verdicts.drop(columns="grade"), verdicts.iloc[:1]))
    first = "link in 3 of 6 cases (2 certain, 1 probable)"
    assert point.parts == [first, helps, waiting, "unclear in 1 of 6 cases"]
    assert plain.parts[:2] == ["link in 3 of 6 cases", helps]
    assert only.parts == ["link in the one case (certain)", helps]
    text = by_heading(answer(with_verdicts(dataframe.frame(FEW, COMPLETE), verdicts.iloc[:1]), "x"))["Held back by"]
    assert text.startswith("link in the one case (certain); there")


def test_trials_that_move_names_alone_are_no_copies_that_could_be_fastest() -> None:
    names = [
        trial(
            trial_id=f"n{block}-{protocol}", case_id=f"n-{protocol}", block=block, protocol=protocol, tool="metadata",
            workload="names of tree mail, stat", size_bytes=5000, files=500, elapsed_s=0.5,
        )
        for block in (1, 2, 3)
        for protocol in ("smb", "nfs")
    ]  # fmt: skip
    copies = [trial(trial_id=f"c{block}", case_id="c", block=block, workload="tree mail") for block in (1, 2, 3)]
    assert answer_of(names)["Fastest"].startswith("only names were moved: `lab show --table files`")
    assert "107.4 MB/s" in answer_of([*names, *copies])["Fastest write"]
