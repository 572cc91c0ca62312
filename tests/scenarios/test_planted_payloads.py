"""Somebody with an account on both hosts sees a payload's name on the client, and plants a link for it on the server.

The share was there before, and its folder is open to all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.local_lab import Bench
from support.other_samba import other_samba
from support.planted_payloads import AS_NEIGHBOUR, planted


@pytest.mark.parametrize("writer", ["root", "www-data"])
def test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there(bench: Bench, writer: str) -> None:
    with other_samba(bench, "media", writer=writer, mode="1777"):
        assert planted(bench, writer) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_the_attacker_would_win_where_all_could_write_into_it(bench: Bench) -> None:
    """As it was before: otherwise the test above would prove nothing."""
    with other_samba(bench, "media", writer="root", mode="1777"):
        assert planted(bench, "root", before="chmod 1777 {folder}") != "theirs\n"


@pytest.fixture
def sharer(bench: Bench) -> Iterator[str]:
    """An account of the server's without a group of its own, as every account of a Mac is."""
    bench.inside("server", "for name in sharer neighbour; do useradd --no-create-home --gid users $name; done")
    with other_samba(bench, "media", writer="sharer", mode="1777"):
        yield "sharer"
    bench.inside("server", "for name in sharer neighbour; do userdel $name; done")


def test_nor_where_who_writes_has_no_group_of_its_own(bench: Bench, sharer: str) -> None:
    """Then by an access control list, which lets no neighbour in that shares the group."""
    assert planted(bench, sharer, attacker=AS_NEIGHBOUR) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_where_no_list_can_be_had_the_folder_stays_open_and_the_run_says_so(bench: Bench, sharer: str) -> None:
    """As it was before, with who attacks in the test above."""
    bench.inside("server", "mv /usr/bin/setfacl /usr/bin/setfacl.away")
    try:
        assert planted(bench, sharer, attacker=AS_NEIGHBOUR, stays_open=True) != "theirs\n"
    finally:
        bench.inside("server", "mv /usr/bin/setfacl.away /usr/bin/setfacl")
