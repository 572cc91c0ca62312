"""What a sweep costs beside its transfers, on a local lab of 1 Gbit/s: ``python benchmarks/overhead.py [--large]``.

Wall time over the seconds inside timed transfers, and seconds of overhead a trial. The payload, the number of cases and
the round-trip time of SSH grow. Also the gap between two trials of a block that differ only in direction, with a server
that ran before. ``--large`` adds payloads of 1 GiB, which take 10 s each.
"""

import itertools
import statistics
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from bench_lab import BenchLab, FinishedRun, bench_lab

SLOW_SSH = Path(__file__).with_name("slow_ssh.py")
SERVED = ("block", "protocol", "mtu", "tcp_space", "store")  # what trials on one server have in common
ALL: dict[str, list[Any]] = {"protocol": ["afp", "smb", "nfs", "ssh"], "tool": ["cp", "rsync"]}


def main() -> None:
    """Run them all and print a table."""
    headings = f"{'wall s':>8}{'timed s':>9}{'iperf3 s':>9}{'wall/timed':>11}{'s a trial':>10}{'gap s':>7}"
    print(f"{'sweep':44}{'trials':>7}{headings}")
    with bench_lab("--rate", "1gbit") as lab:
        smb: dict[str, list[Any]] = {"protocol": ["smb"], "placebo": ["a", "b", "c"]}
        for size in ("4 MiB", "64 MiB", "256 MiB"):
            report(f"SMB cp, {size}", lab.run(smb, size=size, blocks=2))
        if "--large" in sys.argv:
            report("SMB cp, 1 GiB", lab.run(smb, size="1 GiB", blocks=2))
            report("all protocols, cp and rsync, 1 GiB", lab.run(ALL, size="1 GiB", blocks=2))
        report("all protocols, cp and rsync, 4 MiB", lab.run(ALL, blocks=3))
        mtus = ALL | {"mtu": [1500, 9000]}
        report("the same, MTU 1500 and 9000", lab.run(mtus, blocks=2))
        report("and TCP buffers 64 and 512 KiB", lab.run(mtus | {"tcp_space": ["64 KiB", "512 KiB"]}, blocks=1))
        for rtt_ms in (2, 10, 50):
            hosts = slow(lab, rtt_ms / 2000)
            report(f"SMB cp, 4 MiB, SSH with an RTT of {rtt_ms} ms", lab.run(smb, hosts, blocks=2))


def slow(lab: BenchLab, delay_s: float) -> Path:
    """The hosts file, with SSH connections that take ``delay_s`` in each direction."""
    text = lab.hosts.read_text().replace("proxy_command = ", f"proxy_command = {sys.executable} {SLOW_SSH} {delay_s} ")
    path = lab.folder / "hosts.slow.ini"
    path.write_text(text)
    return path


def report(name: str, finished: FinishedRun) -> None:
    """One line of the table. iperf3's seconds count as measuring, not as overhead, in the last two columns."""
    timed_s = sum(trial["elapsed_s"] for trial in finished.trials)
    link_s = sum(link["elapsed_s"] for link in finished.ceilings)
    each_s = (finished.wall_s - timed_s - link_s) / len(finished.trials)
    gap = f"{statistics.median(gaps_s):7.2f}" if (gaps_s := gaps(finished.trials)) else "      –"
    print(
        f"{name:44}{len(finished.trials):7}{finished.wall_s:8.1f}{timed_s:9.1f}{link_s:9.1f}"
        f"{finished.wall_s / timed_s:11.2f}{each_s:10.2f}{gap}", flush=True,
    )  # fmt: skip


def gaps(trials: list[dict[str, Any]]) -> list[float]:
    """Seconds from the begin of a trial to that of the next, less its transfer, where only the direction differs.

    Before the first of them its server stood already: what comes before was served alike.
    """
    gaps_s = []
    for (before, one), (_, other) in itertools.pairwise(itertools.pairwise(trials)):
        served_alike = all(before[key] == one[key] for key in SERVED)
        if served_alike and [key for key in (*SERVED, "tool", "direction") if one[key] != other[key]] == ["direction"]:
            began, ended = (datetime.fromisoformat(trial["started_at"]) for trial in (one, other))
            gaps_s.append((ended - began).total_seconds() - one["elapsed_s"])
    return gaps_s


if __name__ == "__main__":
    main()
