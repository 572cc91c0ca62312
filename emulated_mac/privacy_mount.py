"""A mount that nobody may look into: ``Operation not permitted``, as macOS's privacy refuses shares to SSH sessions.

A file system in user space that answers what mount(8) needs and refuses all else. Numbers: fuse_kernel.h.
"""

import errno
import os
import stat
import struct
import subprocess
import threading
from contextlib import suppress

from .linux_programs import environment

INIT, GETATTR, STATFS, ACCESS = 26, 3, 17, 34
NO_REPLY = (2, 36, 42)  # forget, interrupt, batch forget
HEADER = struct.Struct("<IIQQIIII")
REPLY = struct.Struct("<IiQ")
MAX_BYTES = 1 << 18


def mount(target: str, user: int, group: int) -> None:
    """Mount such a file system at ``target``; its thread ends when it is unmounted."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={user},group_id={group},allow_other"
    command = ("/linux/usr/bin/mount", "-i", "-t", "fuse.denied", "-o", options, "denied", target)
    subprocess.run(command, check=True, pass_fds=[device], env=environment())
    threading.Thread(target=_serve, args=(device, user, group), daemon=True).start()


def _serve(device: int, user: int, group: int) -> None:
    while True:
        try:
            request = os.read(device, MAX_BYTES)
        except OSError as error:
            if error.errno == errno.ENODEV:  # unmounted
                os.close(device)
                return
            continue
        _, operation, unique, *_ = HEADER.unpack_from(request)
        if operation not in NO_REPLY:
            code, body = _answer(operation, user, group)
            with suppress(OSError):  # the process that asked may have been killed
                os.write(device, REPLY.pack(REPLY.size + len(body), -code, unique) + body)


def _answer(operation: int, user: int, group: int) -> tuple[int, bytes]:
    if operation == INIT:
        return 0, struct.pack("<4I2HI", 7, 31, 0, 0, 0, 0, 1 << 17) + bytes(40)
    if operation == STATFS:
        return 0, bytes(80)
    if operation == GETATTR:
        mode = stat.S_IFDIR | 0o700
        attributes = struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, mode, 2, user, group, 0, 4096, 0)
        return 0, struct.pack("<QII", 1, 0, 0) + attributes
    return (0 if operation == ACCESS else errno.EPERM), b""  # such a folder may be entered
