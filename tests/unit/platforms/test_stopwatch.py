"""The stopwatch, run for real on this system and in the shape that it takes on a Mac; counts before and after."""

import errno
import os
import shutil
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from support.fake_host import FakeHost
from support.parsers import tagged
from support.paths import MACOS_CAPTURES
from support.stopwatch import ON_A_MAC, REPORT, WITHOUT_CLOCK, counted, emulate_netstat, linux, run, run_on_a_mac

from lab.base.errors import LabFailure, TransferError
from lab.base.present import present
from lab.platforms import Counters
from lab.platforms.macos import clock
from lab.platforms.macos.platform import MacOS
from lab.platforms.timing import Moved, parse_timing


@linux
def test_it_times_counts_and_keeps_output_apart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("x")
    script = "echo out; echo err >&2; sleep 0.1"
    values, process = run(tmp_path, (), "lo", str(data), "sh", "-c", script)
    assert float(values["elapsed_s"]) >= 0.1
    assert (values["exit"], values["clock"], values["flushed"]) == ("0", "monotonic", "fsync")
    assert "flush_error" not in values
    before, after = counted(process, "before"), counted(process, "after")
    grown = after.since(before)
    assert min(grown.tx_bytes, grown.rx_bytes, grown.cpu_s or 0, grown.retransmits or 0) >= 0
    assert after.state["mtu"] == Path("/sys/class/net/lo/mtu").read_text().strip()
    assert len(before.state["tcp_rmem"].split()) == 3
    timing = parse_timing(values, 60, lambda when: counted(process, when))
    first, last = timing.readings
    assert last.at_s - first.at_s > 0.05
    assert timing.flush_s is not None
    assert 0 <= timing.flush_s <= timing.elapsed_s - 0.1
    assert len(last.cores) == os.cpu_count()
    assert any(process.name == "perl" for process in last.processes.values())
    assert process.stderr.splitlines() == ["out", "err"]
    assert "out" not in process.stdout.split()


@linux
def test_without_a_command_it_only_counts_and_of_an_unknown_interface_nothing(tmp_path: Path) -> None:
    values, process = run(tmp_path, (), "lo", "")
    assert process.returncode == 0
    assert counted(process, "before").tx_bytes >= 0
    assert "after|" not in process.stdout
    assert values.keys().isdisjoint(("exit", "elapsed_s"))
    _, process = run(tmp_path, (), "nosuch0", "", "touch", str(tmp_path / "ran"))
    assert process.returncode != 0
    assert "no interface nosuch0" in process.stderr
    assert not (tmp_path / "ran").exists()


@linux
def test_exit_codes_and_a_file_that_cannot_be_flushed_are_told_and_after_a_failure_nothing_is(tmp_path: Path) -> None:
    for script, code in {"exit 0": "0", "exit 7": "7", "kill -s TERM $$": "143"}.items():
        values, _ = run(tmp_path, (), "lo", "", "sh", "-c", script)
        assert (values["exit"], values["flushed"], "flush_s" in values) == (code, "none", False)
    values, _ = run(tmp_path, (), "lo", str(tmp_path / "missing"), "true")
    assert values["exit"] == "0"
    assert values["flush_error"].endswith("missing to flush it: No such file or directory")
    values, _ = run(tmp_path, (), "lo", str(tmp_path / "missing"), "false")
    assert (values["exit"], values["flushed"], "flush_error" in values) == ("1", "none", False)


@linux
def test_a_host_without_ss_is_timed_all_the_same(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "perl"):
        (programs / name).symlink_to(shutil.which(name) or f"/no/{name}")
    values, process = run(tmp_path, (), "lo", "", "sh", "-c", "echo out", path=str(programs))
    assert (values["exit"], process.stderr) == ("0", "out\n")
    assert present(counted(process, "after").reading).connections == ()


@pytest.mark.parametrize(
    ("name", "interface", "received", "sent", "mtu"),
    [
        ("netstat-en0.txt", "en0", "27949362788", "29723901148", "1500"),
        ("netstat-lo0-short-names.txt", "lo0", "601295906", "601295906", "16384"),
    ],
)
def test_a_mac_reads_netstat(tmp_path: Path, name: str, interface: str, received: str, sent: str, mtu: str) -> None:
    emulate_netstat(tmp_path, name)
    values, process = run_on_a_mac(tmp_path, interface, "", "sh", "-c", "echo out; sleep 0.1")
    assert process.stderr == "out\n"
    clock = MacOS(FakeHost()).clock
    before, after = (clock.pick_counters(process.stdout, interface, when) for when in ("before", "after"))
    for counters in (before, after):
        assert (counters.tx_bytes, counters.rx_bytes) == (int(sent), int(received))
        assert counters.others == {}
        assert counters.state == {"mtu": mtu, "sendspace": "131072", "recvspace": "131072"}
    assert present(after.reading).at_s - present(before.reading).at_s >= 0.1
    calls = (tmp_path / "calls").read_text().splitlines()
    asked = ["sysctl net.inet.tcp.sendspace net.inet.tcp.recvspace", "netstat -i -b -n", "vm_stat "]
    asked.append(f"netstat -I {interface} -b -n")
    assert calls == [*asked, *reversed(asked)]  # the bytes of the interface stand next to the transfer
    assert float(values["elapsed_s"]) >= 0.1


