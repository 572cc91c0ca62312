"""All tables and the JSON of measures that lack little; tests/unit/report/test_share_answer.py has the others."""

from pathlib import Path

import pytest
from support.measures import LACKING, MEASURES, assert_shown_in_full


@pytest.mark.parametrize("name", [name for name in MEASURES if name not in LACKING])
def test_a_measure_with_all_it_can_see_is_shown_in_full_and_as_json(name: str, tmp_path: Path) -> None:
    assert_shown_in_full(name, tmp_path)
