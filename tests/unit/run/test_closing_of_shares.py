"""The lab's folder in a share that is there: what is done where a list closes it to the share's own server as well."""

from types import SimpleNamespace
from typing import cast

import pytest
from support.pairs import pair_of

from lab.hosts import Role
from lab.protocols import Attached, Share
from lab.run.case import sharing

FOLDER = "/srv/share/file-share-lab-0123456789abcdef"


class Files:
    """The files of the server; closing ends ``how``."""

    def __init__(self, how: str):
        self.how, self.calls = how, list[str]()

    def open_folder(self, _path: str) -> None:
        self.calls.append("open")

    def close_folder(self, _path: str, _account: str, _proof: str) -> str:
        self.calls.append("close")
        return self.how

    def remove(self, path: str) -> None:
        assert path.startswith(f"{FOLDER}/file-share-lab-")
        self.calls.append("remove")


class Client:
    """A client that writes through the share with these exit codes, one after the other."""

    def __init__(self, *exit_codes: int):
        self.left = list(exit_codes)

    def shell(self, _text: str, in_share: str, given: str, check: bool) -> SimpleNamespace:
        assert in_share == "/mnt/file-share-lab-0123456789abcdef"
        assert given
        assert not check
        return SimpleNamespace(exit_code=self.left.pop(0))


@pytest.mark.parametrize(
    ("how", "exit_codes", "calls", "stays_open"),
    [
        ("", [0], ["open", "close"], False),
        ("list", [0, 0], ["open", "close", "remove"], False),
        ("list", [0, 1], ["open", "close", "open"], True),
        ("open", [0], ["open", "close"], True),
        ("", [1], ["open", "close"], False),
    ],
)
def test_a_list_that_the_share_does_not_go_by_is_taken_away_and_that_is_said(
    how: str, exit_codes: list[int], calls: list[str], stays_open: bool
) -> None:
    files, client = Files(how), Client(*exit_codes)
    pair = pair_of(
        platforms={Role.SERVER: SimpleNamespace(files=files)},
        sides={Role.SERVER: SimpleNamespace(user="you")},
        hosts={Role.CLIENT: client},
    )
    share = cast(Share, SimpleNamespace(served_by_lab=False, path="/srv/share"))
    text = sharing.close_to_others(pair, share, FOLDER, Attached("/mnt"))
    assert (files.calls, client.left) == (calls, [])
    assert ("/srv/share stays open" in text, bool(text)) == (stays_open, stays_open)
