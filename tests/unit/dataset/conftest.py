"""Two SYNTHETIC runs, and a dataset of both."""

from support.dataset_fixtures import dataset, engine, made, runs

__all__ = ["dataset", "engine", "made", "runs"]
