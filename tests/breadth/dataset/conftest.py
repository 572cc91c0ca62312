"""What reads datasets."""

from support.datasets import engine as engine
