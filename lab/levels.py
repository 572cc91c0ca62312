"""Factors by name: those of every case, and the options of one protocol's mount, such as ``smb.dialect``."""

from __future__ import annotations

import re

DEFAULT = "default"  # the level of an option that nobody is told
OPTION = re.compile(r"([a-z0-9]+)\.[a-z0-9_]+")
ABSENT = "–"  # what stands for an option of another protocol: it has no level there


def protocol_of(factor: str) -> str:
    """The protocol that an option belongs to; empty for a factor that every case has."""
    found = OPTION.fullmatch(factor)
    return found[1] if found else ""


def crossed(one: str, other: str) -> bool:
    """Whether two factors can be combined: an option cannot with the protocol, nor with one of another protocol."""
    mine, its = protocol_of(one), protocol_of(other)
    return mine == its or not ((mine and its) or "protocol" in (one, other))
