"""mdutil(1): whether Spotlight indexes a volume (output seen on macOS 10.13 to 26)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .. import bsd_getopt
from ..kernel_client import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..records import MountRecord

USAGE = """\
Usage: mdutil -pEsa -i (on|off) -d volume ...
       mdutil -t {volume-path | deviceid} fileid
\tUtility to manage Spotlight indexes.
\t-p\tPublish metadata.
\t-i (on|off)\tTurn indexing on or off.
\t-d\tDisable Spotlight activity for volume (re-enable using -i on).
\t-E\tErase and rebuild index.
\t-s\tPrint indexing status.
\t-a\tApply command to all stores on all volumes.
\t-V vol\tApply command to all stores on the specified volume.
\t-v\tDisplay verbose information.
\t-r plugins\tAsk the server to reimport files for UTIs claimed by the listed plugin.
\t-L volume-path\tList the directory contents of the Spotlight index on the specified volume.
\t-P volume-path\tDump the VolumeConfig.plist for the specified volume.
\t-X volume-path\tRemove the Spotlight index directory on the specified volume.  This does not disable indexing."""
NETWORK = ("smbfs", "nfs", "afpfs")
OFF = ".Spotlight-V100/off"  # on the volume, as on a Mac, so it goes with the volume


def main(argv: list[str]) -> int:
    """Show, or as root switch, the indexing of volumes."""
    options, words = bsd_getopt.parse("mdutil", argv, "pEsai:dV:vr:L:P:X:t:", USAGE)
    values, flags = dict(options), {letter for letter, _ in options}
    if flags & set("pEdVrLPXt"):
        bsd_getopt.fail_as_not_emulated("mdutil", " ".join(argv))
    if not flags & {"s", "i"} or values.get("i", "on") not in ("on", "off"):
        bsd_getopt.fail_with_usage(USAGE)
    table: dict[str, MountRecord] = {mount["target"]: mount for mount in call("mounts")}
    if "a" in flags:
        words = [target for target, mount in table.items() if mount["type"] != "devfs"]
    if not words:
        bsd_getopt.fail_with_usage(USAGE)
    if "i" in values and os.geteuid() != 0:
        bsd_getopt.fail("mdutil: must be run as root to turn indexing on or off.")
    for word in words:
        _handle_volume(os.path.realpath(word), table, values.get("i"))
    return 0


def _handle_volume(target: str, table: dict[str, MountRecord], switch: str | None) -> None:
    if target not in table:
        exists = os.path.exists(target)  # noqa: PTH110
        print(f"Error: {'unknown indexing state' if exists else 'invalid path'} `{target}'.", file=sys.stderr)
        return
    mark = Path(target, OFF)
    if switch == "off" and table[target]["type"] not in NETWORK:
        mark.parent.mkdir(mode=0o711, exist_ok=True)  # readable for all, because no daemon tells users the state here
        mark.touch()
    elif switch == "on":
        mark.unlink(missing_ok=True)
    print(f"{target}:\n\t{_state(target, table[target]['type'], mark)}")


def _state(target: str, type_: str, mark: Path) -> str:
    if type_ in NETWORK or Path(target, ".metadata_never_index").exists() or mark.exists():
        return "Indexing disabled."
    return "Indexing enabled. "
