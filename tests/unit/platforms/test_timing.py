"""The stopwatch, run for real on this system as it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.stopwatch import counted, linux, run

from lab.platforms.timing import parse_timing


@linux
def test_it_times_counts_and_keeps_output_apart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("x")
    script = "echo out; echo err >&2; sleep 0.1"
    values, done = run(tmp_path, (), "lo", str(data), "sh", "-c", script)
    assert float(values["elapsed_s"]) >= 0.1
    assert (values["exit"], values["clock"], values["flushed"]) == ("0", "monotonic", "fsync")
    assert "flush_error" not in values
    before, after = counted(done, "before"), counted(done, "after")
    grown = after.since(before)
    assert min(grown.tx_bytes, grown.rx_bytes, grown.cpu_s or 0, grown.retransmits or 0) >= 0
    assert after.state["mtu"] == Path("/sys/class/net/lo/mtu").read_text().strip()
    assert len(before.state["tcp_rmem"].split()) == 3
    timing = parse_timing(values, 60, lambda when: counted(done, when))
    first, last = timing.readings
    assert last.at_s - first.at_s > 0.05
    assert timing.flush_s is not None
    assert 0 <= timing.flush_s <= timing.elapsed_s - 0.1
    assert len(last.cores) == os.cpu_count()
    assert any(process.name == "perl" for process in last.processes.values())
    assert done.stderr.splitlines() == ["out", "err"]
    assert "out" not in done.stdout.split()


@linux
def test_without_a_command_it_only_counts(tmp_path: Path) -> None:
    values, done = run(tmp_path, (), "lo", "")
    assert done.returncode == 0
    assert counted(done, "before").tx_bytes >= 0
    assert "after|" not in done.stdout
    assert values.keys().isdisjoint(("exit", "elapsed_s"))


@linux
@pytest.mark.parametrize(("script", "code"), [("exit 0", "0"), ("exit 7", "7"), ("kill -s TERM $$", "143")])
def test_exit_codes(tmp_path: Path, script: str, code: str) -> None:
    values, _ = run(tmp_path, (), "lo", "", "sh", "-c", script)
    assert (values["exit"], values["flushed"]) == (code, "none")
    assert "flush_s" not in values


@linux
def test_a_file_that_cannot_be_flushed_is_said(tmp_path: Path) -> None:
    values, _ = run(tmp_path, (), "lo", str(tmp_path / "missing"), "true")
    assert values["exit"] == "0"
    assert values["flush_error"].endswith("missing to flush it: No such file or directory")


@linux
def test_nothing_is_flushed_after_a_failure(tmp_path: Path) -> None:
    values, _ = run(tmp_path, (), "lo", str(tmp_path / "missing"), "false")
    assert (values["exit"], values["flushed"]) == ("1", "none")
    assert "flush_error" not in values


@linux
def test_an_unknown_interface_is_an_error(tmp_path: Path) -> None:
    _, done = run(tmp_path, (), "nosuch0", "", "touch", str(tmp_path / "ran"))
    assert done.returncode != 0
    assert "no interface nosuch0" in done.stderr
    assert not (tmp_path / "ran").exists()


@linux
def test_a_host_without_ss_is_timed_all_the_same(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "perl"):
        (programs / name).symlink_to(shutil.which(name) or f"/no/{name}")
    values, done = run(tmp_path, (), "lo", "", "sh", "-c", "echo out", path=str(programs))
    assert (values["exit"], done.stderr) == ("0", "out\n")
    reading = counted(done, "after").reading
    assert reading is not None
    assert reading.connections == ()
