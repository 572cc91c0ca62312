"""A disk that is pulled out while in use, and plugged in again: a loop device of no bytes, as the kernel has it. Reads
and writes fail, and the content stays."""

import fcntl
import struct
from pathlib import Path

GET_STATUS, SET_STATUS = 0x4C05, 0x4C04  # LOOP_GET_STATUS64, LOOP_SET_STATUS64 of linux/loop.h
INFO = "<5Q4I64s64s32s2Q"  # struct loop_info64
SIZE_LIMIT = 4  # lo_sizelimit, bytes; 0 for none


def pull(device: str) -> None:
    _limit(device, 1)  # no whole sector
    assert sectors(device) == 0


def plug_in(device: str) -> None:
    _limit(device, 0)
    assert sectors(device) > 0


def sectors(device: str) -> int:
    return int(Path(f"/sys/block/{Path(device).name}/size").read_text())


def _limit(device: str, size_bytes: int) -> None:
    with Path(device).open("rb") as stream:
        info = list(struct.unpack(INFO, fcntl.ioctl(stream, GET_STATUS, bytes(struct.calcsize(INFO)))))
        info[SIZE_LIMIT] = size_bytes
        fcntl.ioctl(stream, SET_STATUS, struct.pack(INFO, *info))
