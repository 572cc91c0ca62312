"""What limited the cases of a sweep in each of its runs, as it was judged when these were added to a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from lab.base.errors import BadInput
from lab.dataset.engine import LONGEST_TEXT, Engine, escape_paths, texts
from lab.dataset.register import AGAIN, Levels
from lab.stats.limit import CERTAIN

LIMITS = ("limited_by", "runs", "certain", "headroom", "evidence")
_QUERY = f"""
SELECT case_number, limited_by, count(*), count(*) FILTER (grade = '{CERTAIN}'), median(headroom),
       arg_max(left(evidence, {LONGEST_TEXT}), block_number)
FROM (SELECT * EXCLUDE (limited_by), {texts("limited_by")} FROM read_parquet(?)) GROUP BY ALL
"""


def count_limits(engine: Engine, paths: Sequence[Path], cases: Mapping[int, Levels]) -> pd.DataFrame:
    """One row a case and limit: in how many runs it was found, in how many of these for certain, the median of what was
    left of it (0 to 1, NaN where unclear), and the evidence in the newest of them.

    ``cases`` are the levels of each case that moved a file, by its number, in the order of the rows; of one case the
    limit that was found most often comes first. Raises BadInput for a case that is not among them.
    """
    answer = engine.rows(_QUERY, [escape_paths(paths)]) if paths else []
    places = {number: place for place, number in enumerate(cases)}
    for number, limited_by, *_, evidence in answer:
        if number not in places:
            raise BadInput(f"{paths[0].parent}: limits of case {number}, of which no run has a trial", AGAIN)
        if limited_by is None or evidence is None:
            raise BadInput(f"{paths[0].parent}: a limit of case {number} without its name or evidence", AGAIN)
    answer.sort(key=lambda row: (places[row[0]], -row[2], -row[3], row[1]))
    rows = [{**cases[number], **dict(zip(LIMITS, found, strict=True))} for number, *found in answer]
    levels = list(next(iter(cases.values()), ()))
    return pd.DataFrame(rows, columns=[*levels, *LIMITS]).astype({"headroom": "float64"})
