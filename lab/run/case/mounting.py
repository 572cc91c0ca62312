"""Mounting a share, and trying again if that failed, or if the mount vanished during a transfer."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from lab.base.errors import CommandError, DeadlineExceeded, LabFailure, SettingRefused
from lab.base.untrusted import first_line
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.settings.changes import Layer, Layers

MOST_TRIES = 3  # gvfsd-afp died in 1 of 8 trials of 512 MiB; three failures in a row have another cause
PAUSE_S = 0.5  # before the next try: a helper or server that has just died takes so long to come back


class Mounting:
    """The layers that mount the share of a case, one for each client, and the tries that failed.

    ``failed`` has the reason of each failed try in this trial. The runner empties it before each trial.
    """

    def __init__(self, layers: Layers):
        self.layers = layers
        self.failed: list[str] = []
        self._mounts = 1  # how many of the uppermost layers

    def set_up(self, needed: Sequence[Layer], mounts: int = 1) -> None:
        """Set up these layers; try the uppermost ``mounts`` up to MOST_TRIES times a trial. Raises the last error."""
        self._mounts = mounts
        while True:
            try:
                self.layers.move(needed)
                return
            except (CommandError, SettingRefused) as error:
                if not self.layers.stands_on(needed[:-mounts]) or not self._may_pass(error):
                    raise
            time.sleep(PAUSE_S)

    def renew(self, renewal: Callable[[], None]) -> bool:
        """Renew the mount; False if that failed, and the mount has to be set up again.

        Raises the error of the renewal if another try is of no use.
        """
        try:
            renewal()
        except (CommandError, SettingRefused) as error:
            if not self._may_pass(error):
                raise
            self.unmount()
            return False
        return True

    def unmount(self) -> None:
        """Take the mounts down."""
        self.layers.drop_uppermost(self._mounts)

    def drop(self, error: LabFailure) -> bool:
        """Unmount what vanished during a transfer, which failed with ``error``; whether to try again."""
        if self._may_pass(error, "gone during the transfer: "):
            self.unmount()
            return True
        return False

    def _may_pass(self, error: LabFailure, when: str = "") -> bool:
        """Note why a try failed; whether another one may succeed. If a remedy is known, only that helps."""
        self.failed.append(when + first_line(error.cause_first(), 300))
        hopeless = error.remedy or isinstance(error, DeadlineExceeded)
        return not hopeless and len(self.failed) < MOST_TRIES


def add_tries(trial: Trial, failed: Sequence[str]) -> Observed:
    """What was observed in a trial, with the number of tries to mount its share if there were several."""
    if not failed:
        return trial.observed
    if trial.status == "failed":
        return replace(trial.observed, mount_tries=len(failed))
    remark = f"the share was mounted at try {len(failed) + 1} only: {'; '.join(dict.fromkeys(failed))}"
    remarks = (*(trial.observed.remarks or ()), remark)
    return replace(trial.observed, mount_tries=len(failed) + 1, remarks=remarks)
