"""How many generated examples a test gets, where each is dear or few do."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def at_most(count: int, **more: Any) -> settings:
    """So many examples, or as few as the profile says: what reads untrusted input names its number by itself."""
    return settings(max_examples=min(count, settings().max_examples), **more)
