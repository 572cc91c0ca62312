"""Whether the effects that a sweep asks for are precise enough after so many blocks."""

import math
import statistics
from collections.abc import Sequence

from lab.design import stopping
from lab.design.sweep_file import Sweep
from lab.results import run_folder
from lab.results.run_folder import RunFolder
from lab.results.trial import CEILINGS, Trial


class Precision:
    """The precision of a sweep's ``effects``, or without effects of each case's speed, by the run folder.

    A recorded block does not change, so each is evaluated once.
    """

    def __init__(self, folder: RunFolder, sweep: Sweep, effects: Sequence[str]):
        self.folder, self.sweep, self.effects = folder, sweep, effects
        self._wide: dict[int, list[str]] = {}

    def is_reached(self, blocks: int) -> bool:
        """Whether so many blocks are enough: the intervals of this look and the looks before are narrow."""
        if self.sweep.precision is None:
            return False
        looks = range(max(1, blocks - stopping.LOOKS + 1), blocks + 1)
        return stopping.enough(blocks, [not self._too_wide(look) for look in looks])

    def shortfall(self, blocks: int) -> str:
        """How far the run is from its precision if so many whole blocks are the last; empty if it is reached."""
        if self.sweep.precision is None or (blocks >= self.sweep.blocks and self.is_reached(blocks)):
            return ""
        wide = "; ".join(self._too_wide(blocks)) if blocks else ""
        aim = f"the precision of ± {100 * self.sweep.precision:g} % was not reached in {blocks} blocks"
        return f"{aim}: {wide or f'narrow enough, but not yet at {stopping.LOOKS} looks in a row'}"

    def _too_wide(self, blocks: int) -> list[str]:
        """The effects that are too wide after the first so many blocks."""
        if blocks not in self._wide and self.sweep.precision is not None:
            if self.effects:
                from lab.stats import wide_effects  # pandas and SciPy import slowly, and few sweeps name a precision

                trials = run_folder.load(self.folder.path)
                first = trials[trials["block"] <= blocks]
                self._wide[blocks] = wide_effects(first, self.effects, self.sweep.precision)
            else:
                self._wide[blocks] = wide_speeds(self.folder.trials(), blocks, self.sweep.precision)
        return self._wide[blocks]


def wide_speeds(trials: Sequence[Trial], blocks: int, precision: float) -> list[str]:
    """The cases whose mean speed, on a log scale, is wider than ± ``precision`` after the first so many blocks."""
    logs: dict[str, list[float]] = {}
    for trial in trials:
        if trial.block <= blocks and trial.status == "ok" and trial.protocol not in CEILINGS and trial.elapsed_s:
            logs.setdefault(trial.case_id, []).append(math.log(trial.size_bytes / trial.elapsed_s))
    widths = {
        name: math.expm1(stopping.half_width_factor(len(values)) * statistics.stdev(values))
        if len(values) > 1
        else math.inf
        for name, values in logs.items()
    }
    return [f"{name} ± {100 * width:.0f} %" for name, width in widths.items() if width > precision]
