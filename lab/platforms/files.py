"""Folders and files on a host, and what its memory keeps of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from lab.base.scripts import read_script
from lab.base.untrusted import count
from lab.hosts.command import Command, script
from lab.hosts.own_folder import OWN_FOLDER
from lab.platforms.part import Part
from lab.settings.operation import Operation
from lab.settings.parameters import OwnFolder
from lab.settings.setting import Setting

Above: TypeAlias = Literal["home", "us", "any"]
MAKE = OWN_FOLDER + read_script(__file__, "own_folder_make.sh")
NEW = read_script(__file__, "own_folder_make.pl")
OPEN = OWN_FOLDER + read_script(__file__, "own_folder_open.sh")
LIST = read_script(__file__, "own_folder_list.sh")
CLOSE = OWN_FOLDER + LIST + read_script(__file__, "own_folder_close.sh")
REOPEN = OWN_FOLDER + LIST + 'go "$1" && [ -O . ] && drop_list && chmod 1777 .'
REMOVE = OWN_FOLDER + read_script(__file__, "own_folder_remove.sh")
# What somebody else put in its place is not the lab's, and is left alone
STATE = OWN_FOLDER + 'if go "$1" && [ -O . ]; then echo present; else echo absent; fi'

COPY = 'umask 022; exec cp -- "$1" "$2"'
READ_ALL = 'find "$1" -type f -exec cat {} + > /dev/null'  # $1 is a file, or a folder of files


@dataclass(frozen=True)
class Folder(Operation):
    """A folder of the lab's own, which is removed with what it holds, not beyond a mount point."""

    kind = "folder"
    values = "absent|present"
    volatile = False
    holds = True

    path: OwnFolder
    """Where it is."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"folder {self.path}"

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return script(STATE, self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(REMOVE, self.path, root=True),)


class Files(Part, ABC):
    """The files of a host. ``forgets`` says whether :meth:`forget` does."""

    forgets: ClassVar[bool] = False

    @abstractmethod
    def drop_caches(self) -> None:
        """Forget file data that is cached in this host's memory, as far as the system can."""

    def check_cold_reads(self) -> None:
        """Raise Unsupported, with what to do, where :meth:`drop_caches` does not make this host read its disk again."""

    def folder(self, path: str, above: Above, account: str, through: str = "", mode: str = "") -> Setting:
        """A new folder of the lab's own; removed with what it holds, not beyond a mount point.

        It is never one that was there: its name is one that nobody can know (:func:`lab.hosts.own_folder.new_name`)
        and that no command has among its words before the folder is there. ``above`` says what may be above it: the
        lab's ``home``, where root makes it for ``account``, which logs in; folders of ``us``, which are root and that
        account; or of ``any`` account, as long as others cannot write into them. Nobody else can enter it, except
        ``through`` it to what is below, as servers do for that account; or as ``mode`` has it.
        """
        others = () if mode or through in ("", account) else (script(OPEN, path, account, through, root=True),)
        mode = mode or ("711" if others else "700")
        is_home = above == "home"
        remedy = (
            ""
            if is_home
            else f"`chmod o-w,g-w` or `chmod +t` there, or give another folder than {path.rpartition('/')[0]}"
        )
        make = script(MAKE, mode, above, account if is_home else "", NEW, root=is_home, given=path)
        return Setting(self.host.name, Folder(path), "present", (make, *others), remedy, before="absent")

    def open_folder(self, path: str) -> None:
        """Let all write into a folder of this account's, until :meth:`close_folder`."""
        self.host.shell(REOPEN, path)

    def close_folder(self, path: str, account: str, proof: str) -> str:
        """Close a folder of ``account``'s that all may write into, to all but it and the owner of the file ``proof``.

        The file lies in the folder, and goes. Without one nobody but that account writes there. An owner without
        a group of its own gets an access control list: returns ``list`` then, or ``open`` where the folder stays open
        because it takes none.
        """
        return self.host.shell(CLOSE, path, account, root=True, given=proof).stdout.strip()

    def free_bytes(self, path: str) -> int:
        """Bytes that are free in the file system that holds ``path``. Raises LabFailure."""
        return self.read(parse_df, "df", "-Pk", "--", path)

    def free_files(self, path: str) -> int | None:
        """How many more files the file system that holds ``path`` takes; None where nothing limits that."""
        return None

    def copy_uncached(self, source: str, target: str, deadline_s: float) -> None:
        """Copy a file so that, where the system can do that, nothing of the new one stays in this host's memory.

        All may read the new one, as far as the file system goes by modes: another client, under another account, may.
        """
        self.host.shell(COPY, source, target, deadline_s=deadline_s)

    def forget(self, path: str, deadline_s: float) -> None:
        """Write out one file and forget what is cached of it, as far as an account can; where it cannot, nothing."""

    def remove(self, *paths: str, root: bool = True) -> None:
        """Remove files that the lab made; a missing one is no error.

        By ``root``, for what a client wrote belongs to whatever account the server keeps for it; through a mount by the
        account that made them.
        """
        self.host.run("rm", "-f", "--", *paths, root=root)

    def remove_folder(self, path: str, deadline_s: float, root: bool = True) -> None:
        """Remove a folder that the lab made, with all in it; as :meth:`remove` otherwise."""
        self.host.run("rm", "-rf", "--", path, root=root, deadline_s=deadline_s)


def parse_df(text: str) -> int:
    """Bytes that are free, of ``df -Pk``. Raises ValueError."""
    return _parse_free(text) * 1024


def parse_df_inodes(text: str) -> int | None:
    """Inodes that are free, of ``df -Pi``; None where the file system makes them as needed. Raises ValueError."""
    return None if re.search(r"\s0\s+0\s+0\s+-\s+/", text) else _parse_free(text)


def _parse_free(text: str) -> int:
    match = re.search(r"\s([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+%|-)\s+/", text)  # a device may have spaces
    if not match:
        raise ValueError("no line with the free space")
    return count(match[3])
