"""The files of a Mac."""

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.perl import run_perl
from lab.platforms.files import Files
from lab.platforms.macos.programs import MacPrograms

COPY_UNCACHED = read_script(__file__, "copy_uncached.pl")
PURGE = "if command -v purge >/dev/null; then purge; else sync; fi"


class MacFiles(Files):
    """The files of a Mac."""

    def drop_caches(self) -> None:
        """Write out and forget what is cached of every mounted volume, network volumes included (purge(8)).

        Before 10.9 purge comes with Xcode only. Without it a sync must do: what is cached of a share goes with its
        mount.
        """
        self.host.shell(PURGE, root=True, deadline_s=120)

    def copy_uncached(self, source: str, target: str, deadline_s: float) -> None:
        """Uses F_NOCACHE, because an account without root cannot drop a file from the file cache."""
        self.host.run(*run_perl(COPY_UNCACHED, source, target), deadline_s=deadline_s)

    def check_cold_reads(self) -> None:
        """See :meth:`Files.check_cold_reads`."""
        if MacPrograms(self.host).missing(["purge"]):
            remedy = "install Xcode there, or leave server_cache = cold out of the sweep"
            raise Unsupported("it has no purge, which would make it read its disk again", remedy, host=self.host.name)
