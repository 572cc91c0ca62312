"""installer(8): installs the package of OpenZFS on OS X, known by its name; a package's content is not read."""

import os

from .. import bsd_getopt, o3x
from ..kernel_client import call

USAGE = "Usage: installer [-help] [-dominfo] [-volinfo] [-pkginfo] [-allowUntrusted] [-dumplog]\n                 \
[-verbose | -verboseR] [-vers] [-config] [-plist] -pkg <pathToPackage> -target <DomainKey|MountPoint>"


def main(argv: list[str]) -> int:
    """``-pkg PATH -target /``."""
    if len(argv) != 4 or argv[0] != "-pkg" or argv[2] != "-target":
        bsd_getopt.fail_with_usage(USAGE)
    name = os.path.basename(argv[1])  # noqa: PTH119
    if not os.path.exists(argv[1]):  # noqa: PTH110
        bsd_getopt.fail(f"installer: Error - the package path specified was invalid: '{argv[1]}'.")
    if argv[3] != "/" or not name.startswith(o3x.PACKAGE):
        bsd_getopt.fail_as_not_emulated("installer", " ".join(argv))
    try:
        call("install_o3x")
    except OSError:
        bsd_getopt.fail("installer: Must be run as root to install this package.")
    print(f"installer: Package name is {name}\ninstaller: Installing at base path /")
    print("installer: The install was successful.")
    return 0
