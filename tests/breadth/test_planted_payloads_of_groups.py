"""Payloads planted by a neighbour of the same group."""

from collections.abc import Iterator

import pytest
from support.local_lab import Bench
from support.other_samba import other_samba
from support.planted_payloads import AS_NEIGHBOUR, planted


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
