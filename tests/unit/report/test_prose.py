"""Sentences below tables of effects."""

import pandas as pd
import pytest

from lab.report import prose


@pytest.mark.parametrize(
    ("low", "high", "seen"), [(-10.0, 10.0, "± 11 %"), (-2.0, 2.0, "± 2 %"), (20.0, 30.0, "± 4.1 %")]
)
def test_how_small_a_change_can_be_told_follows_from_the_intervals(low: float, high: float, seen: str) -> None:
    table = pd.DataFrame({
        "p_value": [0.01, 0.5, float("nan")], "moderated_p": [0.02, 0.4, float("nan")], "n_blocks": [3, 3, 3],
        "moderated_low_pct": [low, low, float("nan")], "moderated_high_pct": [high, high, float("nan")],
    })  # fmt: skip
    sentence = prose.chance(table)
    assert sentence.startswith("2 comparisons: about 0.1 of the plain 95 % intervals miss by chance. ")
    assert f"With 3 blocks of this run's noise a change of about {seen} can be seen." in sentence
