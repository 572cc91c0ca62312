"""The files of a Mac."""

from __future__ import annotations

from lab.platforms.files import Files
from lab.platforms.macos.programs import MacPrograms


class MacFiles(Files):
    """The files of a Mac."""

    def drop_caches(self) -> None:
        """Write out and forget what is cached of every mounted volume, network volumes included (purge(8)).

        Before 10.9 purge comes with Xcode only. Without it a sync must do: what is cached of a share goes with its
        mount.
        """
        self.host.shell("if command -v purge >/dev/null; then purge; else sync; fi", root=True, deadline_s=120)

    def can_read_cold(self) -> bool:
        """See :meth:`Files.can_read_cold`."""
        return not MacPrograms(self.host).missing(["purge"])
