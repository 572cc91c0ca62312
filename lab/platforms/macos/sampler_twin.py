"""The twin of sampler.pl."""

import os
import re
import subprocess
import sys
import time

LARGEST = 4 << 20
NET, MEMORY = r"Name|.*<Link#", r".*page size|Pages (free|inactive|speculative)|.*outs:"


def said(kept: str, *command: str) -> list[str]:
    """The lines that count of what a command prints."""
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
    return [f"{command[0]}:{line}" for line in printed.splitlines(keepends=True) if re.match(kept, line)]


def append(path: str, text: str) -> None:
    """Add to the file, from the beginning where nobody has read it for long."""
    try:
        is_large = os.path.getsize(path) > LARGEST
    except OSError:
        is_large = False
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | (os.O_TRUNC if is_large else 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError:
        return
    os.write(file, text.encode())
    os.close(file)


def main(path: str, interface: str) -> None:
    """Sample until the folder is gone."""
    folder = path.rpartition("/")[0]
    rows = 0
    iostat = subprocess.Popen(["iostat", "-w", "1"], stdout=subprocess.PIPE)
    append(path, "")
    for row in iostat.stdout or ():
        if not os.path.isdir(folder):
            break
        if not re.match(rb"[\d.\s]+$", row):
            continue
        rows += 1
        if rows == 1:
            continue  # it is about all the time since the start
        lines = said(NET, "netstat", "-I", interface, "-b", "-n") + said(MEMORY, "vm_stat")
        seconds = time.clock_gettime(time.CLOCK_MONOTONIC)
        append(path, f"@ {seconds:.3f}\niostat:{row.decode()}{''.join(lines)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
