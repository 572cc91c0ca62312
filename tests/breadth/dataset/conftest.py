"""What reads datasets."""

from support.dataset_fixtures import engine

__all__ = ["engine"]
