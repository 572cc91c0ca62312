"""The ten lines of a run as texts by heading."""

from collections.abc import Sequence
from typing import Any

from lab.report.answer import HEADING, answer
from lab.results import dataframe
from lab.results.run_folder import Trial
from support.synthetic_runs import RUN

COMPLETE = RUN | {"ended": "complete", "sweep_file": "sweeps/demo.toml"}


def answer_of(trials: Sequence[Trial], **changes: Any) -> dict[str, str]:
    """The answer by heading, each on one line."""
    return by_heading(answer(dataframe.frame(trials, COMPLETE | changes), "results/x"))


def by_heading(lines: Sequence[str]) -> dict[str, str]:
    """Each point of an answer, on one line."""
    texts: dict[str, str] = {}
    heading = ""
    for line in lines:
        heading = line[:HEADING].strip() or heading
        texts[heading] = f"{texts.get(heading, '')} {line[HEADING:]}".strip()
    return texts
