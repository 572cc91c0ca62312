"""What ended a measurement, in the words of whoever typed its target: the share, account, folder and server."""

import re
from collections.abc import Iterator
from pathlib import Path

from lab.base.addresses import for_url
from lab.base.errors import CommandError, DeadlineExceeded, HostError, LabError, LabFailure, RestoreError, TransferError
from lab.base.untrusted import one_line
from lab.hosts import Role
from lab.measure.subject import Subject
from lab.measure.target import Url
from lab.platforms import Platform
from lab.protocols import find
from lab.protocols.mounts.gvfs import NO_SHARE
from lab.run.begin.payload_size import PILOT_BYTES
from lab.run.case.sharing import FolderRefused, MountFailed
from lab.run.transfer.part import IS_FULL, NoSpace
from lab.settings.parameters import OWN_FOLDER

REFUSED, NO_ANSWER = 77, 124  # exit codes of gvfs_mount.sh; the first of prompt.pl, too
# An export that is for other machines, or for ports that only root may use, as GVfs says it
NFS_REFUSES = re.compile("(Bad address|Permission denied|Operation not permitted)$", re.MULTILINE)
IS_READ_ONLY = re.compile("Permission denied|Read-only file system|Operation not permitted")
# The connection is gone, as the C library, GVfs and smbfs of a Mac say it
BROKE_OFF = re.compile(
    "Software caused connection abort|Connection (reset by peer|refused|timed out)|Broken pipe|Input/output error|"
    "Transport endpoint is not connected|Socket is not connected|Host is down|No route to host|Stale file handle"
)
OWN_PATH = re.compile(
    rf"""(?P<quote>['"])/(?:(?!(?P=quote)|\n).)*{OWN_FOLDER}(?:(?!(?P=quote)|\n).)*(?P=quote)"""
    rf"|/\S*{OWN_FOLDER}(?:(?!: ).)*"
)
# The process of GVfs that logs in has ended
CRASHED = re.compile("disconnected from message bus")


def in_words_of_user(
    target: str, subject: Subject, platform: Platform, error: LabFailure, needed_bytes: int = PILOT_BYTES
) -> LabFailure:
    """The same failure in words about the target as it was typed; its log has the raw text.

    ``needed_bytes`` is the room that the test takes in the share.
    """
    if isinstance(error, RestoreError):  # it has commands to type, and says itself what came first
        return error
    message, remedy = _describe(subject, platform, error, needed_bytes)
    start = f"{one_line(target, 200)}: "
    failure = LabFailure(message if message.startswith(start) else f"{start}{message}", remedy)
    failure.log = next(_logs(error), None)
    return failure


def _describe(subject: Subject, platform: Platform, error: LabFailure, needed_bytes: int) -> tuple[str, str]:
    """What happened, and what to do."""
    if told := _kept_out(subject, platform, error):
        return told
    if isinstance(error, DeadlineExceeded):
        return f"{_server(subject)} did not answer in {error.deadline_s:g} s", "is it up, and its disk awake? Try again"
    if isinstance(error, MountFailed):
        return _describe_mount(subject, platform, error)
    text = error.output if isinstance(error, CommandError) else error.message
    if not isinstance(error, CommandError | TransferError):
        return _describe_host(subject, error, text)
    if isinstance(error, NoSpace) or (isinstance(error, CommandError) and IS_FULL.search(text)):
        message = f"{_share(subject)} is full, or a quota is reached: a test needs {needed_bytes / 1e6:.0f} MB"
        return message, "make room there, or let the server's owner raise the quota"
    if isinstance(error, FolderRefused) and IS_READ_ONLY.search(text):
        message = f"{_account(subject)} may not write into {_place(subject)}"
        if subject.protocol == "nfs":
            return message, "is it read-only? For NFS an account is its number, which `id -u` shows: let that one write"
        return message, "is it read-only in the server's settings? Else use an account or a folder that may write"
    if not _answers(subject, platform):
        port = f"port {find(subject.protocol).port} ({subject.protocol.upper()})"
        message = f"{_server(subject)} no longer answers at {port}"
        return message, "is it up, does its file server run, and is the network there? Then try again"
    if BROKE_OFF.search(text):
        message = f"the connection to {_server(subject)} broke off in the middle of a test"
        return message, "try again; if it breaks off again, look at the server's log"
    return f"the test failed: {_reason(error)}", error.remedy


def _describe_host(subject: Subject, error: LabFailure, text: str) -> tuple[str, str]:
    """An error of this machine or of the login on the server, which may be no login if the target is a name alone."""
    if subject.protocol == "ssh" and error.host == Role.SERVER:
        share = f" (a share is //{for_url(subject.server)}/SHARE)" if type(error) is HostError else ""
        return text, f"{error.remedy}{share}"
    place = {"client": "this machine: ", "server": "server: "}.get(error.host, "")
    return f"{place}{text}", error.remedy


