"""Fleets to try, and what is killed of them."""

from support.fleet_fixtures import fast, fleet, of_berlin

__all__ = ["fast", "fleet", "of_berlin"]
