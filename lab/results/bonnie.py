"""What bonnie++ measured of a store: the key ``bonnie`` of what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class BonnieTest(JsonObject):
    """One test of bonnie++. It has neither rate where it was too short for one."""

    bytes_per_s: int | None = None
    """Of a test that moves bytes: how many a second."""
    per_s: float | None = None
    """Of any other test: how many seeks, or files, a second."""
    cpu: float | None = None
    """Share of one core's time that it took; more than 1 are several processes."""
    longest_ms: float | None = None
    """What its longest operation took, in milliseconds."""
    too_short: bool | None = None
    """True where bonnie++ says `+++++`: it ended within half a second, and its rate is no number."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""


@dataclass(frozen=True, kw_only=True)
class Bonnie(JsonObject):
    """All that bonnie++ says of a store. A test that was not run is absent."""

    version: str | None = None
    """Of bonnie++, such as ``2.00a``."""
    file_bytes: int | None = None
    """Bytes that its first six tests work on."""
    cached: bool | None = None
    """Whether these are less than twice the server's memory: then memory answers, not the disk alone."""
    files: int | None = None
    """How many empty files the other six tests work on."""
    write_char: BonnieTest | None = None
    """Written byte by byte."""
    write_block: BonnieTest | None = None
    """Written in blocks of 8 KiB."""
    rewrite: BonnieTest | None = None
    """Read, changed and written back, block by block."""
    read_char: BonnieTest | None = None
    """Read byte by byte."""
    read_block: BonnieTest | None = None
    """Read in blocks of 8 KiB."""
    seeks: BonnieTest | None = None
    """Blocks read at random places by five processes, of which a tenth is written back."""
    create: BonnieTest | None = None
    """Files made, in the order of their names."""
    stat: BonnieTest | None = None
    """The same looked at."""
    delete: BonnieTest | None = None
    """The same removed."""
    random_create: BonnieTest | None = None
    """Files made, in no order."""
    random_stat: BonnieTest | None = None
    """The same looked at."""
    random_delete: BonnieTest | None = None
    """The same removed."""
    line: str | None = None
    """The line as bonnie++ printed it."""
    other: Mapping[str, object] = field(default_factory=dict)
    """Keys of another version of the lab."""
