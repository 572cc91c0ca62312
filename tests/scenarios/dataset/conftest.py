"""A SYNTHETIC dataset, and what reads it."""

from support.dataset_fixtures import dataset, engine, made, runs

__all__ = ["dataset", "engine", "made", "runs"]
