"""purge(8): only for root, since 10.9; before, it came with the developer tools (system_cmds: purge.c)."""

import os
import sys


def main(argv: list[str]) -> int:
    """Write cached file data out and drop it."""
    os.sync()
    try:
        with open("/linux/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write("3")
    except PermissionError:
        print("Unable to purge disk buffers: Operation not permitted", file=sys.stderr)
        return 1
    return 0
