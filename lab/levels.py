"""Factors by name: those of every case, and the options of one protocol's mount, such as ``smb.dialect``."""

from __future__ import annotations

DEFAULT = "default"  # the level of an option that nobody is told
ABSENT = "–"  # what stands for an option of another protocol: it has no level there


def protocol_of(factor: str) -> str:
    """The protocol that an option belongs to; empty for a factor that every case has."""
    return factor.partition(".")[0] if "." in factor else ""


def crossed(one: str, other: str) -> bool:
    """Whether two factors can be combined: an option cannot with the protocol, nor with one of another protocol."""
    mine, its = protocol_of(one), protocol_of(other)
    return mine == its or not ((mine and its) or "protocol" in (one, other))
