"""`lab` as a program for which `lab init` finds what was made up, and `lab check` what hosts might say."""

import sys
from unittest.mock import patch

from lab.check import doctor
from lab.check.finding import Finding
from lab.cli.main import main
from lab.init import surroundings
from support.surroundings import SURROUNDINGS

FINDING = Finding("ok", "client SSH", "this machine")

if __name__ == "__main__":
    with (
        patch.object(surroundings, "look_around", lambda _: SURROUNDINGS),
        patch.object(doctor, "check", lambda *_: ([FINDING], {})),
    ):
        raise SystemExit(main(sys.argv[1:]))
