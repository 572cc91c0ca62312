"""Folders and files on a host, and what its memory keeps of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from lab.base.untrusted import count
from lab.hosts.command import script
from lab.platforms.part import Part
from lab.settings.setting import Setting


class Files(Part, ABC):
    """The files of a host."""

    @abstractmethod
    def drop_caches(self) -> None:
        """Forget file data that is cached in this host's memory, as far as the system can."""

    def check_cold_reads(self) -> None:
        """Raise Unsupported, with what to do, where :meth:`drop_caches` does not make this host read its disk again."""

    def folder(self, path: str, mode: str) -> Setting:
        """A new folder of the lab's own in one that exists; removed with what it holds, not beyond a mount point."""
        return Setting(
            host=self.host.role,
            name=f"folder {path}",
            read=script('if [ -e "$1" ]; then echo present; else echo absent; fi', path),
            wanted="present",
            apply=(script('mkdir -m "$1" "$2"', mode, path),),
            undo=lambda _: (script('find "$1" -xdev -mindepth 1 -delete; rmdir "$1"', path, root=True),),
            volatile=False,
            holds=True,
        )

    def free_bytes(self, path: str) -> int:
        """Bytes that are free in the file system that holds ``path``. Raises LabFailure."""
        return self.read(parse_df, "df", "-Pk", "--", path)

    def remove(self, *paths: str) -> None:
        """Remove files that the lab made; a missing one is no error."""
        # root: what a client wrote belongs to whatever account the server keeps for it
        self.host.run("rm", "-f", "--", *paths, root=True)


def parse_df(text: str) -> int:
    """Bytes that are free, of ``df -Pk``. Raises ValueError."""
    match = re.search(r"\s([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+%|-)\s+/", text)  # a device may have spaces
    if not match:
        raise ValueError("no line with the free space")
    return count(match[3]) * 1024
