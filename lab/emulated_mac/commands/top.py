"""top(1) in logging mode: ``top -l N -n 0 -s S`` (top: main.c, libtop.c)."""

from __future__ import annotations

import os
import time

from .. import options, processes

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
    found, words = options.parse("top", argv, "l:n:s:o:i:FRrS", USAGE)
    values = dict(found)
    if words or "l" not in values:
        options.lacking("top", "anything but -l")
    if values.get("n") != "0":
        options.lacking("top", "the list of processes: -n 0")
    samples, delay = int(values["l"]), float(values.get("s", "1"))
    before = (0, 0, 0, 0)
    for number in range(samples):
        if number:
            time.sleep(delay)
        now = processes.busy_ticks()
        _head([after - earlier for after, earlier in zip(now, before, strict=True)])
        before = now
    return 0


def _head(ticks: list[int]) -> None:
    user, system, idle = ticks[0] + ticks[1], ticks[2], ticks[3]
    whole = max(1, user + system + idle)
    known = processes.every()
    running = sum(one.state == "R" for one in known)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(
        f"Processes: {len(known)} total, {running} running, {len(known) - running} sleeping, {len(known)} threads \n"
        f"{time.strftime('%Y/%m/%d %H:%M:%S')}\nLoad Avg: {load} \n"
        f"CPU usage: {100 * user / whole:.2f}% user, {100 * system / whole:.2f}% sys, {100 * idle / whole:.2f}% idle \n"
        "SharedLibs: 0B resident, 0B data, 0B linkedit.",
        flush=True,
    )
