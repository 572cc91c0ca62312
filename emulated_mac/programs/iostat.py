"""iostat(8) (system_cmds: iostat.c): an idle disk, and the cores of the host below."""

import os
import time

from .. import bsd_getopt, processes

USAGE = """\
usage: iostat [-CUdIKoT?] [-c count] [-n devs]
\t[-w wait] [drives]"""


def main(argv: list[str]) -> int:
    """Print one row per sample; the first covers the time since boot."""
    options, words = bsd_getopt.parse("iostat", argv, "CUdIKoTc:n:w:", USAGE)
    values, flags = dict(options), {letter for letter, _ in options}
    if words or flags & set("UdIKoT"):
        bsd_getopt.fail_as_not_emulated("iostat", " ".join(argv))
    disk = "C" not in flags or "d" in flags
    wait = float(values.get("w", "1"))
    count = int(values.get("c", "0" if "w" in values else "1"))
    print(f"{'              disk0' if disk else ''}       cpu    load average")
    print(f"{'    KB/t  tps  MB/s' if disk else ''}  us sy id   1m   5m   15m")
    before, number = (0, 0, 0, 0), 0
    while not count or number < count:
        if number:
            time.sleep(wait)
        now = processes.read_cpu_ticks()
        ticks = [after - earlier for after, earlier in zip(now, before, strict=True)]
        whole = max(1, sum(ticks))
        user, system = 100 * (ticks[0] + ticks[1]) / whole, 100 * ticks[2] / whole
        load = " ".join(f"{value:.2f}" for value in os.getloadavg())
        cells = f"{'    0.00    0  0.00' if disk else ''}"
        print(f"{cells}  {user:2.0f} {system:2.0f} {100 - round(user) - round(system):2d}  {load}", flush=True)
        before, number = now, number + 1
    return 0
