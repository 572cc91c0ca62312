"""Share points as sharing(8) changes them: the file servers hear of it at once."""

from __future__ import annotations

import errno
from dataclasses import asdict
from typing import Any

from .. import sharepoints
from ..kernel import Caller, Kernel, call
from ..servers import accounts, afp, smb
from .launchd import jobs, settle


@call
def share_points(kernel: Kernel, caller: Caller) -> list[dict[str, Any]]:
    """All of them."""
    return [asdict(point) for point in sharepoints.read_all()]


@call
def share_point_write(kernel: Kernel, caller: Caller, record: dict[str, Any]) -> None:
    """Add one or replace it."""
    caller.must_be_root()
    sharepoints.write(sharepoints.from_json(record))
    _tell(kernel)


@call
def share_point_remove(kernel: Kernel, caller: Caller, name: str) -> None:
    """Take one away; ENOENT where there is none."""
    caller.must_be_root()
    try:
        sharepoints.remove(name)
    except FileNotFoundError as error:
        raise OSError(errno.ENOENT, name) from error
    _tell(kernel)


@call
def hash_types(kernel: Kernel, caller: Caller) -> list[str]:
    """In which forms the password of the Mac's user is kept."""
    return accounts.hash_types(kernel)


def _tell(kernel: Kernel) -> None:
    """Samba reads its shares again; netatalk is started again, which ends its sessions."""
    for label, daemon in list(jobs(kernel).items()):
        if daemon is not None and label.endswith(".smbd"):
            smb.reload()
        elif daemon is not None and label == "com.apple.AppleFileServer" and afp.write(kernel):
            daemon.stop()
            jobs(kernel)[label] = None
            settle(kernel)
