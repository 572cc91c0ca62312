"""What the lab takes for granted about a system and no source proves, and how a host can be asked about it."""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int]


@dataclass(frozen=True)
class Assumption:
    """Something that the lab rests on, ``since`` one version of a system and ``before`` another.

    ``ask`` is a script for ``/bin/sh`` that changes nothing: ``$1`` is the data interface, ``$2`` the other host's
    address, ``$3`` the account that logs in. ``expected`` is a regular expression that is found in what it prints,
    standard error included, where it is as assumed. Without an ``ask`` only a run shows it, and ``expected`` says how.
    ``source`` is why it is assumed.
    """

    what: str
    ask: str
    expected: str
    source: str
    root: bool = False
    since: Version = (0, 0)
    before: Version = (1000, 0)

    def holds_for(self, version: Version) -> bool:
        """Whether it is about systems of this version."""
        return self.since <= version < self.before
