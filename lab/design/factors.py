"""The factors of a sweep: those of every case and the options of a mount (``smb.signing``); their levels, in order."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from lab.base.units import UNITS, parse_size

PROMISES = ("async", "sync", "always")  # of a server about written data, the least first
# What a sweep may vary beside its six factors, and the level that holds where it does not say; text in every file.
# ``placebo`` changes nothing: what it seems to change is how far a comparison can be trusted.
OPTIONS = {"server_sync": "default", "client_sync": "fsync", "server_cache": "warm", "placebo": "none"}


def rank(level: str) -> tuple[bool, tuple[int, ...], str]:
    """What levels that are text are sorted by: versions (``3.0.2``) and sizes (``64 KiB``) as such, then words.

    Of words, those of ``server_sync`` come last, the one that promises least first: every protocol has that.
    """
    number, _, unit = level.partition(" ")
    if unit in UNITS and re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,18})*", number):
        return False, tuple(UNITS[unit] * int(part) for part in number.split(".")), ""
    return True, (PROMISES.index(level),) if level in PROMISES else (), level


def _space(value: Any) -> int | str:
    return "default" if value == "default" else parse_size(value)


TcpSpace = Annotated[int | Literal["default"], BeforeValidator(_space)]

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


FACTORS = ("protocol", "tool", "direction", "mtu", "tcp_space", "store")