def test_an_old_perl_has_only_the_wall_clock_and_processor_time_is_told_with_children(tmp_path: Path) -> None:
    emulate_netstat(tmp_path, "netstat-en0.txt")
    busy = "perl -e '1 while (times)[0] < 0.1'; :"
    values, _ = run_on_a_mac(tmp_path, "en0", "", "sh", "-c", busy)
    assert 0.1 <= float(values["tool_cpu_s"]) < 2
    values, _ = run_on_a_mac(tmp_path, "en0", "", "sleep", "0.1")
    assert float(values["tool_cpu_s"]) < 0.05
    emulate_netstat(tmp_path, "netstat-en0.txt")
    values, _ = run(tmp_path, ("-e", WITHOUT_CLOCK + ON_A_MAC), "en0", "", "sleep", "0.1")
    assert (values["clock"], "elapsed_s" in values) == ("wall", True)


def test_on_a_mac_fsync_is_used_where_a_file_system_has_no_fullfsync(tmp_path: Path) -> None:
    """This system has no F_FULLFSYNC, so it refuses it just as such a file system does."""
    emulate_netstat(tmp_path, "netstat-en0.txt")
    values, _ = run_on_a_mac(tmp_path, "en0", str(MACOS_CAPTURES / "netstat-en0.txt"), "true")
    assert (values["flushed"], values["flush_reason"]) == ("fsync", f"F_FULLFSYNC: {os.strerror(errno.EINVAL)}")
    values, _ = run_on_a_mac(tmp_path, "en0", str(tmp_path / "missing"), "true")
    assert "missing" in values["flush_error"]


@linux
@pytest.mark.parametrize(
    ("runs", "sent", "flushed", "reason"),
    [
        (False, "FLUSH\n", "fsync", f"F_FULLFSYNC: {os.strerror(errno.EOPNOTSUPP)}"),
        (True, "nothing sent\n", "none", f"it cannot be opened for writing: {os.strerror(errno.ETXTBSY)}"),
    ],
)
def test_on_a_mac_a_file_is_opened_for_writing_to_be_flushed_and_else_nothing_is_claimed(
    tmp_path: Path, runs: bool, sent: str, flushed: str, reason: str
) -> None:
    """A program that runs cannot be opened for writing, not even by root."""
    emulate_netstat(tmp_path, "netstat-en0.txt")
    target = Path(shutil.copy(present(shutil.which("sleep")), tmp_path))
    content = target.read_bytes()
    with subprocess.Popen([target, "60"]) if runs else nullcontext() as program:
        values, process = run_on_a_mac(tmp_path, "en0", str(target), "true", smbfs=True)
        if program:
            program.kill()
    assert (values["flushed"], values["flush_reason"]) == (flushed, reason)
    assert process.stderr == sent
    assert target.read_bytes() == content


