"""What a Mac counts: read from captured output, and sampled for real by emulated commands."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import pytest
from support.changed_scripts import changed
from support.emulated_mac import capture
from support.fake_host import EmulatedHost
from support.pairs import OWN_NAME
from support.parsers import tagged
from support.waiting import wait_until

from lab.base.present import present
from lab.platforms.macos.clock import MacClock, parse_counters, parse_samples
from lab.platforms.macos.platform import MacOS
from lab.platforms.readings import ALL_CORES, Reading
from lab.run.restore.vocabulary import line_format
from lab.run.transfer.time_series import series
from lab.run.transfer.usage import usage
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.stats.trial_numbers import numbers_of
from lab.stats.utilization import limits

NETSTAT = tagged("netstat", "netstat-en0.txt").splitlines()
SHORT = tagged("netstat", "netstat-lo0-short-names.txt").splitlines()
MEMORY = [*tagged("vm_stat", "vm_stat-16k-pages.txt").splitlines(), "vm_stat:Swapouts:  10."]
PS = ["ps:    1   0:07.31 launchd", "ps:  402 123:45.67 smbd", "ps:  501   0:00.00 cp"]
SYSCTL = ["sysctl:net.inet.tcp.sendspace: 65536", "sysctl:net.inet.tcp.recvspace: 131072"]
IOSTAT = {
    "idle": "   19.97   73  1.43   327.64    3  1.06   3  1 96  2.38 2.38 2.61",
    "busy": "    4.34   94  0.40     0.00    0  0.00  15 35 50  2.38 2.38 2.61",
    "full": "    4.34   94  0.40  70  30   0  2.38 2.38 2.61",
    "nothing": "  0  0 100  0.00 0.01 0.00",  # no disk but RAM images
}


def test_the_row_of_the_whole_interface_counts() -> None:
    counters = parse_counters(["clock:7.25", *NETSTAT, *MEMORY, *SYSCTL], "en0")
    assert (counters.tx_bytes, counters.rx_bytes, counters.cpu_s) == (29723901148, 27949362788, None)
    assert counters.state == {"sendspace": "65536", "recvspace": "131072", "mtu": "1500"}
    assert counters.reading == Reading(
        at_s=7.25,
        net={
            "tx_bytes": 29723901148, "rx_bytes": 27949362788, "tx_packets": 22461432, "rx_packets": 21869567,
            "tx_errors": 0, "rx_errors": 0,
        },
        available_bytes=(4430 + 749576 + 615) * 16384,
        swapped_bytes=10 * 16384,
    )  # fmt: skip
    counters = parse_counters(["clock:1", *SHORT, *MEMORY, *SYSCTL], "lo0")
    assert (counters.tx_bytes, counters.rx_bytes, counters.state["mtu"]) == (601295906, 601295906, "16384")
    down = [line.replace("en0 ", "en0*") for line in NETSTAT]
    assert parse_counters(["clock:1", *down, *MEMORY, *SYSCTL], "en0").tx_bytes == 29723901148


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([*MEMORY, *NETSTAT, *SYSCTL], "no clock"),
        (["clock:nan", *NETSTAT, *MEMORY, *SYSCTL], "not a"),
        (["clock:1", NETSTAT[0], *MEMORY, *SYSCTL], "no interface en0"),
        (["clock:1", *NETSTAT, *MEMORY, SYSCTL[0]], r"no value of net\.inet\.tcp\.recvspace"),
        (["clock:1", *NETSTAT, *SYSCTL], "no page size"),
        (["clock:1", NETSTAT[0], "netstat:en0 1500 <Link#14> 1 2", *MEMORY, *SYSCTL], "no counts"),
        (["clock:1", NETSTAT[0], NETSTAT[1].replace("29723901148", "-"), *MEMORY, *SYSCTL], "'-' is not a count"),
    ],
)
def test_what_cannot_be_read_is_an_error(lines: list[str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_counters(lines, "en0")


def sampled(lines: Iterable[str]) -> list[Reading]:
    return list(parse_samples("".join(f"{line}\n" for line in lines), "en0"))


def sample(at_s: float, row: str) -> list[str]:
    return [f"@ {at_s}", f"iostat:{IOSTAT[row]}", *NETSTAT, *MEMORY]


def test_the_shares_of_each_second_add_up() -> None:
    rows = ("idle", "busy", "full", "nothing")
    readings = sampled(line for at_s, row in enumerate(rows) for line in sample(at_s, row))
    assert [reading.at_s for reading in readings] == [0, 1, 2, 3]
    spent = [reading.cores[ALL_CORES] for reading in readings]
    shares = [(core.user, core.system, core.idle) for core in spent]
    assert shares == [(3, 1, 96), (18, 36, 146), (88, 66, 146), (88, 66, 246)]
    between = [*sample(1.0, "idle"), "@ 1.25", *NETSTAT, "@ 1.5", *NETSTAT, *sample(2.0, "busy")]
    lists = series(sampled(between))
    assert lists["core_busy"] == {ALL_CORES: [None, None, None, 0.5]}
    assert lists["rx_bytes"] == [0, 0, 0, 0]


def test_a_mac_is_busy_as_a_whole_and_no_core_of_it_is() -> None:
    """Readings of the stopwatch, which know nothing of cores, stand around the samples."""
    texts = ([f"clock:{at_s}", *NETSTAT, *MEMORY, *SYSCTL] for at_s in (0.2, 3.4))
    first, last = (present(parse_counters(text, "en0").reading) for text in texts)
    lines = [line for at_s, row in ((1, "idle"), (2, "busy"), (3, "full")) for line in sample(at_s, row)]
    used = usage([first, *sampled(lines), last], 3.2, cores=10).to_json()
    assert (used["user"], used["system"], used["softirq"]) == (0.425, 0.325, 0.0)
    assert used.keys().isdisjoint({"core_mean", "core_peak", "cpu_cores"})
    assert (used["samples"], used["swapped_bytes"], used["rx_errors"]) == (3, 0, 0)


def test_a_saturated_core_is_not_hidden_in_a_mean_of_ten() -> None:
    """A server of one thread: no share of all cores says so, its process does."""
    counts = [*NETSTAT, *MEMORY, *SYSCTL, PS[0]]
    texts = ([f"clock:{at_s}", *counts, f"ps:  402  61:{cpu_s} smbd"] for at_s, cpu_s in ((0.2, "10.00"), (4.2, 13.92)))
    first, last = (present(parse_counters(text, "en0").reading) for text in texts)
    busiest = [PS[0], "ps:  402  61:11.50 smbd", "ps:  501   0:01.00 cp"]
    between = [*sample(1.0, "idle"), "@ 1.25", *NETSTAT, "@ 1.75", *NETSTAT, *busiest, *sample(2.0, "idle")]
    used = usage([first, *sampled(between), last], 4.0, cores=10)
    assert (used.process, used.process_mean) == ("smbd", 0.98)
    assert (used.user, used.samples) == (0.03, 4)
    row = {"observed": {"server": used.to_json()}, "size_bytes": 2**30, "elapsed_s": 4.0, "files": 1, "block": 1}
    row |= {"effective": {}, "ceiling_bytes_per_s": 1e9, "tcp_space": "default", "store": "ram", "protocol": "smb"}
    medians = numbers_of(row | {"direction": "write"}, shared=False)
    (near,) = [limit for limit in limits(medians, {"server": "smbd"}) if limit.near]
    assert near.evidence == "server CPU: smbd used 0.98 of one core"


def test_processes_are_those_that_ps_names_and_what_is_no_row_of_iostat_is_an_error() -> None:
    (reading,) = sampled(["@ 1", *NETSTAT, *PS, "ps:name", "ps:  502   0:01.00 a b "])
    assert {key[0]: tuple(process) for key, process in reading.processes.items()} == {
        1: ("launchd", 7.31), 402: ("smbd", 7425.67), 501: ("cp", 0.0), 502: ("a b", 1.0)
    }  # fmt: skip
    assert (reading.cores, reading.available_bytes, bool(reading.net)) == ({}, None, True)
    for row in ("", "KB/t tps MB/s us sy id 1m 5m 15m", "-1 2 99 1 1 1"):
        with pytest.raises(ValueError, match=r"no row of iostat|not a count"):
            sampled(["@ 1", f"iostat:{row}", *MEMORY])


REAL = ("sh", "perl", "ps", "grep", "sed", "cat", "cut", "rm", "tail", "sleep")
IOSTAT_COMMAND = """
echo "              disk0       cpu    load average"; echo "    KB/t  tps  MB/s  us sy id   1m   5m   15m"
echo "   19.97   73  1.43  99  1  0  2.38 2.38 2.61"
while :; do echo "   19.97   73  1.43   3  1 96  2.38 2.38 2.61"; sleep 0.05; done
"""


VM_STAT_COMMAND = f"cat <<'END'\n{capture('vm_stat-16k-pages.txt')}END\n"


def started(folder: Path, commands: dict[str, str]) -> tuple[Settings, MacOS]:
    host = EmulatedHost(folder, commands, REAL)
    platform = MacOS(host)
    (folder / OWN_NAME).mkdir()
    platform.clock.directory = str(folder / OWN_NAME)
    return Settings({"client": host}, Journal(folder / "journal.jsonl", line_format())), platform


def sample_until(platform: MacOS, tag: str, lines: int) -> tuple[Reading, ...]:
    """Take all samples once they have so many lines of a command."""
    file = Path(platform.clock.directory) / "samples"
    wait_until(lambda: file.read_text().count(f"\n{tag}:") >= lines)
    return platform.clock.samples("en0")


def test_the_sampler_leaves_out_the_time_since_the_start_and_is_gone_afterwards(tmp_path: Path) -> None:
    netstat = f"cat <<'END'\n{capture('netstat-en0.txt')}END\n"
    settings, platform = started(tmp_path, {"iostat": IOSTAT_COMMAND, "netstat": netstat, "vm_stat": VM_STAT_COMMAND})
    settings.follow(platform.clock.sampling("en0"))
    readings = [*sample_until(platform, "iostat", 2), *sample_until(platform, "iostat", 1)]
    first = readings[0]
    assert (first.cores[ALL_CORES].user, first.cores[ALL_CORES].idle) in [(3 * n, 96 * n) for n in range(1, 100)]
    assert first.net["rx_bytes"] == 27949362788
    assert [reading.at_s for reading in readings] == sorted(reading.at_s for reading in readings)
    (record,) = settings.journal.open
    settings.unwind()
    assert record.read.run(platform.host) == "absent"


# The counts of the interface and of a process grow with each look
NETSTAT_COMMAND = """
echo look >> "${0%/*}/looks"; looks=$(grep -c . "${0%/*}/looks")
cat <<END
Name       Mtu   Network       Address            Ipkts Ierrs     Ibytes    Opkts Oerrs     Obytes  Coll
en0        1500  <Link#14>     00:00:5e:00:53:01  1     0         ${looks}00000  1     0         7     0
END
"""
PS_COMMAND = """
[ "$*" = "-A -o pid= -o time= -o ucomm=" ] || exec REAL "$@"
looks=$(grep -c . "${0%/*}/looks")
printf '%5d %3d:%02d.%02d %s\\n' 1 0 1 0 launchd 402 0 "$looks" 50 smbd
""".replace("REAL", shutil.which("ps") or "ps")


def test_while_bytes_move_it_looks_more_often_and_at_ps_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sooner = ("$LOOK_S = 0.25;", "$LOOK_S = 0.05;"), ("$PROCESSES_S = 0.5;", "$PROCESSES_S = 0.1;"), ("= 20;", "= 1;")
    monkeypatch.setattr(MacClock, "sampler", changed(MacClock.sampler, *sooner))
    slow = IOSTAT_COMMAND.replace("sleep 0.05", "sleep 0.3")
    commands = {"iostat": slow, "netstat": NETSTAT_COMMAND, "vm_stat": VM_STAT_COMMAND, "ps": PS_COMMAND}
    settings, platform = started(tmp_path, commands)
    settings.follow(platform.clock.sampling("en0"))
    readings = sample_until(platform, "ps", 4)  # two of the first look, and one of each later look
    settings.unwind()
    between = [reading for reading in readings if not reading.cores]
    assert between
    assert all(reading.net and reading.available_bytes is None for reading in between)
    first, *later = [reading.processes for reading in readings if reading.processes]
    assert {process.name for process in first.values()} == {"launchd", "smbd"}
    assert all([process.name for process in processes.values()] == ["smbd"] for processes in later)


@pytest.mark.parametrize(
    ("commands", "called"),
    [
        ({"caffeinate": "exec sleep 60", "pmset": "exit 1"}, "caffeinate -i -s"),
        ({"pmset": "exec sleep 60"}, "pmset noidle"),  # before 10.8
    ],
)
def test_a_mac_is_kept_awake_and_may_sleep_afterwards(tmp_path: Path, commands: dict[str, str], called: str) -> None:
    settings, platform = started(tmp_path, commands)
    settings.follow(platform.settings.awake(str(tmp_path / OWN_NAME)))
    host = cast(EmulatedHost, platform.host)
    wait_until(host.calls)
    assert host.calls() == [called]
    (record,) = settings.journal.open
    settings.unwind()
    assert record.read.run(platform.host) == "absent"
