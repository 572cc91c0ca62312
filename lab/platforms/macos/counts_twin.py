"""The twin of counts.pl."""

import re
import subprocess
import sys
import time


def printed(command: list[str]) -> str:
    """What a command prints."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.exit(error.errno)


def counts(when: str, interface: str) -> list[str]:
    """The lines of what macOS counts."""
    asked = [
        ["sysctl", "sysctl", "net.inet.tcp.sendspace", "net.inet.tcp.recvspace"],
        ["interfaces", "netstat", "-i", "-b", "-n"],
        ["vm_stat", "vm_stat"],
        ["ps", "ps", "-A", "-o", "pid=", "-o", "time=", "-o", "ucomm="],
        ["netstat", "netstat", "-I", interface, "-b", "-n"],
        ["clock"],
    ]
    lines = []
    for name, *command in reversed(asked) if when == "after" else asked:
        text = printed(command) if command else f"{time.clock_gettime(time.CLOCK_MONOTONIC):.6f}\n"
        lines += [f"{name}:{line}" for line in text.splitlines(keepends=True)]
    if not any(re.match(r"netstat:.*<Link#\d+>", line) for line in lines):
        sys.stderr.write(f"no interface {interface}\n")
        sys.exit(255)
    return lines


def moved(interface: str) -> int:
    """The bytes of an interface, both ways; columns are counted from the right, for the address may be missing."""
    rows = [row.split() for row in printed(["netstat", "-I", interface, "-b", "-n"]).splitlines() if "<Link#" in row]
    counts = [rows[0][-5], rows[0][-2]] if rows and len(rows[0]) > 5 else []
    return sum(int(count) for count in counts if count.isdigit())
