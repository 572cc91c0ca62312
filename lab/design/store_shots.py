"""How the server's store is measured by itself: tools, repetitions, bytes and seconds."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from lab.design.payload_size import MIB, ROOM

StoreTool: TypeAlias = Literal["dd", "bonnie++", "fio"]
SHOTS = 3  # of dd, each way, as is usual for posted figures
FILES = SHOTS + 2  # at a time: the source of the copies, and one that is not flushed, too
LEAST_BYTES = 128 * MIB  # of a shot; in a smaller one the start of dd would count
MOST_OF_MEMORY = 8  # a shot is at most this part of it, so that its source and unflushed data fit
FIO_S = 10.0  # of random requests each way; a single spindle needs an hour for a gigabyte
# The file of bonnie++, which it writes and reads six times over, if the server's memory is unknown
ASSUMED_BONNIE_BYTES = 32 * 2**30
BONNIE_PASSES = 6
BYTEWISE_PER_S = 1e6  # a system call per byte: 0.2 to 2 MB/s on any disk


def shot_bytes(payload_bytes: int, available_bytes: int | None = None, room_bytes: int | None = None) -> int:
    """Bytes of one shot of dd: a third of the payload, a small one whole, as memory and the smallest store allow."""
    third = -(-payload_bytes // (SHOTS * MIB)) * MIB
    size_bytes = min(payload_bytes, max(third, LEAST_BYTES))
    if room_bytes is not None:
        size_bytes = min(size_bytes, max(MIB, int(room_bytes / ROOM / FILES) // MIB * MIB))
    if available_bytes is None:
        return size_bytes
    return min(size_bytes, max(MIB, available_bytes // MOST_OF_MEMORY // MIB * MIB))


def fio_bytes(payload_bytes: int) -> int:
    """Bytes of the file for random requests: more than a drive's own cache."""
    return max(LEAST_BYTES, shot_bytes(payload_bytes) // MIB * MIB)


def moved_bytes(tools: Sequence[StoreTool], payload_bytes: int, bonnie_bytes: int | None) -> int:
    """About the bytes that the store reads and writes in one block, without those of fio (FIO_S limits them)."""
    dd = 2 * SHOTS + 1 if "dd" in tools else 0  # with the source of the copies
    fio = fio_bytes(payload_bytes) if "fio" in tools else 0
    bonnie = BONNIE_PASSES * (bonnie_bytes or ASSUMED_BONNIE_BYTES) if "bonnie++" in tools else 0
    return dd * shot_bytes(payload_bytes) + fio + bonnie


def seconds(
    tools: Sequence[StoreTool], payload_bytes: int, bonnie_bytes: int | None, bytes_per_s: float, per_byte: bool = True
) -> float:
    """The seconds in a block on a store of ``bytes_per_s``; ``per_byte``: bonnie++ tests single bytes, too."""
    requests_s = 2 * FIO_S if "fio" in tools else 0.0
    bytewise = 2 * (bonnie_bytes or ASSUMED_BONNIE_BYTES) if "bonnie++" in tools and per_byte else 0
    return moved_bytes(tools, payload_bytes, bonnie_bytes) / bytes_per_s + requests_s + bytewise / BYTEWISE_PER_S
