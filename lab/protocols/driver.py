"""What a protocol is to a session: how a server offers the share, how a client attaches it, what was negotiated."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from pydantic import SecretStr

from lab.base.errors import Absent, SettingRefused, Unsupported
from lab.hosts import Host
from lab.hosts.fields import plain_folder
from lab.protocols.options import Option, clash
from lab.settings.setting import Setting

Steps: TypeAlias = Generator[Setting, None, None]
LONGEST_FOLDER = 72  # bytes; a socket below it may have 107, and has up to 31 more than the folder


@dataclass(frozen=True)
class Side:
    """One of the two hosts, as a driver needs to know it. Raises Unsupported for a folder that no file can express."""

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
    ``server_sync`` is the durability that the server is to give: a level of ``Protocol.server_syncs``. ``offers`` is a
    dialect that the lab's own server is to offer besides what it offers unasked: what :meth:`Driver.needs` said.
    ``options`` are levels of ``Protocol.options`` that the mount and its server are to have.
    """

    path: str
    name: str
    account: str
    password: SecretStr
    served_by_lab: bool
    server_sync: str = "default"
    offers: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Attached:
    """A share as a client sees it. ``path`` is a folder, or ``user@host:folder`` where ``remote_shell`` leads to it.

    ``effective`` is what was negotiated, as read back; ``options`` the levels of ``Protocol.options``, as far as known.
    """

    path: str
    remote_shell: str = ""
    effective: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


class Driver:
    """One cell of protocol × platform. Made once a run for each host; each method yields settings as they are due.

    A setting is in effect when the generator goes on, so a driver may look at the host between two of them.
    ``serves_with`` and ``attaches_with`` are the programs that serving (but see :meth:`needs_to_serve`) and attaching
    need, and the Debian package of each. ``own_server``: serving starts a server of the lab's own, with settings of its
    own; else the system's is used.
    """

    serves_with: ClassVar[Mapping[str, str]] = {}
    attaches_with: ClassVar[Mapping[str, str]] = {}
    own_server: ClassVar[bool] = True

    def how(self, client: Side) -> str:
        """In a few words, how this client attaches. Raises Unsupported, with what to install, where it cannot."""
        return "no mount"

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Why this client cannot give a mount these options, but for ``server``; empty where it can."""
        return f"the lab tells {client.platform} no options of a mount" if set(options) - {"server"} else ""

    def cannot_serve(self, server: Side, share: Share) -> str:
        """Why this server cannot have the durability, or be the program, that the share is to have; else empty."""
        return "the lab does not choose what serves there" if "server" in share.options else ""

    def server_program(self) -> str:
        """The level of the option ``server`` that serves now; empty where there is no such option."""
        return ""

    def needs(self, client: Side) -> str:
        """The one old dialect that this client speaks, where a server has to be told to offer it; empty elsewhere."""
        return ""

    def needs_to_serve(self, server: Side, options: Mapping[str, str]) -> Mapping[str, str]:
        """The programs, and the Debian package of each, that a share with these options needs on the server."""
        return self.serves_with

    def served_by(self, server: Side, account: str) -> str:
        """In a few words, what serves here, once ``serves_with`` is there; ``account`` is the one that logs in.

        Raises Unsupported, with what to do, where it cannot.
        """
        return next(iter(self.serves_with), "its own server")

    def explain(self, output: str) -> str:
        """What to do about a command of this driver that failed, by what it printed; empty for what is not known."""
        return ""

    def serve(self, server: Side, share: Share) -> Steps:
        """Offer ``share.path`` on the server; needed only for shares that the lab serves."""
        raise Unsupported(f"{server.host.role}: the lab cannot serve this protocol on {server.platform} yet")
        yield

    def durability(self, server: Side, share: Share) -> Mapping[str, str]:
        """What the server that runs was found to do: ``server_sync``, and in ``server_sync_by`` what makes it so."""
        return {}

    def prepare(self, client: Side) -> Steps:
        """What the client needs before it can attach, and keeps from one attachment to the next."""
        yield from ()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Make the share usable on the client, cold: nothing cached of an attachment before.

        The last setting is the mount that caches file data, if there is one: before a read it is undone and redone.
        """
        raise Unsupported(f"{client.host.role}: the lab cannot attach this protocol on {client.platform} yet")
        yield


def durability(driver: Driver, server: Side, share: Share) -> Mapping[str, str]:
    """What :meth:`Driver.durability` finds. Raises SettingRefused where it is not what the share was to have."""
    found = driver.durability(server, share)
    if share.server_sync not in ("default", found.get("server_sync")):
        raise SettingRefused(
            f"{server.host.role}: server_sync was set to {share.server_sync} and reads back as "
            f"{found.get('server_sync')} ({found.get('server_sync_by')})"
        )
    return found


def options_in_effect(name: str, share: Share, found: Mapping[str, str]) -> dict[str, str]:
    """The options ``found`` of a mount of the protocol ``name``, by their names in a sweep.

    Raises SettingRefused where one is not as it was asked for.
    """
    for option, level in share.options.items():
        if level != (effective := found.get(option)):
            raise SettingRefused(
                f"client: {name}.{option} was set to {level} and reads back as {effective or 'unknown'}: client or "
                f"server does not take it: leave {level} out of the sweep"
            )
    return {f"{name}.{option}": level for option, level in found.items()}


@dataclass(frozen=True)
class Protocol:
    """A protocol: its drivers by platform, the TCP port it is served on, and whether it gives a mounted folder.

    ``server_syncs`` are the levels of durability that a server of the lab's own can be given
    (docs/explanation/durability.md), ``options`` what a sweep may say of the mount and of the programs at its ends, as
    ``name.option``.
    """

    name: str
    port: int
    mounted: bool
    drivers: Mapping[str, type[Driver]]
    server_syncs: tuple[str, ...] = ("default",)
    options: Mapping[str, Option] = field(default_factory=dict)

    def driver(self, platform: str) -> Driver:
        """A fresh driver for a host. Raises Absent where there is none for its platform."""
        if platform not in self.drivers:
            raise Absent(f"{self.name} is not supported on {platform}; it is on {', '.join(self.drivers)}")
        return self.drivers[platform]()

    def conflict(self, options: Mapping[str, str]) -> str:
        """Why these levels of ``options`` cannot go together; empty where they can."""
        return clash(options)
