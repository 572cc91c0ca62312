"""The lab's folder in a share that is there: what is done if a list shuts out the share's server, too."""

from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock, call

import pytest
from support.pairs import STORE_NAME, pair_of

from lab.hosts import Role
from lab.protocols import Attached, Share
from lab.run.case import sharing

FOLDER = f"/srv/share/{STORE_NAME}"


@pytest.mark.parametrize(
    ("how", "exit_codes", "calls", "stays_open"),
    [
        ("", [0], ["open_folder", "close_folder"], False),
        ("list", [0, 0], ["open_folder", "close_folder", "remove"], False),
        ("list", [0, 1], ["open_folder", "close_folder", "open_folder"], True),
        ("open", [0], ["open_folder", "close_folder"], True),
        ("", [1], ["open_folder", "close_folder"], False),
    ],
)
def test_a_list_that_the_share_does_not_obey_is_removed_with_a_notice(
    how: str, exit_codes: list[int], calls: list[str], stays_open: bool
) -> None:
    """Closing ends ``how``; the client writes through the share with these exit codes, one after the other."""
    files = Mock(close_folder=Mock(return_value=how))
    shell = Mock(side_effect=[SimpleNamespace(exit_code=exit_code) for exit_code in exit_codes])
    pair = pair_of(
        platforms={Role.SERVER: SimpleNamespace(files=files)},
        sides={Role.SERVER: SimpleNamespace(user="you")},
        hosts={Role.CLIENT: SimpleNamespace(shell=shell)},
    )
    share = cast(Share, SimpleNamespace(served_by_lab=False, path="/srv/share"))
    text = sharing.close_to_others(pair, share, FOLDER, Attached("/mnt"))
    assert [made[0] for made in files.mock_calls] == calls
    names = [made.kwargs["given"] for made in shell.call_args_list]
    assert shell.call_args_list == [
        call(sharing.NEW_FILE, f"/mnt/{STORE_NAME}", given=name, check=False) for name in names
    ]
    assert len({name for name in names if name.startswith("file-share-lab-")}) == len(exit_codes)
    assert files.remove.call_args_list == ([call(f"{FOLDER}/{names[1]}")] if "remove" in calls else [])
    assert ("/srv/share stays open" in text, bool(text)) == (stays_open, stays_open)
