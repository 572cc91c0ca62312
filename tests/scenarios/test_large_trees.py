"""A tree of more files than a command line can name."""

from pathlib import Path
from typing import Any

import pytest
from support.fake_host import EmulatedHost

from lab import workloads
from lab.design.workload import Workload
from lab.hosts import Result


def test_ten_thousand_files_are_made_by_one_command_and_compared_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = EmulatedHost(tmp_path, {}, ("perl",))
    workload = Workload(kind="tree", profile="source-tree", size="90 MiB")
    tree = workloads.payload("tree").of(workload)
    assert tree.files(workload.planned_size) > 10_000
    ran: list[object] = []

    def execute(*words: Any) -> Result:
        ran.append(words)
        return EmulatedHost._execute(host, *words)

    monkeypatch.setattr(host, "_execute", execute)
    tree.make(host, "top", workload.planned_size, "seed")
    tree.check(host, "top", workload.planned_size, "seed")
    assert len(ran) == 2
    assert sum(path.is_file() for path in (tmp_path / "top").rglob("*")) == tree.files(workload.planned_size)
