"""How the server's store is measured by itself: with which tools, how often, how many bytes, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from lab.design.payload_size import MIB, ROOM

StoreTool: TypeAlias = Literal["dd", "bonnie++", "fio"]
SHOTS = 3  # of dd, each way: what people who post figures of a disk have always taken
FILES = SHOTS + 2  # that lie there together: what they are copied from, and one that is not flushed
LEAST_BYTES = 128 * MIB  # of a shot of a larger payload: below, starting dd would be a part of the time
MOST_OF_MEMORY = 8  # a shot is at most this part of it, so that its source, and what is not flushed, stay there
FIO_S = 10.0  # of random requests each way: a single spindle would need an hour for a gigabyte of them
# Where nobody knows the server's memory: what its bonnie++ writes and reads at 60 MB/s, six times over
ASSUMED_BONNIE_BYTES = 32 * 2**30
BONNIE_PASSES = 6
BYTEWISE_PER_S = 1e6  # a system call a byte: 0.2 to 2 MB/s were seen, whatever the disk


def shot_bytes(payload_bytes: int, available_bytes: int | None = None, room_bytes: int | None = None) -> int:
    """Bytes of one shot of dd: a third of the payload, so that all take about as long as the payload takes by itself.

    A small payload is written whole. ``available_bytes`` of memory bound it, and ``room_bytes`` of the smallest store.
    """
    third = -(-payload_bytes // (SHOTS * MIB)) * MIB
    size_bytes = min(payload_bytes, max(third, LEAST_BYTES))
    if room_bytes is not None:
        size_bytes = min(size_bytes, max(MIB, int(room_bytes / ROOM / FILES) // MIB * MIB))
    if available_bytes is None:
        return size_bytes
    return min(size_bytes, max(MIB, available_bytes // MOST_OF_MEMORY // MIB * MIB))


def fio_bytes(payload_bytes: int) -> int:
    """Bytes of the file that random requests go to: so many that they do not all meet what a drive has in memory."""
    return max(LEAST_BYTES, shot_bytes(payload_bytes) // MIB * MIB)


def moved_bytes(tools: Sequence[StoreTool], payload_bytes: int, bonnie_bytes: int | None) -> int:
    """Bytes that the store takes and gives in one block, about; those of fio are a matter of time (FIO_S)."""
    dd = 2 * SHOTS + 1 if "dd" in tools else 0  # with what dd copies from
    of_fio = fio_bytes(payload_bytes) if "fio" in tools else 0
    bonnie = BONNIE_PASSES * (bonnie_bytes or ASSUMED_BONNIE_BYTES) if "bonnie++" in tools else 0
    return dd * shot_bytes(payload_bytes) + of_fio + bonnie


def seconds(
    tools: Sequence[StoreTool],
    payload_bytes: int,
    bonnie_bytes: int | None,
    bytes_per_s: float,
    per_byte: bool = True,
) -> float:
    """How long all of it takes in a block, on a store of so many bytes a second; ``per_byte``: bonnie++ in full."""
    requests_s = 2 * FIO_S if "fio" in tools else 0.0
    bytewise = 2 * (bonnie_bytes or ASSUMED_BONNIE_BYTES) if "bonnie++" in tools and per_byte else 0
    return moved_bytes(tools, payload_bytes, bonnie_bytes) / bytes_per_s + requests_s + bytewise / BYTEWISE_PER_S
