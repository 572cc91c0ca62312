"""A lab that measures how fast a file share is between two machines, and what holds it back."""

__version__ = "0.1.0"
