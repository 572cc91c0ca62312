"""hostname(1). On Macs the name usually ends with .local."""

from __future__ import annotations

import os

from .. import options


def main(argv: list[str]) -> int:
    """Print it; ``-s`` without its domain."""
    found, words = options.parse("hostname", argv, "fs", "usage: hostname [-fs] [name-of-host]")
    if words:
        options.fail("hostname: sethostname: Operation not permitted")
    name = os.uname().nodename
    print(name.partition(".")[0] if ("s", "") in found else name)
    return 0