@linux
def test_of_a_folder_each_file_is_flushed_and_one_that_cannot_be_is_said(tmp_path: Path) -> None:
    emulate_netstat(tmp_path, "netstat-en0.txt")
    top = tmp_path / "top"
    for name in ("a/one", "a/b/two", "three", "c d/four"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x")
    values, process = run_on_a_mac(tmp_path, "en0", str(top), "true", smbfs=True)
    assert (values["exit"], values["flushed"], process.stderr) == ("0", "fsync", 4 * "FLUSH\n")
    (top / "a" / "lost").symlink_to("nowhere")
    values, _ = run_on_a_mac(tmp_path, "en0", str(top), "true")
    assert "a/lost" in values["flush_error"]


def test_on_a_mac_without_an_interface_or_a_program_that_counts_nothing_is_timed(tmp_path: Path) -> None:
    emulate_netstat(tmp_path, "netstat-none.txt")
    _, process = run_on_a_mac(tmp_path, "en9", "", "true")
    assert process.returncode != 0
    assert "no interface en9" in process.stderr
    emulate_netstat(tmp_path, "netstat-en0.txt")
    (tmp_path / "netstat").unlink()
    (tmp_path / "vm_stat").unlink()
    _, process = run_on_a_mac(tmp_path, "en0", "", "touch", str(tmp_path / "ran"))
    assert process.returncode == errno.ENOENT
    assert process.stderr.endswith("vm_stat: No such file or directory\n")
    assert not (tmp_path / "ran").exists()


def test_exit_codes_on_a_mac(tmp_path: Path) -> None:
    emulate_netstat(tmp_path, "netstat-en0.txt")
    for script, code in {"exit 0": "0", "exit 7": "7", "kill -s TERM $$": "143", "kill -s PIPE $$": "141"}.items():
        values, process = run_on_a_mac(tmp_path, "en0", "", "sh", "-c", script)
        assert (process.returncode, values["exit"], values["flushed"]) == (0, code, "none")
    values, process = run_on_a_mac(tmp_path, "en0", "", str(tmp_path / "nosuch"))
    assert values["exit"] == str(errno.ENOENT)
    assert process.stderr.splitlines()[-1] == f"{tmp_path}/nosuch: No such file or directory"


BEFORE = Counters(1000, 2000, 5.0, 7)


def test_counts_are_subtracted_for_each_interface_and_one_that_began_again_fails_the_trial() -> None:
    state = {"mtu": "1500"}
    assert Counters(1500, 2001, 5.5, 7, state).since(BEFORE) == Counters(500, 1, 0.5, 0, state)
    before, now = replace(BEFORE, carrier_changes=3), replace(BEFORE, carrier_changes=5)
    assert (now.since(before).carrier_changes, now.since(BEFORE).carrier_changes) == (2, None)
    grown = Counters(1500, 2500, 4.9, 6).since(BEFORE)
    assert (grown.cpu_s, grown.retransmits) == (None, None)
    assert Counters(1500, 2500, None, None).since(BEFORE) == Counters(500, 500, None, None)
    before = replace(BEFORE, others={"en1": Moved(100, 200), "en2": Moved(10**9, 0)})
    others = {"en1": Moved(150, 200), "en2": Moved(7, 8), "en3": Moved(1, 2)}
    assert replace(BEFORE, others=others).since(before).others == others | {"en1": Moved(50, 0)}
    with pytest.raises(LabFailure, match="it was reset during the transfer"):
        Counters(1500, 3, 5.5, 7).since(BEFORE)


COUNTS = "".join(
    f"{when}|{line}\n"
    for when in ("before", "after")
    for line in (
        "clock:1.5",
        *tagged("vm_stat", "vm_stat-16k-pages.txt").splitlines(),
        *tagged("netstat", "netstat-en0.txt").splitlines(),
        *(f"sysctl:net.inet.tcp.{name}: 131072" for name in ("sendspace", "recvspace")),
    )
)
TCP = """\
tcp:
\t51848278 packets sent
\t\t46007627 data packets (3984696233 bytes)
\t\t{} data packets ({} bytes) retransmitted
\t\t0 resends initiated by MTU discovery
"""


def asked(host: FakeHost, seconds: str, *resent: int) -> MacOS:
    """A Mac that transfers for so long, and has sent so many segments again before and after."""
    for number in resent:
        host.on(("netstat", "-s", "-p", "tcp"), TCP.format(number, number * 1448), root=True)
    report = REPORT.format(counts=COUNTS, seconds=seconds)
    host.on(("perl", "/tmp/lab/stopwatch.pl", "en0", "", "", "", "cp", "a", "b"), report)
    platform = MacOS(host)
    platform.clock.directory = "/tmp/lab"
    return platform


@pytest.mark.parametrize("seconds", ["0", "-3599.2"])
def test_a_clock_that_was_set_back_fails_the_trial(seconds: str) -> None:
    platform = asked(FakeHost(), seconds, 16916)
    with pytest.raises(TransferError, match="the clock was set back"):
        platform.clock.time_transfer("en0", "", ("cp", "a", "b"), 10)


def test_on_a_mac_what_was_sent_again_is_asked_as_root_around_the_transfer_and_unknown_if_all_is_zero() -> None:
    host = FakeHost()
    timing = asked(host, "2.5", 16916, 16921).clock.time_transfer("en0", "", ("cp", "a", "b"), 10)
    assert (timing.counted.retransmits, timing.counted.cpu_s, timing.tool_cpu_s) == (5, None, 0.25)
    assert host.sent[0] == host.sent[2] == ("netstat", "-s", "-p", "tcp")
    assert clock.parse_resent(TCP.format(16916, 21095873)) == 16916
    assert clock.parse_resent("tcp:\n\t1 packet sent\n\t\t1 data packet (1 byte) retransmitted\n") == 1
    assert clock.parse_resent("tcp:\n\t0 packets sent\n\t\t0 data packets (0 bytes) retransmitted\n") is None
    assert clock.parse_resent("") is None
