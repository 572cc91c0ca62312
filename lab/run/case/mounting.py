"""Mounting a share, and trying again where that failed, or where the mount was gone in the middle of a transfer."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from lab.base.errors import CommandError, DeadlineExceeded, LabFailure, SettingRefused
from lab.base.untrusted import first_line
from lab.results.observed import Observed
from lab.results.trial import Trial
from lab.settings.layers import Layer, Layers

MOST_TRIES = 3  # gvfsd-afp died in 1 of 8 trials of 512 MiB; what fails three times in a row has another cause
PAUSE_S = 0.5  # before the next try: what a helper or a server that has just died takes to be there again


class Mounting:
    """The layers that mount the share of a case, one for each client, and the tries that failed.

    ``failed`` holds why each failed try of the present trial failed. The runner empties it before each trial.
    """

    def __init__(self, layers: Layers):
        self.layers = layers
        self.failed: list[str] = []
        self._mounts = 1  # how many of the uppermost layers

    def set_up(self, needed: Sequence[Layer], mounts: int = 1) -> None:
        """Set these layers up. If one of the uppermost ``mounts`` fails, try it up to MOST_TRIES times in a trial.
        Raises what the last try raised.
        """
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
        """Do what makes the mount that stands a new one; False where that failed, so that it has to be stood up again.

        Raises what it raised where there is no use in that.
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
        """Take a mount down that went away during a transfer, which failed so; whether it may be stood up again."""
        may_pass = self._may_pass(error, "gone during the transfer: ")
        if may_pass:
            self.unmount()
        return may_pass

    def _may_pass(self, error: LabFailure, when: str = "") -> bool:
        """Note why a try failed; whether another one may not. Where a remedy is known, only that helps."""
        self.failed.append(when + first_line(error.cause_first(), 300))
        hopeless = error.remedy or isinstance(error, DeadlineExceeded)
        return not hopeless and len(self.failed) < MOST_TRIES


def add_tries(trial: Trial, failed: Sequence[str]) -> Observed:
    """What was observed of a trial, with how often its share was mounted and why not at once, where that was so."""
    if not failed:
        return trial.observed
    if trial.status == "failed":
        return replace(trial.observed, mount_tries=len(failed))
    remark = f"the share was mounted at try {len(failed) + 1} only: {'; '.join(dict.fromkeys(failed))}"
    remarks = (*(trial.observed.remarks or ()), remark)
    return replace(trial.observed, mount_tries=len(failed) + 1, remarks=remarks)
