"""The files and programs of a Mac."""

from types import MappingProxyType

from lab.base.errors import Unsupported
from lab.base.scripts import read_script
from lab.hosts.command import NO_PERL_ON_MAC, run_perl
from lab.platforms.files import Files, Programs

WITH_MACOS = ("rsync", "tar", "openssh-client", "openssh-server")


class MacPrograms(Programs):
    """The programs of a Mac.

    By default cp and ditto also copy extended attributes, which some servers keep in extra files. macOS 15.0 to 15.3
    have two engines of rsync; CHOSEN_RSYNC takes the one that later versions have. Later versions also have Apple's own
    iperf3.
    """

    calls = MappingProxyType(
        {
            "cp": ("cp", "-X"),
            "ditto": ("ditto", "--norsrc", "--noextattr", "--noacl"),
            "fio": ("fio", "--ioengine=posixaio"),
            "rsync": ("env", "CHOSEN_RSYNC=rsync_openrsync", "rsync"),
        }
    )

    other_names = MappingProxyType({"iperf3": "iperf3-darwin"})

    def _installation(self, packages: str) -> str:
        """Everything but iperf3 comes with macOS, in folders that are in every PATH; Homebrew has the rest."""
        if packages == "perl":
            return NO_PERL_ON_MAC
        if packages in WITH_MACOS:
            return f"{packages} comes with macOS: find out where it went, or `brew install {packages}` there"
        if self.missing(["brew"]):
            return f"install Homebrew there (https://brew.sh), then `brew install {packages}`"
        return f"`brew install {packages}` there"


COPY_UNCACHED = read_script(__file__, "copy_uncached.pl")
PURGE = "if command -v purge >/dev/null; then purge; else sync; fi"


class MacFiles(Files):
    """The files of a Mac."""

    def drop_caches(self) -> None:
        """Write out and drop the file cache of every mounted volume, network volumes included (purge(8)).

        Before 10.9 purge comes only with Xcode. Without it a sync must do: unmounting a share drops its cache.
        """
        self.host.shell(PURGE, root=True, deadline_s=120)

    def copy_uncached(self, source: str, target: str, deadline_s: float) -> None:
        """Uses F_NOCACHE, because an account without root cannot drop a file from the file cache."""
        self.host.run(*run_perl(COPY_UNCACHED, source, target), deadline_s=deadline_s)

    def check_cold_reads(self) -> None:
        if MacPrograms(self.host).missing(["purge"]):
            remedy = "install Xcode there, or leave server_cache = cold out of the sweep"
            raise Unsupported("it has no purge, which would make it read its disk again", remedy, host=self.host.name)