def _describe_mount(subject: Subject, platform: Platform, error: CommandError) -> tuple[str, str]:
    server, account, port = _server(subject), _account(subject), find(subject.protocol).port
    if error.exit_code == REFUSED:
        other = f"{Url(subject.protocol, subject.server, subject.share, user='ACCOUNT')} names another account"
        message = f"the password was refused for {account}, or {account} may not use {_share(subject)}"
        remedy = f"are the account and its password right? {other}"
        return message, (platform.name == "macos" and error.remedy) or remedy
    if subject.protocol == "nfs" and NFS_REFUSES.search(error.output):
        message = f"{server} refuses its export {one_line(subject.share, 200)} to this machine, or to all but root"
        remedy = "allow ports above 1023 for it (`insecure`; on a NAS: non-privileged ports), or mount it as root"
        return message, error.remedy or f"{remedy} and give the folder"
    if re.search(NO_SHARE, error.output, re.MULTILINE):
        if platform.name == "linux" and subject.protocol == "smb" and subject.share.lower() != subject.share.casefold():
            message = f"GVfs, which mounts it on this machine, cannot ask for {_share(subject)}: it writes ß as ss"
            return message, "mount the share by another program, and give its folder"
        if subject.protocol == "nfs":
            remedy = f"`showmount -e {subject.server}` lists what it exports by NFSv3; may this machine use that one?"
            return f"{server} has no export {one_line(subject.share, 200)}, and no such folder in one", remedy
        remedy = "write it as in the server's settings, with its capitals; may this account use it?"
        return f"{server} has no share {one_line(subject.share, 200)}, or hides it from {account}", remedy
    if error.exit_code == NO_ANSWER:
        message = f"{server} takes connections at port {port}, and did not answer in 60 s"
        return message, f"does an {subject.protocol.upper()} server listen there, and is its disk awake? Try again"
    if CRASHED.search(error.output):
        message = f"GVfs, which mounts it on this machine, broke off when it logged in as {account}"
        return message, "are the account and its password right? Else try again, or mount the share and give its folder"
    if BROKE_OFF.search(error.output) and not error.remedy:
        message = f"{server} hung up when the share was mounted"
        remedy = f"does an {subject.protocol.upper()} server listen at port {port}, and no other program?"
        return message, f"{remedy} Does it let this machine in, and speak a version that this machine knows?"
    remedy = "does the server let this machine in? Can another program of this machine mount it?"
    return f"it cannot be mounted: {_reason(error)}", error.remedy or remedy


def _kept_out(subject: Subject, platform: Platform, error: LabFailure) -> tuple[str, str] | None:
    """The privacy of this system, if it is the likely cause: an access was not permitted, or blocked."""
    if not isinstance(error, CommandError) or error.host != Role.CLIENT or subject.protocol == "ssh":
        return None
    if isinstance(error, DeadlineExceeded):
        return platform.mounts.kept_out(_share(subject)) if _answers(subject, platform) else None
    return platform.mounts.kept_out(_share(subject), error.output or " ")


def _answers(subject: Subject, platform: Platform) -> bool:
    """Whether the server takes connections now; True if that cannot be asked."""
    try:
        return platform.network.answers(subject.address, find(subject.protocol).port)
    except LabFailure:
        return True


def _server(subject: Subject) -> str:
    return f"the server {one_line(subject.server, 80)}"


def _share(subject: Subject) -> str:
    name = subject.share or subject.mounted
    return f"the share {one_line(name, 200)}" if name else _server(subject)


def _place(subject: Subject) -> str:
    return f"the folder {one_line(subject.folder, 200)} of {_share(subject)}" if subject.folder else _share(subject)


def _account(subject: Subject) -> str:
    return one_line(subject.account, 80) if subject.account and subject.protocol != "nfs" else "this account"


def _reason(error: LabFailure) -> str:
    """The last line of a command's output, or the message."""
    text = error.output if isinstance(error, CommandError) else error.message
    return one_line(without_own_paths(text.rstrip().rpartition("\n")[2] or error.cause()))


def without_own_paths(text: str) -> str:
    """The text with a word for each file of the lab's own: in quotes, or up to the next colon with a blank."""
    return OWN_PATH.sub("a file of the test", text)


def _logs(error: BaseException | None) -> Iterator[Path]:
    """The log of an error, or of what led to it."""
    while error is not None:
        if isinstance(error, LabError) and error.log:
            yield error.log
        error = error.__cause__
