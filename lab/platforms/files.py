"""Folders and files on a host, and what its memory keeps of them."""

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
# A folder that somebody else put in its place is not the lab's, and is left alone
STATE = OWN_FOLDER + 'if go "$1" && [ -O . ]; then echo present; else echo absent; fi'

COPY = 'umask 022; exec cp -- "$1" "$2"'
READ_ALL = 'find "$1" -type f -exec cat {} + > /dev/null'  # $1 is a file, or a folder of files


@dataclass(frozen=True)
class Folder(Operation):
    """A folder of the lab's own, which is removed with its content, but not beyond a mount point."""

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
        """A new folder of the lab's own, which is removed with its content, but not beyond a mount point.

        The folder must not exist: its name is unguessable (:func:`lab.hosts.own_folder.new_name`), and no list of
        processes shows the name before the folder exists. ``above`` says who may own the folders above: ``home`` is the
        lab's own, where root makes the folder for ``account``; ``us`` is root and the account; ``any`` is any account,
        if others cannot write there. Only the account ``through`` may pass it to what is below, as a server does;
        ``mode`` replaces these permissions.
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
        """Let everybody write into a folder of this account until :meth:`close_folder`."""
        self.host.shell(REOPEN, path)

    def close_folder(self, path: str, account: str, proof: str) -> str:
        """Let only ``account`` and the owner of the file ``proof`` write into an open folder.

        The file is in the folder, and is removed; without it only the account may write. An owner without a group of
        its own gets an access control list. Returns ``list`` then, or ``open`` if the folder takes no list and stays
        open.
        """
        return self.host.shell(CLOSE, path, account, root=True, given=proof).stdout.strip()

    def free_bytes(self, path: str) -> int:
        """Bytes that are free in the file system that holds ``path``. Raises LabFailure."""
        return self.read(parse_df, "df", "-Pk", "--", path)

    def free_files(self, path: str) -> int | None:
        """How many more files the file system that holds ``path`` takes; None where nothing limits that."""
        return None

    def copy_uncached(self, source: str, target: str, deadline_s: float) -> None:
        """Copy a file past this host's file cache, if the system can. Every account may read the copy."""
        self.host.shell(COPY, source, target, deadline_s=deadline_s)

    def forget(self, path: str, deadline_s: float) -> None:
        """Write out one file and drop it from the file cache, if an account can."""

    def remove(self, *paths: str, root: bool = True) -> None:
        """Remove files that the lab made; a missing file is no error.

        On a server they belong to the server's account for the client, so ``root`` removes them. Through a mount, the
        account that made them does.
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
