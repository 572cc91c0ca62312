"""A place for commands to run in."""

from support.empty_place import empty_place as empty_place
