"""What reads datasets."""

from __future__ import annotations

from support.dataset_fixtures import engine

__all__ = ["engine"]
