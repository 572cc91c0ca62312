"""Share points, which sharing(8) changes; a change reaches the file servers at once."""

import errno

from ..records import SharePointRecord
from ..servers import accounts, afp, smb
from ..share_points import from_record, read_all, remove, to_record, write
from .launchd import jobs, settle
from .system_calls import Caller, Kernel, system_call


@system_call
def share_points(kernel: Kernel, caller: Caller) -> list[SharePointRecord]:
    """All share points."""
    return [to_record(point) for point in read_all()]


@system_call
def share_point_write(kernel: Kernel, caller: Caller, record: SharePointRecord) -> None:
    """Add a share point, or replace the share point of the same name."""
    caller.must_be_root()
    write(from_record(record))
    _update_servers(kernel)


@system_call
def share_point_remove(kernel: Kernel, caller: Caller, name: str) -> None:
    """Remove a share point. ENOENT if it does not exist."""
    caller.must_be_root()
    try:
        remove(name)
    except FileNotFoundError as error:
        raise OSError(errno.ENOENT, name) from error
    _update_servers(kernel)


@system_call
def hash_types(kernel: Kernel, caller: Caller) -> list[str]:
    """The kinds of hashes of the Mac user's password."""
    return accounts.hash_types(kernel)


def _update_servers(kernel: Kernel) -> None:
    """Let Samba read its shares again, and restart netatalk, which ends its sessions."""
    for label, daemon in list(jobs(kernel).items()):
        if daemon is not None and label.endswith(".smbd"):
            smb.reload()
        elif daemon is not None and label == "com.apple.AppleFileServer" and afp.write_config(kernel):
            daemon.stop()
            jobs(kernel)[label] = None
            settle(kernel)
