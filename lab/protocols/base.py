"""What a protocol is to a session: how a server offers the share, how a client attaches it, what was negotiated."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from pydantic import SecretStr

from lab.errors import Unsupported
from lab.hosts import Host
from lab.settings import Setting
from lab.values import plain_folder

Steps: TypeAlias = Generator[Setting, None, None]
LONGEST_FOLDER = 72  # bytes; a socket below it may have 107, and has up to 31 more than the folder


@dataclass(frozen=True)
class Side:
    """One of the two hosts, as a dialect needs to know it. Raises Unsupported for a folder that no file can express."""

    host: Host
    platform: str
    address: str
    directory: str
    user: str

    def __post_init__(self) -> None:
        try:
            plain_folder(self.directory)
        except ValueError as error:  # a hosts file was checked already; this is the home folder that ~ stands for
            raise Unsupported(f"{self.host.role}: mount_base: {self.directory} {error}; give another one") from error

    def check_sockets(self) -> None:
        """Raise Unsupported where sockets in the lab's own folder would have longer paths than a kernel takes."""
        if len(self.directory.encode()) > LONGEST_FOLDER:
            raise Unsupported(
                f"{self.host.role}: {self.directory} is too long for the sockets in it: "
                f"give a mount_base of at most {LONGEST_FOLDER - len('/file-share-lab-01234567')} bytes"
            )

    def write(self, name: str, content: str) -> str:
        """Put a file that only its owner can read into the lab's own folder; returns its path."""
        path = f"{self.directory}/{name}"
        self.host.shell('umask 077; cat > "$1"', path, given=content)
        return path


@dataclass(frozen=True)
class Share:
    """What the server offers. ``path`` is the folder on the server, ``name`` what clients ask for.

    ``served_by_lab`` is false for a share that was there before: then nothing on the server is started or changed.
    """

    path: str
    name: str
    account: str
    password: SecretStr
    served_by_lab: bool


@dataclass(frozen=True)
class Attached:
    """A share as a client sees it. ``path`` is a folder, or ``user@host:folder`` where ``remote_shell`` leads to it.

    ``effective`` is what was negotiated, as read back.
    """

    path: str
    remote_shell: str = ""
    effective: Mapping[str, Any] = field(default_factory=dict)


class Dialect:
    """One cell of protocol × platform. Made once a run for each host; each method yields settings as they are due.

    A setting is in effect when the generator goes on, so a dialect may look at the host between two of them.
    ``serves_with`` are the programs that serving needs, and the Debian package of each.
    """

    serves_with: ClassVar[Mapping[str, str]] = {}

    def how(self, client: Side) -> str:
        """In a few words, how this client attaches. Raises Unsupported, with what to install, where it cannot."""
        return "no mount"

    def serve(self, server: Side, share: Share) -> Steps:
        """Offer ``share.path`` on the server; needed only for shares that the lab serves."""
        raise Unsupported(f"{server.host.role}: the lab cannot serve this protocol on {server.platform} yet")
        yield

    def prepare(self, client: Side) -> Steps:
        """What the client needs before it can attach, and keeps from one attachment to the next."""
        yield from ()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Make the share usable on the client, cold: nothing cached of an attachment before."""
        raise Unsupported(f"{client.host.role}: the lab cannot attach this protocol on {client.platform} yet")
        yield


@dataclass(frozen=True)
class Protocol:
    """A protocol: its dialects by platform, the TCP port it is served on, and whether it gives a mounted folder."""

    name: str
    port: int
    mounted: bool
    dialects: Mapping[str, type[Dialect]]

    def dialect(self, platform: str) -> Dialect:
        """A fresh dialect for a host. Raises Unsupported where there is none for its platform."""
        if platform not in self.dialects:
            raise Unsupported(f"{self.name} is not supported on {platform}; it is on {', '.join(self.dialects)}")
        return self.dialects[platform]()
