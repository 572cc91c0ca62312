"""The share that a folder is on, and what client and server agreed on for it. Nothing is changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lab.base.errors import BadInput, DeadlineExceeded, Unsupported
from lab.base.scripts import read_script
from lab.base.untrusted import one_line
from lab.platforms.part import Part

ENTER = read_script(__file__, "enter_folder.sh")
ENTER_S = 15  # a folder of automount is mounted meanwhile; a server that takes longer measures nothing
Values: TypeAlias = Mapping[str, str | int]  # by name, as a trial records them
Told: TypeAlias = tuple[str, str]  # what happened, and what to do


@dataclass(frozen=True)
class MountedShare:
    """A row of the table of mounts, or one of the shares that GVfs shows below its own row.

    ``path`` is the mount point without links, ``kind`` the table's name of the file system (``cifs``, ``nfs4``,
    ``smbfs``, ``ext4``, …). ``protocol`` is ``smb``, ``nfs``, ``afp``, ``ssh`` or empty. ``server``, ``share`` and
    ``account`` are as in the table, or empty. ``share`` is the share's name with the mounted folder in it, or a path
    for NFS and SSH. An ``account`` may begin with its domain and a semicolon. ``options`` may have empty values.
    """

    path: str
    kind: str
    protocol: str = ""
    server: str = ""
    share: str = ""
    account: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where its packets go, as far as the table says: an address, or a name that leads to one."""
        return self.options.get("addr") or self.server

    @property
    def option_text(self) -> str:
        return ",".join(f"{name}={value}" if value else name for name, value in self.options.items())

    @property
    def label(self) -> str:
        """The share in a few words, for a message; the file system if it is on no network."""
        name = f"{self.server}: {self.share}" if self.protocol and self.server else self.kind
        return one_line(name, 80)


class Mounts(Part):
    """What is mounted on a host."""

    def table(self) -> tuple[MountedShare, ...]:
        """Every row of the table of mounts, the oldest first. Touches none of them. Raises LabFailure."""
        raise Unsupported("the lab cannot read the table of mounts of this system yet", host=self.host.name)

    def negotiated(self, mounted: MountedShare) -> Values:
        """The values in effect for a mount that the account can read. Raises LabFailure."""
        return {}

    def is_case_sensitive(self, mounted: MountedShare) -> bool:
        """Whether a local volume is one of those that tell names apart by case where most of its system do not."""
        return False

    def kept_out(self, share: str, output: str = "") -> Told | None:
        """Whether this system's privacy is the likely cause why ``share``, in words, cannot be read, and what to do.

        ``output`` is of the command that was refused; it is empty if the command did not end.
        """
        return None

    def silent(self, mounted: MountedShare) -> Told:
        """Why nothing comes of a mounted share."""
        message = f"{mounted.label} does not answer: nothing came of it in {ENTER_S} s"
        return message, "is the server on, and on this network? Unmount the share, and mount it anew"

    def find(self, path: str) -> MountedShare:
        """The share, or other file system, that a folder lies on; ``path`` is absolute and may have links in it.

        The table is read first, because a mount whose server is dead blocks every access. Raises BadInput if there is
        no such folder, or its server does not answer.
        """
        before = self.share_at(path)
        try:
            answer = self.host.shell(ENTER, path, deadline_s=ENTER_S).stdout
        except DeadlineExceeded as error:
            message, remedy = self.silent(before)
            raise BadInput(f"{one_line(path, 80)}: {message}", remedy) from error
        state, _, real = answer.partition("\n")
        if state == "refused" and (told := self.kept_out(before.label, real)):
            raise BadInput(f"{one_line(path, 80)}: {told[0]}", told[1])
        if state != "folder":
            raise _refusal(path, state, before)
        return self.share_at(real.removesuffix("\n"))

    def share_at(self, path: str) -> MountedShare:
        """The row of the table that a path without links lies on; nothing is touched. Raises LabFailure."""
        return innermost(self.table(), path)


def innermost(table: Iterable[MountedShare], path: str) -> MountedShare:
    """The row whose mount point is the path, or nearest above it; the last one if several have that mount point."""
    above = (row for row in table if f"{path}/".startswith(f"{row.path.rstrip('/')}/"))
    unknown = MountedShare("/", "an unknown file system")
    return sorted([unknown, *above], key=lambda row: len(row.path))[-1]  # the order of equals stays


def _refusal(path: str, state: str, mounted: MountedShare) -> BadInput:
    name = one_line(path, 80)
    if state == "file":
        return BadInput(f"{name} is a file", "give the folder that it lies in")
    if state in ("closed", "refused"):
        return BadInput(f"{name} is closed to this account", f"`ls -ld {name}` shows whose it is")
    if mounted.protocol and path.rstrip("/") == mounted.path:
        remedy = "unmount the share, and mount it anew"
        return BadInput(f"{name} cannot be entered: {mounted.label} is gone, or has ended the session", remedy)
    remedy = "is the share mounted, and its server on? `mount` lists what is mounted"
    return BadInput(f"there is no folder {name}, as far as this account can see", remedy)
