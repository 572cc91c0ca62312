"""The check of this machine's files: who may write the hosts file, and whether the share's password is there."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path

from lab.base.errors import BadInput
from lab.check.finding import Finding, of_error
from lab.hosts import passwords
from lab.hosts.hosts_file import Hosts


def findings(config: Hosts, path: Path) -> Iterator[Finding]:
    """Findings about the hosts file and what it refers to."""
    yield from _check_permissions(path)
    yield from _check_password(config)


def _check_permissions(path: Path) -> Iterator[Finding]:
    """Whether others may write the hosts file, whose proxy_command the lab runs."""
    why = "whoever changes it can run commands here, by proxy_command"
    status, folder = path.stat(), path.absolute().parent
    if status.st_uid not in (0, os.geteuid()):
        chown = shlex.join(["sudo", "chown", str(os.geteuid()), str(path)])
        message = f"{path} belongs to another user (uid {status.st_uid}): {why}"
        yield Finding("warning", "hosts file", message, f"`{chown}`")
    if status.st_mode & stat.S_IWOTH:
        yield Finding("warning", "hosts file", f"{path} can be written by others: {why}", _chmod("o-w", path))
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        message = f"{folder} can be written by others, and so {path} be replaced: {why}"
        yield Finding("warning", "hosts file", message, _chmod("o-w", folder))


def _chmod(mode: str, path: Path) -> str:
    return f"`{shlex.join(['chmod', mode, str(path)])}`"


def _check_password(config: Hosts) -> Iterator[Finding]:
    """Whether a run will get the share's password, for sources that ask nobody."""
    share = config.share
    if share.password == "prompt":  # noqa: S105 – the name of a source of passwords
        yield Finding("ok", "share password", "asked for at the start of every run")
    if not share.password.startswith(("env:", "file:")):
        return
    try:
        passwords.resolve(share.password, share.account, f"{config.place}[share] password")
    except BadInput as error:
        yield of_error("problem", "share password", error)
    else:
        yield Finding("ok", "share password", f"comes from {share.password}")
