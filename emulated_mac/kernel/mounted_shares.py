"""Mounting a share of another host: SMB, NFS and AFP alike."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..gvfs import Session, Share
from ..records import NfsFacts, SmbFacts
from .mounts import Mount, table
from .system_calls import Caller, Kernel, system_call, waiting_system_call

PROC, FLUSHES = Path("/linux/proc"), Path("/linux/run/emulated_mac_smbfs")


class ShareFacts(dict[str, SmbFacts | NfsFacts]):
    """What smbutil and nfsstat print of mounted shares, by mount point."""


@waiting_system_call
def mount_share(
    kernel: Kernel,
    caller: Caller,
    source: str,
    target: str,
    kind: str,
    flags: list[str],
    uri: str,
    password: str,
    smb_conf: str = "",
    facts: SmbFacts | NfsFacts | None = None,
    again: bool = False,
    reserved: bool = False,
) -> None:
    """Mount a share at a folder of the caller. ENOENT, ENOTDIR and EPERM: the mount point cannot be used. EEXIST: the
    caller has mounted this share already and does not ask for a second session (``again``). EKEYREJECTED (a Mac's
    EAUTH): the password is refused. The client runs as the owner of the mount point; root may ask for a port below 1024
    (``reserved``).
    """
    with kernel.lock:
        _check_mount_point(caller, target)
        same = [mount for mount in table(kernel) if (mount.source, mount.type, mount.uid) == (source, kind, caller.uid)]
        if same and not again:
            raise OSError(errno.EEXIST, source)
    owner = Path(target).stat().st_uid
    with _password_refusals(has_passwords=kind != "nfs"):
        session = Session(uri, password, owner, smb_conf, reserved=reserved and caller.uid == 0)
        share = Share(session, target, owner, denied=kernel.fault("tcc-network-volume"))
    if not (PROC / str(caller.pid)).exists():  # the program has ended: undo what it began
        share.unmount(force=True)
        raise OSError(errno.EINTR, target)
    full_sync = bool(facts is not None and facts.get("full_sync"))
    flushes = _note_mount(target, owner, full_sync) if kind == "smbfs" else None
    undo = _undo_of(kernel, share, target, flushes)
    with kernel.lock:
        if facts is not None:
            kernel.part(ShareFacts)[target] = facts
        table(kernel).append(Mount(source, target, kind, tuple(flags), caller.uid, undo))


def _undo_of(kernel: Kernel, share: Share, target: str, flushes: Path | None) -> Callable[[bool], None]:
    """A function that unmounts a share and removes ``flushes``, the file that says how its files are flushed."""

    def undo(force: bool) -> None:
        share.unmount(force)
        kernel.part(ShareFacts).pop(target, None)
        if flushes:
            flushes.unlink(missing_ok=True)

    return undo


@waiting_system_call
def smb_shares(kernel: Kernel, caller: Caller, uri: str, password: str, smb_conf: str) -> list[str]:
    """The names of a server's shares. EKEYREJECTED if the password is refused."""
    with _password_refusals():
        session = Session(uri, password, caller.uid, smb_conf)
    try:
        return session.run("gio", "list", "--print-display-names", uri).split()
    finally:
        session.end()


@system_call
def share_facts(kernel: Kernel, caller: Caller) -> dict[str, SmbFacts | NfsFacts]:
    """What smbutil and nfsstat print of mounted shares, by mount point."""
    return dict(kernel.part(ShareFacts))


@contextmanager
def _password_refusals(has_passwords: bool = True) -> Iterator[None]:
    """Raise EKEYREJECTED instead of EACCES if the protocol ``has_passwords``: the password was refused."""
    try:
        yield
    except OSError as error:
        refused = error.errno == errno.EACCES and has_passwords
        raise OSError(errno.EKEYREJECTED if refused else error.errno, str(error)) from error


def _check_mount_point(caller: Caller, target: str) -> None:
    """Raise ENOENT, ENOTDIR or EPERM: only the owner of a folder, or root, may mount on it (mount(2))."""
    path = Path(target)
    if not path.exists():
        raise OSError(errno.ENOENT, target)
    if not path.is_dir():
        raise OSError(errno.ENOTDIR, target)
    if caller.uid not in (0, path.stat().st_uid):
        raise OSError(errno.EPERM, target)


def _note_mount(target: str, owner: int, full_sync: bool) -> Path:
    """Write what perl/Darwin.pm needs to flush files of a mounted SMB share as smbfs does; returns the mount's file.

    GVfs, which mounts the share, sends no FLUSH. So each FLUSH that a Mac would send becomes a line in ``flushes-UID``
    of the mount's account. The file of the mount has its device number as a name, and tells whether the server has full
    sync.
    """
    FLUSHES.mkdir(mode=0o755, exist_ok=True)
    mount, flushes = FLUSHES / str(os.stat(target).st_dev), FLUSHES / f"flushes-{owner}"  # noqa: PTH116 – as perl's stat
    mount.write_text("full_sync\n" if full_sync else "no_full_sync\n")
    flushes.touch()
    for file in (mount, flushes):
        os.chown(file, owner, -1)
    return mount
