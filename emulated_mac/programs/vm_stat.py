"""vm_stat(1) (system_cmds: vm_stat.c): the memory of the host below, in pages of a Mac."""

from .. import bsd_getopt, processes, profiles
from ..kernel_client import call


def main(argv: list[str]) -> int:
    """Print the counters since boot."""
    if argv:
        bsd_getopt.fail_as_not_emulated("vm_stat", " ".join(argv))
    number = profiles.current().number
    page = int(call("sysctl_read", name="hw.pagesize"))
    memory, counts = processes.read_memory_pages(page), processes.read_event_counts()
    rows = {
        "Pages free": memory["free"], "Pages active": memory["active"], "Pages inactive": memory["inactive"],
        "Pages speculative": 0, "Pages throttled": 0, "Pages wired down": memory["wired"], "Pages purgeable": 0,
        '"Translation faults"': counts["pgfault"], "Pages copy-on-write": 0, "Pages zero filled": 0,
        "Pages reactivated": counts.get("pgactivate", 0), "Pages purged": 0, "File-backed pages": memory["inactive"],
        "Anonymous pages": memory["active"], "Pages stored in compressor": 0, "Pages occupied by compressor": 0,
        "Decompressions": 0, "Compressions": 0, "Pageins": counts["pgpgin"] // 16, "Pageouts": counts["pgpgout"] // 16,
        "Swapins": counts["pswpin"], "Swapouts": counts["pswpout"],
    }  # fmt: skip
    head = f"Mach Virtual Memory Statistics: (page size of {page} bytes)"
    if number < (10, 9):  # narrower, and without the rows that came with memory compression
        rows = {name: value for name, value in rows.items() if name not in _since_10_9()}
        print(head + "".join(f"\n{name + ':':<25} {value:16d}." for name, value in rows.items()))
        return 0
    print(head + "".join(f"\n{name + ':':<36}{value:16d}." for name, value in rows.items()))
    return 0


def _since_10_9() -> tuple[str, ...]:
    return ("Pages throttled", "Pages purgeable", "Pages purged", "File-backed pages", "Anonymous pages",
            "Pages stored in compressor", "Pages occupied by compressor", "Decompressions", "Compressions",
            "Swapins", "Swapouts")  # fmt: skip
