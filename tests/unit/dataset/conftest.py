"""Two SYNTHETIC runs, and a dataset of both."""

from support.dataset_fixtures import another, dataset, engine, made, runs

__all__ = ["another", "dataset", "engine", "made", "runs"]
