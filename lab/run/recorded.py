"""The trials of a run as they come: each is appended to the run folder, and none is measured twice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from lab.results.run_folder import RunFolder, Trial


def now() -> str:
    """The time of the controller's clock, as ``started_at`` of a trial has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Recorded:
    """The trials that a run folder holds, by id. ``not_ok`` counts those added here that are failed or void."""

    def __init__(self, folder: RunFolder):
        self.folder = folder
        self.not_ok = 0
        self._trials = {trial.trial_id: trial for trial in folder.trials()}

    def __contains__(self, trial_id: str) -> bool:
        return trial_id in self._trials

    def get(self, trial_id: str) -> Trial | None:
        """The trial of this id; None where it was not run yet."""
        return self._trials.get(trial_id)

    def add(self, trial: Trial) -> None:
        """Append a trial."""
        self.folder.append(trial)
        self._trials[trial.trial_id] = trial
        self.not_ok += trial.status != "ok"

    def missing(self, ids: Mapping[str, str]) -> dict[str, str]:
        """Those of some ids, by direction, that were not run yet."""
        return {direction: trial_id for direction, trial_id in ids.items() if trial_id not in self._trials}
