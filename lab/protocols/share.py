"""What drivers are given and give back: a host, the share, and the share as a client sees it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import SecretStr

from lab.base.errors import LabFailure, Unsupported
from lab.hosts import Host
from lab.hosts.fields import plain_folder

Values: TypeAlias = Mapping[str, str | int]  # by name, as a trial records them
ListeningTest: TypeAlias = Callable[[int], str]
LONGEST_FOLDER = 72  # bytes; a socket below it may have 107, and has up to 31 more than the folder


@dataclass(frozen=True)
class Side:
    """One of the two hosts, as drivers see it. Raises Unsupported for a folder that no configuration file can name.

    ``listening`` makes a shell test, as its system can ask it, whether some process listens on a TCP port. ``ssh_name``
    is what the other host's ssh may call it; empty where that knows no name for it.
    """

    host: Host
    platform: str
    address: str
    directory: str
    user: str
    listening: ListeningTest
    ssh_name: str = ""

    def __post_init__(self) -> None:
        try:
            plain_folder(self.directory)
        except ValueError as error:  # a hosts file was checked already; this is the home folder that ~ stands for
            message = f"mount_base: {self.directory} {error}"
            raise Unsupported(message, "give another one", host=self.host.name) from error

    def check_sockets(self) -> None:
        """Raise Unsupported where sockets in the lab's own folder would have longer paths than a kernel takes."""
        if len(self.directory.encode()) > LONGEST_FOLDER:
            remedy = f"give a mount_base of at most {LONGEST_FOLDER - len('/file-share-lab-0123456789abcdef')} bytes"
            message = f"{self.directory} is too long for the sockets in it"
            raise Unsupported(message, remedy, host=self.host.name)

    def has_program(self, name: str) -> bool:
        """Whether the host has a program. Its version does not tell: users may keep what macOS has removed."""
        return self.host.shell('command -v "$1"', name, check=False).exit_code == 0

    def write(self, name: str, content: str) -> str:
        """Put a file that only its owner can read into the lab's own folder; returns its path."""
        path = f"{self.directory}/{name}"
        self.host.shell('umask 077; cat > "$1"', path, given=content)
        return path


@dataclass(frozen=True)
class Share:
    """What the server offers. ``path`` is the folder on the server, ``name`` what clients ask for.

    ``served_by_lab`` is false for a share that was there before: then nothing on the server is started or changed.
    ``server_sync`` is the durability that the server is to give: a level of ``Protocol.server_syncs``.
    ``old_dialect`` is what the lab's own server has to offer besides what it offers unasked: see
    :meth:`Driver.old_dialect`. ``options`` are levels of ``Protocol.options`` for the mount and its server.
    """

    path: str
    name: str
    account: str
    password: SecretStr
    served_by_lab: bool
    server_sync: str = "default"
    old_dialect: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Attached:
    """A share as a client sees it. ``path`` is a folder, or ``user@host:folder`` where ``remote_shell`` leads to it.

    ``effective`` is what was negotiated, as read back; ``options`` the levels of ``Protocol.options`` in effect, as far
    as they can be read. ``file_mode`` is the mode that every file there has, where none can be changed, as chmod takes
    it; empty elsewhere.
    """

    path: str
    remote_shell: str = ""
    file_mode: str = ""
    effective: Values = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


def read_ids(side: Side) -> tuple[int, int]:
    """The numbers of the account that logs in, and of its group. Raises LabFailure where the host prints others."""
    match = re.fullmatch(r"([0-9]+)\n([0-9]+)\n", side.host.shell("id -u; id -g").stdout)
    if not match:
        raise LabFailure("id printed something else than two numbers", host=side.host.name)
    return int(match[1]), int(match[2])
