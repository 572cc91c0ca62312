"""tmutil(8), since 10.7: the state of a backup, and its refusals (seen on macOS 10.13 to 26)."""

import sys

from .. import bsd_getopt, profiles
from ..kernel_client import call

VERBS = ("listbackups", "destinationinfo", "latestbackup", "disable", "enable", "stopbackup", "startbackup")
USAGE = "Usage: tmutil help <verb>"


def main(argv: list[str]) -> int:
    """``status``, or a refusal."""
    verb = argv[0] if argv else ""
    if verb in ("status", "currentphase"):
        print(
            'Backup session status:\n{\n    ClientID = "com.apple.backupd";\n    Percent = "-1";\n    Running = 0;\n}'
        )
        return 0
    if verb in VERBS:
        if call("fault", name="tcc-tmutil") and profiles.current().number >= (10, 14):
            bsd_getopt.fail(
                f"tmutil: {verb} requires Full Disk Access privileges.\n"
                "To allow this operation, select Full Disk Access in the Privacy\n"
                "tab of the Security & Privacy preference pane, and add Terminal\n"
                "to the list of applications which are allowed Full Disk Access.",
                80,
            )
        bsd_getopt.fail_as_not_emulated("tmutil", verb)
    print(USAGE, file=sys.stderr)
    return 64
