"""uname(1)."""

from __future__ import annotations

import getopt
import os
import sys

from .. import profiles

ORDER = "snrvm"


def main(argv: list[str]) -> int:
    """What is asked for, in the order of the manual page."""
    profile = profiles.current()
    machine = "i386" if profile.number < (10, 7) else profile.xnu.rpartition(" ")[2]
    about = {
        "s": "Darwin", "n": os.uname().nodename, "r": profile.darwin, "m": machine,
        "v": f"Darwin Kernel Version {profile.darwin}: EMULATED on Linux; root:{profile.xnu.rpartition(' ')[0]}",
        "p": "arm" if machine == "arm64" else "i386",
    }  # fmt: skip
    try:
        options, rest = getopt.getopt(argv, "amnprsv")
    except getopt.GetoptError as error:
        options, rest = [], [str(error)]
        print(f"uname: illegal option -- {error.opt}", file=sys.stderr)
    if rest:
        print("usage: uname [-amnprsv]", file=sys.stderr)
        return 1
    asked = {option[1] for option, _ in options} or {"s"}
    if "a" in asked:
        asked |= set(ORDER)
    print(" ".join(about[letter] for letter in [*ORDER, "p"] if letter in asked))
    return 0
