"""top(1) in logging mode: ``top -l N -n 0 -s S`` (top: main.c, libtop.c)."""

import os
import time

from .. import bsd_getopt, processes

USAGE = """\
top usage: top
\t\t[-a | -d | -e | -c <mode>]
\t\t[-F | -f]
\t\t[-h]
\t\t[-i <interval>]
\t\t[-l <samples>]
\t\t[-ncols <columns>]
\t\t[-n <nprocs>]
\t\t[-o <key>] [-O <secondaryKey>]
\t\tkeyword [-pid <processid>]
\t\t[-R | -r] [-S]
\t\t[-s <delay>]
\t\t[-stats <key(s)>]
\t\t[-U <username>]
\t\t[-u]"""


def main(argv: list[str]) -> int:
    """Print the head of each sample; the first is since boot."""
    options, words = bsd_getopt.parse("top", argv, "l:n:s:o:i:FRrS", USAGE)
    values = dict(options)
    if words or "l" not in values:
        bsd_getopt.fail_as_not_emulated("top", "anything but -l")
    if values.get("n") != "0":
        bsd_getopt.fail_as_not_emulated("top", "the list of processes: -n 0")
    samples, delay = int(values["l"]), float(values.get("s", "1"))
    before = (0, 0, 0, 0)
    for number in range(samples):
        if number:
            time.sleep(delay)
        now = processes.read_cpu_ticks()
        _print_head([after - earlier for after, earlier in zip(now, before, strict=True)])
        before = now
    return 0


def _print_head(ticks: list[int]) -> None:
    user, system, idle = ticks[0] + ticks[1], ticks[2], ticks[3]
    whole = max(1, user + system + idle)
    listed = processes.read_all()
    running = sum(process.state == "R" for process in listed)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(
        f"Processes: {len(listed)} total, {running} running, {len(listed) - running} sleeping, {len(listed)} threads \n"
        f"{time.strftime('%Y/%m/%d %H:%M:%S')}\nLoad Avg: {load} \n"
        f"CPU usage: {100 * user / whole:.2f}% user, {100 * system / whole:.2f}% sys, {100 * idle / whole:.2f}% idle \n"
        "SharedLibs: 0B resident, 0B data, 0B linkedit.",
        flush=True,
    )
