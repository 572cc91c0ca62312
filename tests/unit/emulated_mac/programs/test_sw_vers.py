"""What sw_vers of an emulated Mac prints, against what real ones printed."""

import re

from support.emulated_programs import Run, capture


def test_sw_vers_is_that_of_its_version(mac: Run) -> None:
    assert mac("10.6", "sw_vers")[1] == capture("sw_vers-10.6.8.txt")
    assert re.sub(r"\t[^\t\n]+\n", "\n", mac("26", "sw_vers")[1]) == re.sub(
        r"\t[^\t\n]+\n", "\n", capture("sw_vers-26.4.1.txt")
    )
