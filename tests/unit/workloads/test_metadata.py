"""What is done with names alone: and found wrong where it went wrong."""

import functools
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import at_most
from support.fake_host import EmulatedHost
from support.host_scripts import run_script
from support.sweeps import cases_of

from lab import workloads
from lab.base.errors import BadInput, LabFailure, TransferError
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.hosts.command import run_perl
from lab.run.case.catalogue import CATALOGUE
from lab.run.transfer.proof import least_bytes
from lab.workloads import Move
from lab.workloads.metadata import DIRECTIONS, METADATA, parse_report

NAMES = "d a\nd a/b\nd empty\nf 5 a/b/one\nf 0 a/two\nf 70000 three\nf 1 a/ü\n"
MOVE = Move(source="", target="top", size_bytes=1)


def run(mode: str, phase: str, folder: Path) -> tuple[int, str, str]:
    names = "names" if mode != "check" else ""
    return run_script(run_perl(METADATA, mode, phase, "top", names), folder)


def check_names(folder: Path, phase: str) -> None:
    move = replace(MOVE, options={"phase": phase})
    workloads.tool("metadata").check_names(EmulatedHost(folder, {}, ("perl",)), NAMES, 4, move, "top")


def content(top: Path) -> dict[str, int | None]:
    return {str(path.relative_to(top)): path.stat().st_size if path.is_file() else None for path in top.rglob("*")}


FOLDERS: dict[str, int | None] = {"a": None, "a/b": None, "empty": None}
FILES: dict[str, int | None] = {"a/b/one": 5, "a/two": 0, "three": 70000, "a/ü": 1}
LEFT = {
    "create": FOLDERS | dict.fromkeys(FILES, 0), "stat": FOLDERS | FILES, "list": FOLDERS | FILES,
    "rename": FOLDERS | {"a/b/renamed-0": 5, "a/renamed-1": 0, "renamed-2": 70000, "a/renamed-3": 1},
    "delete": FOLDERS,
}  # fmt: skip


