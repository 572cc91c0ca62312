"""Two SYNTHETIC runs, and a dataset of both."""

from support.datasets import another, dataset, engine, made, runs

__all__ = ["another", "dataset", "engine", "made", "runs"]
