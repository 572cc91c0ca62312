"""`lab list` on terminals of any width."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import Lab
from support.planted import EVIL, assert_plain
from support.synthetic_runs import make_trials, write_run

from lab.cli.list_runs import lines_of
from lab.results.run_list import ListedRun, list_runs

SWEEP = "a-sweep-with-a-name-of-some-length"
RUN = ListedRun(
    path=f"results/20300101T000000Z-{SWEEP}", sweep=SWEEP, started_at="2030-01-01T00:00:00+00:00", ended="complete",
    hosts={"client": "macbook-of-somebody", "server": "nas-in-the-cellar"},
    trials={"ok": 1234, "void": 12, "failed": 7}, fastest={"write": 1107.4, "read": 1113.2},
)  # fmt: skip
PROBLEM = "run.json: cannot be read: " + "x " * 80
BROKEN = ListedRun(path="results/20300102T000000Z-broken", sweep="broken", problem=PROBLEM)
UNFINISHED = replace(RUN, path="results/20300103T000000Z-c", fastest={}, trials={}, ended="failed: server: no iperf3")


def test_runs_are_listed_newest_first_as_they_can_be_named(lab: Lab) -> None:
    for name in ("demo", "macs"):
        write_run(Path("other"), make_trials(2), ended="complete").path.rename(f"other/{name}")
    code, out, err = lab("list", "--results", "other")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert second.startswith("-2  demo  ")
    hosts = r"synthetic-client, synthetic-server \(local lab\)"
    speeds = r"at most write \d+\.\d, read \d+\.\d MB/s"
    assert re.fullmatch(rf"-1  macs  \d+ ok, \d+ void, \d+ failed  {hosts}  {speeds}", first)
    assert lab("show", "-2", "--results", "other") == lab("show", "demo", "--results", "other")


def test_a_run_that_failed_before_its_first_transfer_is_listed_only_if_asked_for(lab: Lab) -> None:
    failed: dict[str, Any] = {"ended": "failed: no such share", "failed": True}
    names: dict[str, dict[str, Any]] = {"a": {"ended": "complete"}, "b": failed, "c": {"ended": "interrupted"}}
    for name, run in names.items():
        trials = make_trials(2) if name == "a" else []
        write_run(Path("other"), trials, **run).path.rename(f"results-{name}")
    Path("results").mkdir()
    for name in names:
        Path(f"results-{name}").rename(f"results/{name}")
    code, out, err = lab("list")
    assert (code, [line[:5] for line in out.splitlines()]) == (0, ["-1  c", "-3  a"])
    assert err == "1 more failed before the first transfer: `lab list --all` shows it\n"
    assert len(json.loads(lab("list", "--json")[1])) == 2
    code, out, err = lab("list", "--all")
    assert (code, [line[:5] for line in out.splitlines()], err) == (0, ["-1  c", "-2  b", "-3  a"], "")
    assert "failed: no such share" in out


def test_a_list_may_be_empty_is_json_for_programs_and_says_what_cannot_be_read(lab: Lab) -> None:
    assert lab("list") == (0, "", "results: holds no run; `lab run SWEEP` makes one\n")
    assert lab("list", "--json")[:2] == (0, "[]\n")
    folder = write_run(Path("results"), make_trials(2))
    (listed,) = json.loads(lab("list", "--json")[1])
    assert [ListedRun(**listed)] == list(list_runs(Path("results")))
    (folder.path / "run.json").write_text("{")
    code, out, err = lab("list")
    assert (code, err) == (0, "")
    assert out.startswith(f"-1  {folder.path.name}\n    cannot be read: run.json: ")


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_text_is_lost_at_any_width(width: int) -> None:
    lines = list(lines_of({1: RUN, 2: BROKEN, 3: UNFINISHED}, width))
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= width
    for listed in (RUN, BROKEN, UNFINISHED):
        assert any(re.match(rf"-\d  {Path(listed.path).name}( |$)", line) for line in lines)
    speeds, problem = "at most write 1107.4, read 1113.2 MB/s", PROBLEM.strip()
    for part in ("1234 ok, 12 void, 7 failed", "macbook-of-somebody, nas-in-the-cellar", speeds, "no trial", problem,
                 "failed: server: no iperf3"):  # fmt: skip
        assert part in text
    assert (len(list(lines_of({1: RUN}, width))) == 1) == (width == 200)
    # an end before the last trial stands beside the speeds
    (line,) = lines_of({1: replace(RUN, ended="interrupted", is_whole=False)}, 300)
    assert line.endswith("MB/s; interrupted")
    assert "7 failed and more" in line


def test_names_that_others_chose_do_nothing_to_the_terminal(lab: Lab) -> None:
    folder = write_run(Path("results"), [], ended=EVIL, hosts={EVIL: {"hostname": EVIL}, "server": {"hostname": EVIL}})
    path = folder.path.rename(Path("results") / EVIL.replace("/", "")[:80])
    assert_plain(lab("list")[1])
    (path / "run.json").write_text(EVIL)
    assert_plain(lab("list")[1])
