"""Fleets to try."""

from support.fleet_fixtures import fast, fleet, stood_in

__all__ = ["fast", "fleet", "stood_in"]
