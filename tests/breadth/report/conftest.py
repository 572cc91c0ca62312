"""A place for commands to run in."""

from __future__ import annotations

from support.empty_place import empty_place as empty_place
