"""The command that moves a tree, and that of its second copy, of each tool."""

import pytest

from lab import workloads
from lab.design.workload import Workload
from lab.run.transfer.tool_call import call_for
from lab.workloads import Move, Payload

SOURCE, TARGET = "/ram/name", "me@nas:/srv/name"
SHELL = "ssh -p 2"


def words_of(payload: Payload, name: str, shell: str) -> tuple[str, ...]:
    tool = workloads.tool(name)
    call, source = call_for(payload, tool, (name,), SOURCE)
    return tool.argv(call, "", Move(source=source, target=TARGET, size_bytes=1 << 20, remote_shell=shell))


@pytest.mark.parametrize(
    ("tool", "first", "second"),
    [
        ("cp", ("cp", "-R", "--", "/ram/name/.", TARGET), ("cp", "-R", "--", "/ram/name/.", TARGET)),
        (
            "rsync",
            ("rsync", "-r", "-W", "--inplace", "-e", SHELL, "--", "/ram/name/", TARGET),
            ("rsync", "-r", "-t", "-W", "--inplace", "-e", SHELL, "--", "/ram/name/", TARGET),
        ),
        ("ditto", ("ditto", "/ram/name/", TARGET), ("ditto", "/ram/name/", TARGET)),
    ],
)
def test_what_is_in_the_folder_goes_into_one_of_the_same_name(
    tool: str, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    for changed, words in ((None, first), (0.01, second)):
        workload = Workload.model_validate({"kind": "tree", "profile": "mail", "size": "1 MiB", "changed": changed})
        tree = workloads.payload("tree").of(workload)
        assert words_of(tree, tool, SHELL) == words


def test_a_single_file_is_named_as_it_was() -> None:
    assert words_of(workloads.payload("file"), "cp", "") == ("cp", "--", SOURCE, TARGET)
