"""mount(2) and umount2(2) of the Linux below, which Python lacks."""

import ctypes
import os

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_NOATIME, MS_BIND = 1, 2, 4, 8, 32, 1024, 4096
MNT_DETACH = 2
FLAGS = {
    "read-only": MS_RDONLY, "nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": MS_NOEXEC, "noatime": MS_NOATIME,
}  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def mount_memory(target: str, size_bytes: int) -> None:
    """Mount a file system in memory. Raises OSError."""
    data = f"size={size_bytes},mode=755".encode()
    _check(_libc.mount(b"tmpfs", os.fsencode(target), b"tmpfs", 0, data))


def bind_mount(source: str, target: str, flags: tuple[str, ...]) -> None:
    """Bind a folder to ``target`` with the flags of a Mac's mount that Linux has, too. Raises OSError."""
    _check(_libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND, None))
    bits = sum(FLAGS.get(flag, 0) for flag in flags)
    if bits:
        _check(_libc.mount(None, os.fsencode(target), None, MS_REMOUNT | MS_BIND | bits, None))


def unmount(target: str, force: bool) -> None:
    """Unmount; with ``force`` also a mount in use, which ends with its last user. Raises OSError (EBUSY).

    umount(8) cannot do this, because it reads /proc, which a Mac lacks.
    """
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH if force else 0))
