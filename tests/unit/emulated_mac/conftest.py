"""Fixtures that run programs of an emulated Mac in the test itself."""

from support.emulated_programs import choose, mac

__all__ = ["choose", "mac"]
