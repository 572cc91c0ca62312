"""How large a payload is that takes some time at a link's full speed."""

from __future__ import annotations

MIB = 1 << 20
GIGABIT_BYTES_PER_S = 118e6  # most that TCP moves over Gigabit Ethernet with an MTU of 1500
ROOM = 1.05  # a RAM disk is to hold so many times the payload


def size_for(seconds: float, bytes_per_s: float) -> int:
    """The least power of two, in bytes and 1 MiB or more, that takes so long at this rate.

    A power of two, so that runs on one kind of link have one size, and can be compared.
    """
    return 1 << max(MIB - 1, int(seconds * bytes_per_s) - 1).bit_length()


def most_in(space_bytes: float) -> int:
    """The largest payload of whole MiB that fits into so much space with room to spare."""
    return int(space_bytes / ROOM) // MIB * MIB
