"""The line of a trial that failed: its cause and what to do, and nothing between."""

import pytest

from lab.base.errors import CommandError, TransferError, cause_and_remedy


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (
            CommandError(
                "client", ["mount_nfs", "-o", "vers=3"], 60, "mount_nfs: can't mount: Operation timed out",
                "no answer: is the address right, and its firewall open",
            ).cause_first(),
            "client: mount_nfs: can't mount: Operation timed out"
            " -> no answer: is the address right, and its firewall open",
        ),
        (CommandError("client", ["cp"], 1, "cp: no\ncp: really").cause_first(), "client: cp: no"),
        (TransferError("exit code 1", "look there", host="client").cause_first(), "client: exit code 1: look there"),
        ("", ""),
    ],
)  # fmt: skip
def test_its_cause_and_its_remedy(reason: str, line: str) -> None:
    assert cause_and_remedy(reason) == line
