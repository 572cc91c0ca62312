"""Fleets to try, and a Dask cluster for them."""

from support.dask_cluster import berlin_fleet
from support.fleets import fast, fleet, stood_in

__all__ = ["berlin_fleet", "fast", "fleet", "stood_in"]
