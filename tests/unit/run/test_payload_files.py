"""The payload's files are removed however a transfer ends, each of them once."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lab.base.errors import HostLost, TransferError
from lab.hosts import Role
from lab.run.transfer.places import Endpoints, Place, payload_files

ENDPOINTS = Endpoints("", "", "", Place(Role.CLIENT, "/c/file"), Place(Role.SERVER, "/s/file"))
BOTH = [(Role.CLIENT, "/c/file"), (Role.SERVER, "/s/file")]


class Removals:
    """What was removed on which host; a host of ``lost`` is out of reach."""

    def __init__(self, lost: Role | None = None):
        self.lost = lost
        self.removed: list[tuple[Role, str]] = []
        platforms = {role: SimpleNamespace(files=SimpleNamespace(remove=self._remover(role))) for role in Role}
        self.pair = cast(Any, SimpleNamespace(platforms=platforms))

    def _remover(self, role: Role) -> Any:
        def remove(path: str, root: bool) -> None:
            assert root
            if role is self.lost:
                raise HostLost("the connection was lost", host=role)
            self.removed.append((role, path))

        return remove


def test_both_are_removed_at_the_end() -> None:
    hosts = Removals()
    with payload_files(hosts.pair, ENDPOINTS, {}):
        assert hosts.removed == []
    assert sorted(hosts.removed) == BOTH


def test_what_was_removed_already_is_not_removed_again() -> None:
    hosts = Removals()
    with payload_files(hosts.pair, ENDPOINTS, {}) as files:
        files.remove(ENDPOINTS.source_place)
        assert hosts.removed == BOTH[:1]
    assert hosts.removed == BOTH


def test_after_a_failure_both_are_removed() -> None:
    hosts = Removals()
    with pytest.raises(TransferError), payload_files(hosts.pair, ENDPOINTS, {}):
        raise TransferError("broken")
    assert sorted(hosts.removed) == BOTH


def test_what_is_kept_to_be_read_again_stays_in_the_share_and_nowhere_else() -> None:
    hosts = Removals()
    kept = Endpoints("", "", "", Place(Role.SERVER, "/share/name", in_mount=True), Place(Role.CLIENT, "/c/name"))
    with payload_files(hosts.pair, kept, {("file", 1): "name"}):
        pass
    assert hosts.removed == [(Role.CLIENT, "/c/name")]


@pytest.mark.parametrize("lost", list(Role))
def test_a_host_out_of_reach_keeps_its_own_and_the_other_ones_goes(lost: Role) -> None:
    hosts = Removals(lost)
    with payload_files(hosts.pair, ENDPOINTS, {}) as files:
        files.remove(ENDPOINTS.source_place)
    assert hosts.removed == [pair for pair in BOTH if pair[0] is not lost]


def test_a_tree_is_removed_with_all_in_it_and_given_time_for_that() -> None:
    removed: list[tuple[str, float]] = []
    files = SimpleNamespace(remove_folder=lambda path, deadline_s, root: removed.append((path, deadline_s)))
    pair: Any = SimpleNamespace(platforms=dict.fromkeys(Role, SimpleNamespace(files=files)))
    with payload_files(pair, ENDPOINTS, {}, files_of_folder=10_000):
        pass
    assert dict(removed).keys() == {"/c/file", "/s/file"}
    assert {round(deadline_s) for _, deadline_s in removed} == {560}
