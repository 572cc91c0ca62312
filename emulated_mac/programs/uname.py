"""uname(1)."""

import os

from .. import bsd_getopt, profiles

ORDER = "snrvm"
USAGE = "usage: uname [-amnprsv]"


def main(argv: list[str]) -> int:
    """Print the requested parts in the order of the manual page."""
    profile = profiles.current()
    machine = "i386" if profile.number < (10, 7) else profile.xnu.rpartition(" ")[2]
    about = {
        "s": "Darwin", "n": os.uname().nodename, "r": profile.darwin, "m": machine,
        "v": f"Darwin Kernel Version {profile.darwin}: EMULATED on Linux; root:{profile.xnu.rpartition(' ')[0]}",
        "p": "arm" if machine == "arm64" else "i386",
    }  # fmt: skip
    # getopt of the standard library takes as long to import as Python takes to start
    options, rest = bsd_getopt.parse("uname", argv, "amnprsv", USAGE)
    if rest:
        bsd_getopt.fail_with_usage(USAGE)
    asked = {letter for letter, _ in options} or {"s"}
    if "a" in asked:
        asked |= set(ORDER)
    print(" ".join(about[letter] for letter in [*ORDER, "p"] if letter in asked))
    return 0
