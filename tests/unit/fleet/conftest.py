"""Fleets to try."""

from support.fleets import fast, fleet, stood_in

__all__ = ["fast", "fleet", "stood_in"]
