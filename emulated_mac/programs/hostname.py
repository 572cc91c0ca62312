"""hostname(1). On Macs the name usually ends with .local."""

import os

from .. import bsd_getopt


def main(argv: list[str]) -> int:
    """Print the name; with ``-s`` without its domain."""
    options, words = bsd_getopt.parse("hostname", argv, "fs", "usage: hostname [-fs] [name-of-host]")
    if words:
        bsd_getopt.fail("hostname: sethostname: Operation not permitted")
    name = os.uname().nodename
    print(name.partition(".")[0] if ("s", "") in options else name)
    return 0
