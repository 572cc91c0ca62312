"""The twin of signal.pl: for Macs, where no process can be held on to."""

import contextlib
import os
import re
import signal
import subprocess
import sys


def started(pid: int) -> str:
    """When a process started, as started.sh has it."""
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                return stat.read().rpartition(") ")[2].split()[19]
        except OSError:
            return ""
    words = ["ps", "-o", "lstart=", "-p", str(pid)]
    return " ".join(subprocess.run(words, stdout=subprocess.PIPE, check=False).stdout.decode().split())


def main(account: str, name: str, target: str, *start: str) -> None:
    """Send it with no more rights than the account has."""
    number = {"TERM": signal.SIGTERM, "KILL": signal.SIGKILL}[name]
    if not re.fullmatch("[0-9]{1,10} -?[1-9][0-9]{0,9}", f"{account} {target}") or abs(int(target)) == 1:
        sys.exit(f"no process: {target} of {account}")
    if start and started(int(target)) != start[0]:
        sys.exit(1)
    try:
        if os.geteuid() != int(account):
            os.setuid(int(account))
        os.kill(int(target), number)
    except OSError:
        sys.exit(1)
    if number == signal.SIGTERM:  # a process that is stopped does not end before it goes on
        with contextlib.suppress(OSError):
            os.kill(int(target), signal.SIGCONT)


if __name__ == "__main__":
    main(*sys.argv[1:])
