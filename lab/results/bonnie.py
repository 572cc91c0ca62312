"""What bonnie++ measured of a store: the key ``bonnie`` of what was observed."""

from dataclasses import dataclass

from lab.results.json_object import JsonObject


@dataclass(frozen=True, kw_only=True)
class BonnieTest(JsonObject):
    """One test of bonnie++. A test that was too short has no rate."""

    bytes_per_s: int | None = None  #: Bytes per second, in a test that moves bytes.
    per_s: float | None = None  #: Seeks or files per second, in any other test.
    cpu: float | None = None  #: Share of one core's time; more than 1 is several processes.
    longest_ms: float | None = None  #: Its longest operation, in milliseconds.
    too_short: bool | None = None
    """True if bonnie++ prints `+++++`: it ended within half a second, too soon for a rate."""


@dataclass(frozen=True, kw_only=True)
class Bonnie(JsonObject):
    """All that bonnie++ reports of a store. A test that was not run is absent."""

    version: str | None = None  #: The version of bonnie++, such as ``2.00a``.
    file_bytes: int | None = None  #: Bytes of the file of its first six tests.
    cached: bool | None = None
    """Whether that is less than twice the server's memory: then the tests measure memory, too."""
    files: int | None = None  #: Empty files of the other six tests.
    write_char: BonnieTest | None = None  #: Written byte by byte.
    write_block: BonnieTest | None = None  #: Written in blocks of 8 KiB.
    rewrite: BonnieTest | None = None  #: Read, changed and written back, block by block.
    read_char: BonnieTest | None = None  #: Read byte by byte.
    read_block: BonnieTest | None = None  #: Read in blocks of 8 KiB.
    seeks: BonnieTest | None = None  #: Blocks read at random places by five processes; a tenth is written back.
    create: BonnieTest | None = None  #: Files made in the order of their names.
    stat: BonnieTest | None = None  #: The same looked at.
    delete: BonnieTest | None = None  #: The same removed.
    random_create: BonnieTest | None = None  #: Files made in random order.
    random_stat: BonnieTest | None = None  #: The same looked at.
    random_delete: BonnieTest | None = None  #: The same removed.
    line: str | None = None  #: The line as bonnie++ printed it.
