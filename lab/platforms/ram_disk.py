"""RAM disks: file systems in memory, so that no disk limits a transfer."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import ClassVar

from lab.base.errors import LabFailure, Unsupported
from lab.base.untrusted import count
from lab.platforms.files import parse_source
from lab.platforms.part import Part
from lab.settings.operation import Setting

FOLDER = "folder"  # no RAM disk, but a folder on the host's disk, which needs no root
MIB = 1 << 20


class RamDisks(Part, ABC):
    """Makes RAM disks. ``formats`` are values of ``ram_disk_format``, the usual one first."""

    formats: ClassVar[tuple[str, ...]]

    @abstractmethod
    def make(
        self, path: str, size_bytes: int, layout: str | None = None, private: bool = False
    ) -> Generator[Setting, None, str]:
        """A RAM disk mounted at ``path``, which exists. Returns what it is, in words.

        Only the account that logs in can enter a ``private`` disk; everybody may write to others, which servers share.
        ``layout`` is one of ``formats``, or None for the usual one. Raises LabFailure if the disk does not fit into
        memory, and Unsupported.
        """

    def check(self, layout: str | None) -> None:
        """Raise Unsupported for a format that cannot be had here."""
        if layout is not None and layout not in self.formats:
            message = f"ram_disk_format = {layout}: that host can have {', '.join(self.formats)}"
            raise Unsupported(message, f"correct it in [{self.host.name}], or leave it out", host=self.host.name)

    def check_fits(self, size_bytes: int, free_bytes: int, overhead_bytes: int = 0) -> None:
        """Raise LabFailure for a RAM disk that, with its overhead, is larger than the free memory."""
        if size_bytes + overhead_bytes > free_bytes:
            sizes = f"{size_bytes / MIB:.0f} MiB does not fit: {free_bytes / MIB:.0f} MiB of memory are free"
            remedy = "lower ram_disk in the hosts file, or the sweep's size"
            raise LabFailure(f"a RAM disk of {sizes}", remedy, host=self.host.name)

    def describe_folder(self, path: str) -> str:
        """The file system that a folder is on, in words."""
        return f"no RAM disk: a folder on {self.read(parse_source, 'df', '-P', path)}"

    def uid(self) -> int:
        return self.read(lambda text: count(text.strip()), "id", "-u")
