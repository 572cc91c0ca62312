"""ssh-keygen(1) before 10.11: no elliptic curves, and fingerprints by MD5; Debian's program does the work."""

import itertools
import subprocess
import sys

from .. import bsd_getopt

PROGRAM = "/linux/usr/bin/ssh-keygen"
TYPES = ("rsa", "dsa", "rsa1")


def main(argv: list[str]) -> int:
    """Become Debian's program, unless this version cannot make the requested key."""
    kind = dict(itertools.pairwise(argv)).get("-t", "rsa")
    if kind not in TYPES:
        bsd_getopt.fail(f"unknown key type {kind}")
    if not argv or not argv[0].startswith("-l"):
        return subprocess.run([PROGRAM, *argv], check=False).returncode
    done = subprocess.run([PROGRAM, "-E", "md5", *argv], stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(done.stdout.replace(" MD5:", " "))
    return done.returncode
