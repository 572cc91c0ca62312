"""Disk images of a Mac, of memory or in files: how one is attached, found, mounted, left alone, and put back.

Facts: docs/reference/platforms.md.
"""

from abc import abstractmethod
from dataclasses import dataclass

from lab.base.scripts import read_script
from lab.hosts.command import Command, command, script
from lab.hosts.mounts import is_mounted_on_mac
from lab.hosts.perl import run_perl
from lab.settings.operation import Operation
from lab.settings.parameters import OwnPath

IMAGES = ("hdiutil", "info", "-plist")
# $1 ram://SECTORS or a file. hdiutil refuses to attach while it is busy with another image, for a moment
ATTACH = """
for try in 1 2 3; do hdiutil attach -nomount "$1" && exit; sleep 2; done
echo "no image after three tries: end what works on disk images there (Disk Utility, installers), or restart it" >&2
exit 1
"""
IMAGES_OF_HDIUTIL = read_script(__file__, "images.pl")
ATTACHED_IMAGE = IMAGES_OF_HDIUTIL + read_script(__file__, "attached_image.pl")
MAKE_APFS = read_script(__file__, "make_apfs.sh")
# No Spotlight and no log of changes, which would both write to the disk while it is measured.
LEAVE_ALONE = """
touch "$1/.metadata_never_index" && mkdir -p "$1/.fseventsd" &&
    touch "$1/.fseventsd/no_log" &&
    chown "$2" "$1" && chmod "$3" "$1" || exit
mdutil -i off "$1" >/dev/null 2>&1
case $(mdutil -s "$1" 2>&1) in *"Indexing enabled"*) echo "Spotlight still indexes $1" >&2; exit 1 ;; esac
"""
UNMOUNT = 'for try in 1 2 3; do umount "$1" && exit; sleep 1; done; umount -f "$1"'


class AttachedImage(Operation):
    """An image that is attached, found by its source and who attached it; detached unless it is mounted elsewhere.

    No dataclass: the fields of a record keep the order that installed helpers know.
    """

    values = "absent|attached"

    place: OwnPath
    """Where it is mounted."""

    @property
    @abstractmethod
    def source(self) -> str:
        """What hdiutil calls it by: ``ram://SECTORS``, or its file without links."""

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return self._find("state", 60)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (self._find("detach", 180),)

    def _find(self, act: str, deadline_s: float) -> Command:
        return command(*run_perl(ATTACHED_IMAGE, act, self.source, self.place), deadline_s=deadline_s)


@dataclass(frozen=True)
class MountedVolume(Operation):
    """The volume of an image, mounted."""

    values = "absent|mounted"

    path: OwnPath
    """Where it is mounted, without links."""

    def read(self) -> Command:
        """See :meth:`Operation.read`."""
        return is_mounted_on_mac(self.path)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return (script(UNMOUNT, self.path, root=True, deadline_s=120),)


def mount_volume(kind: str, device: str, place: str) -> Command:
    """The command that mounts a volume of this kind, on a device, at a folder."""
    return command("mount", "-t", kind, "-o", "noatime", device, place, root=True)


def leave_alone(place: str, uid: int, mode: str) -> Command:
    """The command after which nothing indexes a volume, and its folder is an account's and has this mode."""
    return script(LEAVE_ALONE, place, str(uid), mode, root=True)