@pytest.mark.parametrize("phase", DIRECTIONS)
def test_a_phase_finds_what_was_laid_and_leaves_what_it_should(phase: str, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(NAMES)
    assert run("lay", phase, tmp_path) == (0, "", "")
    assert content(tmp_path / "top") == (FOLDERS if phase == "create" else FOLDERS | FILES)
    code, printed, errors = run("run", phase, tmp_path)
    assert code == 0, errors
    calls = parse_report(f"a warning\n{printed}another\n", phase)
    assert calls.requests == 4  # the top is a folder, too
    assert 0 < (calls.runtime_s or 0) < 5
    assert content(tmp_path / "top") == LEFT[phase]
    check_names(tmp_path, phase)


@pytest.fixture(scope="module")
def left_by(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where a phase has been run by a program."""

    @functools.cache
    def run_once(phase: str) -> Path:
        folder = tmp_path_factory.mktemp(phase)
        (folder / "names").write_text(NAMES)
        for mode in ("lay", "run"):
            assert run(mode, phase, folder)[0] == 0
        return folder

    return run_once


@pytest.mark.parametrize(("phase", "change", "why"), [
    ("create", "rm top/three", "something is missing"),
    ("create", "touch top/a/more", "a/more: should not be there"),
    ("create", "mv top/three top/four", "three: no file"),
    ("create", "echo x > top/three", "three: it has 2 bytes, not 0"),
    ("create", "rm top/three; ln -s names top/three", "three: no file"),
    ("create", "rm top/three; mkfifo top/three", "three: no file"),
    ("create", "rmdir top/empty; ln -s a top/empty", "empty: no folder"),
    ("rename", "mv top/renamed-2 top/three", "renamed-2: no file"),
    ("rename", ": > top/renamed-2", "renamed-2: it has 0 bytes, not 70000"),
    ("delete", "touch top/three", "three: should not be there"),
    ("delete", "rmdir top/empty", "something is missing"),
])  # fmt: skip
def test_what_a_phase_did_not_leave_is_found(
    left_by: Callable[[str], Path], phase: str, change: str, why: str, tmp_path: Path
) -> None:
    shutil.copytree(left_by(phase), tmp_path, dirs_exist_ok=True)
    subprocess.run(["sh", "-c", change], cwd=tmp_path, check=True)
    with pytest.raises(TransferError, match=f"client: top is not as the phase leaves it: {why}"):
        check_names(tmp_path, phase)


@pytest.mark.parametrize(("phase", "change", "why"), [
    ("create", "touch top/three", "top/three: File exists"),
    ("stat", "echo x > top/three", "top/three: it has 2 bytes, not 70000"),
    ("stat", "rm top/three", "top/three: No such file or directory"),
    ("list", "touch top/a/more", "top/a: other names came back"),
    ("list", "rm top/three", "top/: other names came back"),
    ("list", "rm -r top/empty", "top/empty: No such file or directory"),
    ("rename", "rm top/three", "top/three: No such file or directory"),
    ("delete", "rm top/three", "top/three: No such file or directory"),
])  # fmt: skip
def test_what_came_back_is_compared_and_a_refusal_is_told(phase: str, change: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(NAMES)
    assert run("lay", phase, tmp_path)[0] == 0
    subprocess.run(["sh", "-c", change], cwd=tmp_path, check=True)
    code, printed, errors = run("run", phase, tmp_path)
    assert (code != 0, printed, errors) == (True, "", f"{why}\n")


def test_a_tree_is_laid_nowhere_that_something_is_and_with_no_name_that_renaming_gives(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("f 1 a/renamed-7\n")
    code, _, errors = run("lay", "rename", tmp_path)
    assert (code != 0, errors) == (True, "a/renamed-7: a name that renaming gives\n")
    assert not (tmp_path / "top").exists()
    (tmp_path / "names").write_text("f 1 one\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "top").symlink_to("elsewhere")
    assert run("lay", "stat", tmp_path)[2] == "top: File exists\n"
    assert not list((tmp_path / "elsewhere").iterdir())


@given(count=st.integers(1, 1200))
@at_most(3)
def test_percentiles_bound_a_share_of_the_calls(count: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("many")
    (folder / "names").write_text("".join(f"f 0 {number}\n" for number in range(count)))
    _, (_, printed, _) = (run(mode, "stat", folder) for mode in ("lay", "run"))
    calls = parse_report(printed, "stat")
    assert calls.requests == count
    assert calls.iops == pytest.approx(count / (calls.runtime_s or 0), rel=1e-3)


REPORT = "metadata stat 4\nruntime_s 0.004000\nms 1.0 1.1 1.2 1.3 1.4\n"


def test_a_report_is_read_and_one_that_cannot_be_true_is_refused() -> None:
    calls = parse_report(REPORT, "stat")
    assert (calls.requests, calls.iops, calls.p50_ms, calls.longest_ms, calls.bytes) == (4, 1000.0, 1.0, 1.4, None)
    for original, lie in (
        ("stat 4", "stat 0"), ("s 0.004000", "s 0"), ("s 0.004000", "s 0.0001"), ("ms 1.0", "ms 2.0"),
        ("ms 1.0", "ms nan"), ("ms 1.0", "ms"), ("metadata stat", "metadata list"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"calls in|no times of stat|nan"):
            parse_report(REPORT.replace(original, lie), "stat")
    with pytest.raises(LabFailure, match="metadata: its report cannot be true: no times of create"):
        workloads.tool("metadata").read_report("", MOVE)


def test_the_time_of_a_trial_is_that_of_the_calls_alone_and_within_that_of_the_command() -> None:
    tool = workloads.tool("metadata")
    report = present(tool.read_report(REPORT.replace("stat", "list"), replace(MOVE, options={"phase": "list"})))
    assert present(report.requests).write is None  # names that are listed come from the server
    assert tool.elapsed_s(report, 0.1) == 0.004
    with pytest.raises(LabFailure, match=r"0\.004 s of calls in 0\.003 s"):
        tool.elapsed_s(report, 0.003)
    assert workloads.tool("cp").elapsed_s(report, 0.003) == 0.003


def sweep(workload: dict[str, Any] | None = None, **factors: Any) -> Sweep:
    tree = {"kind": "tree", "profile": "mail", "size": "1 MiB"} | (workload or {})
    content: dict[str, Any] = {"protocol": ["smb"], "tool": ["metadata"]} | factors
    return Sweep.model_validate({"name": "try", "workload": tree, "factors": content})


def test_each_phase_is_a_case_in_the_direction_of_its_names() -> None:
    made, left_out = cases_of(sweep(tool=["metadata", "cp"], metadata={"phase": list(DIRECTIONS)}))
    phases = {case.tool_options["phase"]: case for case in made if case.tool == "metadata"}
    assert {name: case.direction for name, case in phases.items()} == DIRECTIONS
    assert len(left_out) == len(DIRECTIONS)
    assert "metadata with direction write and phase list: its names go the other way, as direction read" in left_out
    case, (copied, _) = phases["stat"], [case for case in made if case.tool == "cp"]
    assert (case.workload, copied.workload) == ("names of tree mail, stat", "tree mail")
    assert (case.is_of_names, copied.is_of_names, copied.size_bytes) == (True, False, 1 << 20)
    assert case.files == copied.files > 1
    assert case.files <= case.size_bytes < 40 * case.files


def test_what_metadata_cannot_be_asked_for_is_left_out_with_the_reason() -> None:
    after_laying: dict[str, Any] = {"direction": ["read"], "store": ["disk"], "server_cache": ["cold"]}
    refused = [
        (sweep({"kind": "file", "profile": None}), 'metadata: it is of the names of many files: give kind = "tree"'),
        (sweep({"changed": 0.5}), "metadata with changed: names do not change"),
        (sweep({"size": None, "seconds": 3}), "metadata with seconds: names are no load of the link"),
        (sweep(direction=["read"]), "direction read and phase create: its names go the other way, as direction write"),
        (sweep(metadata={"phase": ["list"]}, **after_laying), "server_cache cold: the files were made right before"),
        (sweep(protocol=["ssh"]), "metadata needs a mounted share"),
    ]
    for asked, why in refused:
        with pytest.raises(BadInput, match="no case is left") as caught:
            cases_of(asked)
        assert why in str(caught.value)
    _, left_out = cases_of(sweep(client_sync=["close", "fsync"], direction=["write"]))
    assert left_out == ("metadata with client_sync fsync: it writes nothing that could be flushed",)


def test_each_name_and_what_its_protocol_sends_with_it_cross_and_count_in_a_plan() -> None:
    made, _ = cases_of(sweep(metadata={"phase": ["stat", "list"]}))
    by_way: dict[Direction, Case] = {case.direction: case for case in made}
    assert least_bytes(by_way[Direction.WRITE]) == by_way[Direction.WRITE].size_bytes + 120 * made[0].files
    assert least_bytes(by_way[Direction.READ]) == by_way[Direction.READ].size_bytes
    names, copies = (plan(sweep(tool=[tool], direction=["write"]), CATALOGUE) for tool in ("metadata", "cp"))
    assert names.bytes_moved == len(names.slots) * names.cases[0].size_bytes
    assert copies.bytes_moved == len(copies.slots) << 20
    assert names.estimated_s > copies.estimated_s
