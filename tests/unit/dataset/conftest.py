"""Two SYNTHETIC runs, and a dataset of both."""

from __future__ import annotations

from support.dataset_fixtures import dataset, engine, made, runs

__all__ = ["dataset", "engine", "made", "runs"]
