"""Somebody with an account on both hosts sees a payload's name on the client, and plants a link for it on the server.

The share was there before, and its folder is open to all.
"""

import pytest
from support.local_lab import Bench
from support.other_samba import other_samba
from support.planted_payloads import planted


@pytest.mark.parametrize("writer", ["root"])
def test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there(bench: Bench, writer: str) -> None:
    with other_samba(bench, "media", writer=writer, mode="1777"):
        assert planted(bench, writer) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_the_attacker_would_win_where_all_could_write_into_it(bench: Bench) -> None:
    """As it was before: otherwise the test above would prove nothing."""
    with other_samba(bench, "media", writer="root", mode="1777"):
        assert planted(bench, "root", before="chmod 1777 {folder}") != "theirs\n"
