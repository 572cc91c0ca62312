"""The faults of emulated Macs have names for the command line."""

import re

from emulated_mac import faults


def test_faults_have_names_that_a_person_can_type() -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) and text for name, text in faults.FAULTS.items())
