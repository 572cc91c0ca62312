"""The twin of images.pl."""

import plistlib
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def images() -> "list[dict[str, Any]]":
    """Each image: its values by key."""
    listed = subprocess.run(["hdiutil", "info", "-plist"], stdout=subprocess.PIPE, check=False)
    try:
        listed.check_returncode()
        images_listed = plistlib.loads(listed.stdout)["images"]
    except (subprocess.CalledProcessError, ValueError, LookupError, plistlib.InvalidFileException):
        sys.stderr.write("cannot read hdiutil info -plist\n")
        sys.exit(255)
    return list(images_listed)
