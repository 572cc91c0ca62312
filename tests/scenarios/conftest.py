"""Hosts that several files of scenarios share."""

from __future__ import annotations

from support.measure_scene import one_scene, scene
from support.unseen_server import served, unseen

__all__ = ["one_scene", "scene", "served", "unseen"]
