"""What holds for every unit test."""

import os

import pandas as pd
import pytest

# With pyarrow, which a few commands need, pandas keeps text in its arrays; without it, as Python's, which is faster for
# small tables and what a plain install has. The commands of the scenarios have the former
pd.set_option("mode.string_storage", "python")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test writes need not outlive a power cut. To wait for a busy disk can take longer than the test."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
