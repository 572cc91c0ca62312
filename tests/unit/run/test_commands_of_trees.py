"""The command that moves a tree, and that of its second copy, of each tool."""

from __future__ import annotations

import pytest

from lab import workloads
from lab.design.sweep_file import Workload
from lab.hosts import Role
from lab.run.endpoints import Endpoints, Place
from lab.run.transfer import _command

SOURCE, TARGET = "/ram/name", "me@nas:/srv/name"
ENDPOINTS = Endpoints(SOURCE, TARGET, "", Place(Role.CLIENT, SOURCE), Place(Role.SERVER, "/srv/name"))
SHELL = "ssh -p 2"


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
        assert _command(tree, workloads.tool(tool), (tool,), "", ENDPOINTS, SHELL) == words


def test_a_single_file_is_named_as_it_was() -> None:
    words = _command(workloads.payload("file"), workloads.tool("cp"), ("cp",), "", ENDPOINTS, "")
    assert words == ("cp", "--", SOURCE, TARGET)
