"""A hosts file, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key and
what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lab.base import shipped
from lab.base.quantities import Seconds, Size
from lab.base.validation import Model, read_text, validate
from lab.hosts.fields import (
    Absolute,
    AccountName,
    Address,
    DevicePaths,
    HostName,
    Instance,
    Interface,
    Iperf3Server,
    Lease,
    PasswordSource,
    PlainFolder,
    Port,
    ShareName,
    ShareSubfolder,
    SshAlgorithms,
    UserName,
    is_loopback,
    plain_account,
    plain_folder,
    plain_name,
)
from lab.hosts.role import ROLES, Role
from lab.hosts.sections import check_place, parse_sections
from lab.hosts.template import check_filled_in


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: HostName | None = None
    """The name or address that ssh understands; ``~/.ssh/config``, the agent and known_hosts are honoured. A server
    without one is a server that nobody logs in to."""
    user: UserName | None = None
    """The account to log in as. Default: what ``~/.ssh/config`` says, or your own name."""
    port: Port | None = None
    """The port of sshd. Default: what ``~/.ssh/config`` says, or 22."""
    identity: str | None = None
    """The file of a private key. Default: what ``~/.ssh/config`` and the agent have."""
    known_hosts: str | None = None
    """A file of host keys in place of ``~/.ssh/known_hosts``."""
    proxy_command: str | None = None
    """A command that leads to sshd, as ProxyCommand of ssh: %h is the host's name, %p its port."""
    transport: Literal["paramiko", "openssh", "local"] = "paramiko"
    """How SSH is spoken: ``openssh`` is the ssh program of this machine. ``local``: the host is this machine itself, to
    which no SSH is spoken."""
    ssh_algorithms: SshAlgorithms = ()
    """Old algorithms to offer as well; only with ``transport = openssh``."""
    sudo: Literal["nopasswd", "password", "helper", "none"] = "nopasswd"
    """How root commands run: sudo asks for no password, or for one; or allows the lab's helper alone, which `lab host
    install` puts there; or ``none``: by the user, who is root, or can do without."""
    sudo_password: PasswordSource = "prompt"
    """Where the password for sudo comes from."""
    data_address: Address
    """The host's own address on the link that is measured."""
    interface: Interface | None = None
    """The interface whose MTU is changed and whose bytes are counted. Default: the one that leads to the other host."""
    mount_base: PlainFolder | None = None
    """The folder in which the lab makes one of its own, and removes it again. Others must not be able to write into it,
    unless it is sticky. Default: /var/lib/file-share-lab, on a Mac /var/db/file-share-lab, which only root can write
    into."""
    ram_disk: Size = 2 * 1024**3
    """The size of the RAM disk: the payload and 5 % more, and no more than there is free memory."""
    ram_disk_format: str | None = None  # a word that a platform knows: lab.platforms.check_hosts
    """Linux: tmpfs (its default), ext4, shm (a folder in /dev/shm, which needs no root). Mac: hfs (its default),
    hfs-case, apfs (macOS 10.13 and later). Either: folder (on its disk)."""
    tune: Literal["yes", "no"] | None = None
    """Whether MTU and TCP buffers may be changed. Default: yes; no for the server of an existing share."""
    revert_after: Annotated[Seconds, Field(ge=5, le=3600)] = 60.0
    """The host takes a change back that cut the controller off for so long."""
    iperf3: Iperf3Server | None = None
    """Of the server: where an iperf3 listens already, ``ADDRESS:PORT``; ``off``: the link is not measured by iperf3.
    Default: where the lab logs in, it starts one; elsewhere off."""

    @property
    def is_reached(self) -> bool:
        """Whether the lab runs commands there."""
        return self.transport == "local" or self.host is not None

    @property
    def login(self) -> str:
        """Who is reached, for messages."""
        if self.host is None:
            return "this machine" if self.transport == "local" else "nobody"
        return f"{self.user}@{self.host}" if self.user else self.host

    @model_validator(mode="after")
    def _local_needs_no_login(self) -> Self:
        """What says how to log in means nothing for this machine."""
        login = ("host", "user", "port", "identity", "known_hosts", "proxy_command")
        if self.transport == "local" and (needless := [key for key in login if getattr(self, key) is not None]):
            raise ValueError(f"{needless[0]}: transport = local is this machine, without SSH: leave it out")
        return self

    @model_validator(mode="after")
    def _helper_can_do_it(self) -> Self:
        """Of what a section asks for, the helper of a narrow sudo does not know everything."""
        if self.sudo == "helper" and self.mount_base:
            raise ValueError("mount_base: sudo = helper works in the lab's own folder alone: leave mount_base out")
        if self.sudo == "helper" and self.ram_disk_format == "ext4":
            raise ValueError("ram_disk_format: sudo = helper makes no ext4: leave it out, or give another sudo")
        return self

    @field_validator("ssh_algorithms")
    @classmethod
    def _only_openssh_has_old_ones(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if value and info.data.get("transport") == "paramiko":
            raise ValueError("is for transport = openssh: paramiko has only those that are safe")
        return value


class ShareConfig(Model):
    """The ``[share]`` section: what the server offers, and the account that may use it."""

    serve: Literal["lab", "existing"] = "existing"
    """``lab``: the lab serves a folder for the run. ``existing``: a share that is there, used as it is."""
    path: Absolute | None = None
    """The folder on the server: of the existing share, or, with ``serve = lab``, the one for store ``disk``."""
    name: ShareName = "lab"
    """What clients ask for (SMB, AFP)."""
    mounted: Absolute | None = None
    """A folder of the client where the share is mounted already, by somebody else: it is used as it is. Then name,
    account and password are not needed, and no option of the mount can be varied."""
    folder: ShareSubfolder = ""
    """A folder in the share, for the lab to make its own in. Only where no login leads to the share on the server."""
    account: AccountName | Literal[""] = Field("", validate_default=True)
    """The account of the share (SMB, AFP)."""
    password: PasswordSource = "prompt"
    """Where the password of that account comes from."""
    image_size: Size = 2 * 1024**3
    """With ``serve = lab``: the size of each file system that the lab makes in an image file, for stores such as
    ``ext4``; of ``zfs`` that of all files of a pool together. They are in the lab's own folder, and the disk there must
    have room for all of it."""
    devices: DevicePaths = ()
    """With ``serve = lab``: disks or partitions of the server that hold nothing, with spaces between them, for stores
    such as ``ext4`` with ``ext4.disk = ["named"]``. ``lab run`` writes to them once ``--write-to`` names them, too."""

    @model_validator(mode="after")
    def _mounted_is_there_already(self) -> Self:
        if self.mounted is not None and self.serve == "lab":
            raise ValueError("mounted: is for serve = existing: what the lab serves, it mounts")
        return self

    @field_validator("account")
    @classmethod
    def _account_is_there(cls, value: str, info: ValidationInfo) -> str:
        if not value and info.data.get("mounted") is None:
            raise PydanticCustomError("missing", "missing")
        return value

    @field_validator("path", "name", "account")
    @classmethod
    def _servers_of_the_lab_can_be_told(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Of a share that is there already, everything is taken that its server could be told."""
        if not value or info.data.get("serve") != "lab":
            return value
        return {"path": plain_folder, "name": plain_name, "account": plain_account}[str(info.field_name)](value)


class LabConfig(Model):
    """The optional ``[lab]`` section: what stands under every figure, and which local lab these hosts belong to."""

    title: str = ""
    """A line for every figure and table, such as the cards, the cable and the switch."""
    instance: Instance = None
    """Which local lab the hosts are of; `lab local up` writes it, and no other file has it."""
    lease: Lease = 600.0
    """A host that has heard nothing of a run for so long has put back by itself what the run changed; ``off``: it waits
    for `lab restore`. From 30 s to 24 h."""


class Hosts(Model):
    """A whole hosts file."""

    client: HostConfig
    """The machine that mounts the share."""
    server: HostConfig
    """The machine that has the share."""
    share: ShareConfig
    """What the server offers."""
    lab: LabConfig = LabConfig()
    """About the measurement as a whole."""
    _digest: bytes = b""

    @property
    def digest(self) -> bytes:
        """SHA-256 of the file's text; empty where it was not read from a file."""
        return self._digest

    @property
    def path(self) -> Path:
        """The file, resolved. Raises ValueError where it was not read from one."""
        if self._file is None:
            raise ValueError("a hosts file that was not read from a file")
        return self._file.resolve()

    def may_tune(self, role: str) -> bool:
        """Whether MTU and TCP buffers of a host may be changed; those of a server that shares something anyway may not.

        ``tune`` in its section says otherwise.
        """
        tune = getattr(self, role).tune
        return bool(tune == "yes") if tune else role == "client" or self.share.serve == "lab"

    @model_validator(mode="after")
    def _helper_serves_nothing(self) -> Self:
        """A server's settings come from the account, and may name programs that the server runs as root."""
        if self.server.sudo == "helper" and self.share.serve == "lab":
            raise ValueError(
                "[server] sudo: the helper starts no server; give serve = existing with a share that is there, or, for "
                "the time of the measurements, sudo = password"
            )
        return self

    @model_validator(mode="after")
    def _helper_mounts_no_comma(self) -> Self:
        """mount.cifs puts the name of a share among options, which commas part."""
        for key in ("name", "account"):
            if self.client.sudo == "helper" and "," in getattr(self.share, key):
                raise ValueError(f"[share] {key}: with [client] sudo = helper it has no comma: give another sudo there")
        return self

    @property
    def measures_link(self) -> bool:
        """Whether iperf3 can tell what the link carries."""
        return self.server.iperf3 != "off" and (self.server.is_reached or self.server.iperf3 is not None)

    @property
    def reached(self) -> tuple[Role, ...]:
        """The hosts that the lab runs commands on: both, or the client alone."""
        return tuple(role for role in ROLES if getattr(self, role).is_reached)

    @property
    def through_mount(self) -> bool:
        """Whether the files of trials are made and looked at through the mount: their place on the server is not known,
        or out of reach."""
        share = self.share
        unseen = share.path is None or share.mounted is not None or not self.server.is_reached
        return share.serve == "existing" and unseen

    @model_validator(mode="after")
    def _client_is_reached(self) -> Self:
        """Of a server that nobody logs in to, nothing can be changed."""
        if not self.client.is_reached:
            raise ValueError("[client] host: missing; or give transport = local, where the client is this machine")
        if self.client.iperf3 is not None:
            raise ValueError("[client] iperf3: is for the server")
        if not self.server.is_reached and self.share.serve == "lab":
            raise ValueError("[server] host: missing: serve = lab needs a login there; serve = existing does without")
        if self.share.folder and not self.through_mount:
            raise ValueError("[share] folder: is for a share that no login leads to; elsewhere give path")
        if not self.server.is_reached and self.server.tune == "yes":
            raise ValueError("[server] tune: without host nobody logs in there, and nothing can be changed")
        if self.client.transport == self.server.transport == "local":
            raise ValueError("[server] transport: client and server cannot both be this machine")
        return self

    @model_validator(mode="after")
    def _hosts_are_two(self) -> Self:
        for role in ("client", "server"):
            if is_loopback(getattr(self, role).data_address):
                raise ValueError(
                    f"[{role}] data_address: is loopback, which reaches no other machine; "
                    "give the address that the host has on this link"
                )
        if self.client.data_address.lower() == self.server.data_address.lower():
            raise ValueError(
                "[server] data_address: is that of [client] too; give each host the one that it has itself"
            )
        return self


def load_hosts(path: Path) -> Hosts:
    """Read a hosts file. Raises :class:`BadInput`, also for one that lies among results: see :func:`check_place`."""
    check_place(path)
    text = read_text(
        path, f"`lab init` makes one; or copy {shipped.HOSTS_TEMPLATE} and fill it in, or run `lab local up`"
    )
    content = parse_sections(text, path)
    check_filled_in(text, path)
    hosts = validate(Hosts, content, path)
    hosts._digest = hashlib.sha256(text.encode()).digest()
    return hosts
