"""What a protocol is to a session: its client, its server, and the options of a mount.

A driver is one cell of protocol × platform. Its client half attaches a share, its server half offers one; a driver that
has one half only leaves the other as it stands here, which says so.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from lab.base.errors import Absent, Unsupported
from lab.hosts.assumption import Capture
from lab.protocols.options import OF_SERVER, Option, find_clash
from lab.protocols.share import Attached, Share, Side
from lab.settings.setting import Setting
from lab.settings.tcp_reach import ReachByVersion

Steps: TypeAlias = Generator[Setting, None, None]


class ClientDriver:
    """How a client attaches a share. ``attaches_with`` are the programs it needs, and the Debian package of each.

    ``client_tcp_reach`` says whether TCP buffers reach its sockets, where versions of the system differ in that.
    """

    attaches_with: ClassVar[Mapping[str, str]] = {}
    client_tcp_reach: ClassVar[ReachByVersion] = {}

    # --- what can be told before anything is changed

    def mount_method(self, client: Side) -> str:
        """In a few words, how this client attaches. Raises Unsupported, with what to install, where it cannot."""
        return "no mount"

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Why this client cannot give a mount these options, but for ``server``; empty where it can."""
        return f"the lab tells {client.platform} no options of a mount" if set(options) - {"server"} else ""

    def old_dialect(self, client: Side) -> str:
        """The one old dialect that this client speaks, where a server has to be told to offer it; empty elsewhere."""
        return ""

    def takes_every_network(self, client: Side) -> bool:
        """Whether a mount goes over every network that both hosts are on, unless it is told otherwise."""
        return False

    def find_channels(self, client: Side, path: str) -> Mapping[str, str]:
        """The client's interfaces that a mount sends over, each with a word on its kind; empty if not known."""
        return {}

    # --- attaching

    def prepare(self, client: Side) -> Steps:
        """What the client needs before it can attach, and keeps from one attachment to the next."""
        yield from ()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Make the share usable on the client, cold: nothing cached of an attachment before.

        The last setting is the mount that caches file data, if there is one: before a read it is undone and redone.
        """
        raise Unsupported(f"the lab cannot attach this protocol on {client.platform} yet", host=client.host.name)
        yield


class ServerDriver:
    """How a server offers a share.

    ``serves_with`` are the programs that it needs (but see :meth:`needs_to_serve`), and the Debian package of each.
    ``own_server``: serving starts a server of the lab's own, with settings of its own; else the system's is used.
    ``server_tcp_reach`` is as the client's.
    """

    serves_with: ClassVar[Mapping[str, str]] = {}
    own_server: ClassVar[bool] = True
    server_tcp_reach: ClassVar[ReachByVersion] = {}

    # --- what can be told before anything is changed

    def needs_to_serve(self, server: Side, options: Mapping[str, str]) -> Mapping[str, str]:
        """The programs, and the Debian package of each, that a share with these options needs on the server."""
        return self.serves_with

    def served_by(self, server: Side, account: str) -> str:
        """In a few words, what serves here, once ``serves_with`` is there; ``account`` is the one that logs in.

        Raises Unsupported, with what to do, where it cannot.
        """
        return next(iter(self.serves_with), "its own server")

    def cannot_serve(self, server: Side, share: Share) -> str:
        """Why this server cannot have the durability, or be the program, that the share is to have; else empty."""
        return "the lab does not choose what serves there" if share.options.keys() & set(OF_SERVER) else ""

    def check_ram_disk(self, server: Side, layout: str | None) -> None:
        """Raise Unsupported for a format of the server's RAM disk that it cannot share; None is the usual one."""

    # --- serving

    def serve(self, server: Side, share: Share) -> Steps:
        """Offer ``share.path`` on the server; needed only for shares that the lab serves."""
        raise Unsupported(f"the lab cannot serve this protocol on {server.platform} yet", host=server.host.name)
        yield

    def server_options(self) -> Mapping[str, str]:
        """The levels of the server's options that what serves now has, as read back; none where there are none."""
        return {}

    def durability(self, server: Side, share: Share) -> Mapping[str, str]:
        """What the server that runs was found to do: ``server_sync``, and in ``server_sync_by`` what makes it so."""
        return {}


class Driver(ClientDriver, ServerDriver):
    """Both halves. Made once a run for each host; its methods yield settings as they are due.

    A setting is in effect when the generator goes on, so a driver may look at the host between two of them.
    ``assumption_files`` have what it takes for granted about its system (:mod:`lab.hosts.assumption_file`).
    ``captures`` are outputs worth keeping.
    """

    assumption_files: ClassVar[tuple[Path, ...]] = ()
    captures: ClassVar[tuple[Capture, ...]] = ()

    def explain(self, output: str) -> str:
        """What to do about a command of this driver that failed, by what it printed; empty for what is not known."""
        return ""


@dataclass(frozen=True)
class Protocol:
    """A protocol: its drivers by platform, the TCP port it is served on, and whether it gives a mounted folder.

    ``takes_password`` says whether a client logs in with the share's account. ``server_syncs`` are the levels of
    durability that a server of the lab's own can be given (docs/explanation/durability.md), ``options`` what a sweep
    may say of the mount and of the programs at its ends, as ``name.option``. ``least_file_bytes`` is what the protocol
    itself sends at least, either way, for every file that is read or written, beside what is in it.
    """

    name: str
    port: int
    mounted: bool
    drivers: Mapping[str, type[Driver]]
    server_syncs: tuple[str, ...] = ("default",)
    options: Mapping[str, Option] = field(default_factory=dict)
    takes_password: bool = True
    least_file_bytes: int = 0

    def driver(self, platform: str) -> Driver:
        """A fresh driver for a host. Raises Absent where there is none for its platform."""
        if platform not in self.drivers:
            raise Absent(f"{self.name} is not supported on {platform}; it is on {', '.join(self.drivers)}")
        return self.drivers[platform]()

    def tcp_reach(self, platform: str, role: str) -> ReachByVersion:
        """By version of a platform, whether TCP buffers reach the sockets at one end; empty where nothing is known."""
        driver = self.drivers.get(platform, Driver)
        return driver.client_tcp_reach if role == "client" else driver.server_tcp_reach

    def conflict(self, options: Mapping[str, str]) -> str:
        """Why these levels of ``options`` cannot go together; empty where they can."""
        return find_clash(options)
