"""The size of a payload that takes some time at a link's full speed."""

MIB = 1 << 20
GIGABIT_BYTES_PER_S = 118e6  # of TCP over Gigabit Ethernet with an MTU of 1500
ROOM = 1.05  # a RAM disk holds this many times the payload


def size_for(seconds: float, bytes_per_s: float) -> int:
    """The least power of two, from 1 MiB, that takes so long at this rate: runs on similar links get one size."""
    return 1 << max(MIB - 1, int(seconds * bytes_per_s) - 1).bit_length()


def most_in(space_bytes: float) -> int:
    """The largest payload, in whole MiB, that fits into this space with ROOM to spare."""
    return int(space_bytes / ROOM) // MIB * MIB
