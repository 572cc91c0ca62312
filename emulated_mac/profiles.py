"""The versions of macOS that can be emulated, and what differs between them."""

VERSION_FILE = "/linux/etc/emulated-mac-version"  # the version that this host emulates


class Profile:
    """One version of macOS. ``number`` compares: (10, 6, 8) < (15, 5)."""

    # no dataclass: importing dataclasses takes twice as long as the rest of a command
    def __init__(self, number: tuple[int, ...], build: str, darwin: str, xnu: str):
        self.number, self.build, self.darwin, self.xnu = number, build, darwin, xnu

    @property
    def version(self) -> str:
        """As sw_vers prints it."""
        return ".".join(map(str, self.number))

    @property
    def product(self) -> str:
        """The name of the system, which changed in 11."""
        return "macOS" if self.number >= (11,) else "Mac OS X"

    @property
    def is_arm(self) -> bool:
        """Whether its processor is Apple's."""
        return self.xnu.endswith("arm64")


# Darwin and xnu by tag of apple-oss-distributions. Builds are those of the versions' releases; that of 27 is invented.
PROFILES = {
    profile.version: profile
    for profile in (
        Profile((10, 6, 8), "10K549", "10.8.0", "xnu-1504.15.3~1/RELEASE_I386 i386"),
        Profile((10, 9, 5), "13F34", "13.4.0", "xnu-2422.115.4~1/RELEASE_X86_64 x86_64"),
        Profile((10, 13, 6), "17G65", "17.7.0", "xnu-4570.71.2~1/RELEASE_X86_64 x86_64"),
        Profile((10, 15, 7), "19H15", "19.6.0", "xnu-6153.141.2~1/RELEASE_X86_64 x86_64"),
        Profile((12, 7, 6), "21H1320", "21.6.0", "xnu-8020.240.18~1/RELEASE_X86_64 x86_64"),
        Profile((14, 5), "23F79", "23.5.0", "xnu-10063.121.3~5/RELEASE_ARM64_T8103 arm64"),
        Profile((15, 3), "24D60", "24.3.0", "xnu-11215.81.4~3/RELEASE_ARM64_T8103 arm64"),
        Profile((15, 5), "24F74", "24.5.0", "xnu-11417.121.6~2/RELEASE_ARM64_T8103 arm64"),
        Profile((26, 0), "25A354", "25.0.0", "xnu-12377.1.9~141/RELEASE_ARM64_T8112 arm64"),
        Profile((27, 0), "26A100", "26.0.0", "xnu-13000.1.1~1/RELEASE_ARM64_T8112 arm64"),
    )
}


def find(version: str) -> Profile | None:
    """The profile of a version; the last parts may be left out: 10.6 is 10.6.8, 12 is 12.7.6."""
    matching = [profile for name, profile in PROFILES.items() if f"{name}.".startswith(f"{version}.")]
    return matching[-1] if version and matching else None


def current() -> Profile:
    """The profile of this host."""
    with open(VERSION_FILE, encoding="ascii") as file:  # noqa: PTH123
        return PROFILES[file.read().strip()]
