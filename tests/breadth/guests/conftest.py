"""Guests whose kernel is a process: they boot on every machine."""

import pytest
from support.guests import booted, guests, skip_unless_it_boots

__all__ = ["booted", "guests"]


@pytest.fixture(scope="module")
def backend(root: None) -> str:
    return skip_unless_it_boots("uml")
