"""How the programs of a Mac are called and installed."""

from types import MappingProxyType

from lab.hosts.perl import NO_PERL_ON_MAC
from lab.platforms.programs import Programs

WITH_MACOS = ("rsync", "tar", "openssh-client", "openssh-server")


class MacPrograms(Programs):
    """The programs of a Mac.

    By default cp and ditto also copy extended attributes, which some servers keep in extra files. macOS 15.0 to 15.3
    have two engines of rsync and choose by the options: CHOSEN_RSYNC takes the engine of later versions. Later versions
    have Apple's own iperf3.
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

    def how_to_install(self, package: str) -> str:
        """Everything but iperf3 comes with macOS, in folders that are in every PATH; Homebrew has the rest."""
        if package == "perl":
            return NO_PERL_ON_MAC
        if package in WITH_MACOS:
            return f"{package} comes with macOS: find out where it went, or `brew install {package}` there"
        if self.missing(["brew"]):
            return f"install Homebrew there (https://brew.sh), then `brew install {package}`"
        return f"`brew install {package}` there"
