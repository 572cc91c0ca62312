"""`lab restore`: put back what an interrupted run left changed."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lab.base.errors import BadInput, LabFailure
from lab.cli.terminal import RESULTS
from lab.local import state

if TYPE_CHECKING:
    from collections import Counter

    from lab.results.run_folder import RunFolder


def run(arguments: argparse.Namespace) -> int:
    """Replay every open journal. Raises LabFailure, at the end, for what could not be put back."""
    from lab.run import restore

    folders, problems = restore.open_journals(RESULTS, arguments.hosts)
    done = []
    for folder in reversed(folders):
        try:
            if _is_gone(folder):
                done.append(
                    f"{folder.path}: {restore.forget(folder)} changes went with the local lab that they were made on"
                )
            else:
                done.append(f"{folder.path}: {_describe(restore.by_journal(folder, arguments.hosts))}")
        except (BadInput, LabFailure, OSError) as error:  # one run must not keep the others from theirs
            problems.append(f"{folder.path}: {error}")
    if arguments.hosts:
        try:
            if (count := restore.by_hosts(arguments.hosts))["changes"]:
                done.append(f"{arguments.hosts}: {_describe(count)}, by what the hosts had noted")
        except LabFailure as error:
            problems.append(f"{arguments.hosts}: {error}")
    for line in done or ([] if problems else ["nothing is left to put back"]):
        print(line)
    if problems:
        raise LabFailure("\n".join(problems))
    return 0


def _describe(count: Counter[str]) -> str:
    restarted = f" ({count['restarted']} of them by a restart of the host)" if count["restarted"] else ""
    changes = count["changes"]
    return f"{changes} {'change' if changes == 1 else 'changes'} put back{restarted}"


def _is_gone(folder: RunFolder) -> bool:
    """Whether the run's hosts were those of a local lab that is no longer up: its end undid everything."""
    instance = folder.run.get("instance")
    if instance is None:
        return False
    lab = state.load(instance.partition("/")[0])  # no other lab is loaded, whose state may be damaged
    return lab is None or not lab.supervisor.alive() or f"{lab.name}/{lab.instance}" != instance
