"""Putting back what ended runs left changed."""
