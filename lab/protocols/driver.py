"""Protocols and their drivers, one for each protocol and platform; and what drivers are given and give back.

A driver's client half attaches a share, its server half offers one. A driver may lack a half: the defaults here say so.
"""

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from pydantic import SecretStr

from lab.base.errors import Absent, LabFailure, SettingRefused, Unsupported
from lab.hosts import Host
from lab.hosts.assumptions import Capture
from lab.hosts.fields import plain_folder
from lab.protocols.options import SERVER_OPTIONS, Option, find_clash
from lab.settings.operation import Setting
from lab.settings.tcp_reach import ReachByVersion

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

    def check_not_link_local(self, server_program: str) -> None:
        """Raise Unsupported if the data address needs a zone, which this program cannot listen with."""
        if "%" in self.address:
            message = f"{server_program} cannot serve at {self.address}, an address of one link"
            remedy = "give both hosts another data_address, such as one of fd00::/8 or of IPv4"
            raise Unsupported(message, remedy, host=self.host.name)

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

    ``effective`` is what was negotiated, ``options`` the levels of ``Protocol.options`` in effect, as read back.
    ``file_mode`` is the mode of all files, as chmod takes it, if none can be changed; else empty.
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


Steps: TypeAlias = Generator[Setting, None, None]


class Driver:
    """A protocol on a platform. A run makes one for each host; its methods yield settings as they are due.

    A setting is in effect when the generator goes on, so a driver may look at the host between two settings.
    ``attaches_with`` and ``serves_with`` map the programs that a client or a server needs to their Debian packages.
    With ``own_server`` the lab starts a server of its own, else it uses the system's. ``assumption_files`` have what
    the driver takes for granted about the system (:mod:`lab.hosts.assumptions`), ``captures`` outputs worth keeping.
    """

    attaches_with: ClassVar[Mapping[str, str]] = {}
    serves_with: ClassVar[Mapping[str, str]] = {}
    client_tcp_reach: ClassVar[ReachByVersion] = {}
    server_tcp_reach: ClassVar[ReachByVersion] = {}
    own_server: ClassVar[bool] = True
    assumption_files: ClassVar[tuple[Path, ...]] = ()
    captures: ClassVar[tuple[Capture, ...]] = ()

    def explain(self, output: str) -> str:
        """The remedy for a failed command of this driver, by what it printed; empty if unknown."""
        return ""

    # --- the client's half: what can be known before anything is changed

    def mount_method(self, client: Side) -> str:
        """How this client attaches, in a few words. Raises Unsupported, with what to install, if it cannot."""
        return "no mount"

    def cannot_attach(self, client: Side, options: Mapping[str, str]) -> str:
        """Why this client cannot give a mount these options; empty if it can. ``server`` is no option of the mount."""
        return f"the lab tells {client.platform} no options of a mount" if set(options) - {"server"} else ""

    def old_dialect(self, client: Side) -> str:
        """The only dialect of this client, if it is so old that a server must be told to offer it; else empty."""
        return ""

    def takes_every_network(self, client: Side) -> bool:
        """Whether a mount uses every network that both hosts are on, unless an option forbids it."""
        return False

    def find_channels(self, client: Side, path: str) -> Mapping[str, str]:
        """The client's interfaces that a mount sends over, each with a word on its kind; empty if not known."""
        return {}

    # --- attaching

    def prepare(self, client: Side) -> Steps:
        """Settings that the client needs before it attaches, and keeps between attachments."""
        yield from ()

    def attach(self, client: Side, server: Side, share: Share) -> Generator[Setting, None, Attached]:
        """Make the share usable, with nothing cached from an earlier attachment.

        The last setting, if any, is the mount that caches file data: before a read it is undone and redone.
        """
        raise Unsupported(f"the lab cannot attach this protocol on {client.platform} yet", host=client.host.name)
        yield

    # --- the server's half: what can be known before anything is changed

    def needs_to_serve(self, server: Side, options: Mapping[str, str]) -> Mapping[str, str]:
        """The programs, and the Debian package of each, that a share with these options needs on the server."""
        return self.serves_with

    def served_by(self, server: Side, account: str) -> str:
        """In a few words, what serves here; ``account`` logs in. Raises Unsupported, with what to do, if it cannot."""
        return next(iter(self.serves_with), "its own server")

    def cannot_serve(self, server: Side, share: Share) -> str:
        """Why this server cannot have the durability, or be the program, that the share is to have; else empty."""
        return "the lab does not choose what serves there" if share.options.keys() & set(SERVER_OPTIONS) else ""

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
        """The durability that the running server has: ``server_sync``, and its cause in ``server_sync_by``."""
        return {}


@dataclass(frozen=True)
class Protocol:
    """A protocol: its drivers by platform, the TCP port it is served on, and whether it gives a mounted folder.

    ``takes_password`` says whether a client logs in with the share's account. ``server_syncs`` are the levels of
    durability for the lab's own servers (docs/explanation/durability.md). ``options`` are what a sweep may set for the
    mount and the programs at its ends, as ``name.option``. ``least_file_bytes``: the least that the protocol sends in
    either direction for a file, besides its content.
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
        """A new driver for a host. Raises Absent if its platform has none."""
        if platform not in self.drivers:
            raise Absent(f"{self.name} is not supported on {platform}; it is on {', '.join(self.drivers)}")
        return self.drivers[platform]()

    def tcp_reach(self, platform: str, role: str) -> ReachByVersion:
        """By version of a platform, whether TCP buffers reach the sockets at one end; empty if unknown."""
        driver = self.drivers.get(platform, Driver)
        return driver.client_tcp_reach if role == "client" else driver.server_tcp_reach

    def conflict(self, options: Mapping[str, str]) -> str:
        """Why these levels of ``options`` cannot go together; empty where they can."""
        return find_clash(options)


def durability_in_effect(driver: Driver, server: Side, share: Share) -> Mapping[str, str]:
    """What :meth:`Driver.durability` reads. Raises SettingRefused where it is not what the share was to have."""
    effective = driver.durability(server, share)
    if share.server_sync not in ("default", effective.get("server_sync")):
        message = (
            f"server_sync was set to {share.server_sync} and reads back as {effective.get('server_sync')} "
            f"({effective.get('server_sync_by')})"
        )
        raise SettingRefused(message, host=server.host.name)
    return effective


def options_in_effect(name: str, share: Share, levels: Mapping[str, str]) -> dict[str, str]:
    """The ``levels`` read back, by ``name.option``. Raises SettingRefused where one is not as it was asked for."""
    for option, level in share.options.items():
        if level != (effective := levels.get(option)):
            message = f"{name}.{option} was set to {level} and reads back as {effective or 'unknown'}"
            remedy = f"client or server does not take it: leave {level} out of the sweep"
            raise SettingRefused(message, remedy, host="client")
    return {f"{name}.{option}": level for option, level in levels.items()}
