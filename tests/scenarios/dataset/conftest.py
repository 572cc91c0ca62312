"""A SYNTHETIC dataset, and what reads it."""

from support.datasets import dataset, engine, made, runs

__all__ = ["dataset", "engine", "made", "runs"]
