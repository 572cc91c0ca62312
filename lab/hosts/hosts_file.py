"""A hosts file, read into frozen models.

Any mistake ends here, before a host is touched, with a message that names file, section, key and what would be right.
An unknown section or key is an error: a misspelt key must not silently change a sweep.
"""

import hashlib
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lab.base import shipped
from lab.base.errors import LabFailure
from lab.base.validation import Model, Size, read_text, validate
from lab.hosts import fields
from lab.hosts.host_config import HostConfig
from lab.hosts.role import ROLES, Role, client_name, is_further_client
from lab.hosts.sections import check_filled_in, check_place, parse_json_sections, parse_sections

OWN_KEYS = ("host", "data_address", "interface", "proxy_command")  # further clients do not inherit these


class ShareConfig(Model):
    """The ``[share]`` section: what the server offers, and the account that may use it."""

    serve: Literal["lab", "existing"] = "existing"
    """``lab``: the lab serves a folder for the run. ``existing``: a share that is there, used as it is."""
    path: fields.Absolute | None = None
    """The folder on the server: of the existing share, or, with ``serve = lab``, the one for store ``disk``."""
    name: fields.ShareName = "lab"
    """What clients ask for (SMB, AFP)."""
    mounted: fields.Absolute | None = None
    """A folder of the client where the share is mounted already, by somebody else: it is used as it is. Then name,
    account and password are not needed, and no option of the mount can be varied."""
    folder: fields.ShareSubfolder = ""
    """A folder in the share, for the lab to make its own in. Only where no login leads to the share on the server."""
    account: fields.AccountName | Literal[""] = Field("", validate_default=True)
    """The account of the share (SMB, AFP)."""
    password: fields.PasswordSource = "prompt"
    """Where the password of that account comes from."""
    image_size: Size = 2 * 1024**3
    """With ``serve = lab``: the size of each file system that the lab makes in an image file, for stores such as
    ``ext4``; of ``zfs`` that of all files of a pool together. They are in the lab's own folder, and the disk there must
    have room for all of it."""
    devices: fields.DevicePaths = ()
    """With ``serve = lab``: disks or partitions of the server that hold nothing, with spaces between them, for stores
    such as ``ext4`` with ``ext4.disk = ["named"]``. ``lab run`` writes to them once ``--write-to`` names them, too."""

    @property
    def label(self) -> str:
        """The share in messages: where it is mounted already, the path that NFS exports, or its name."""
        return self.mounted or self.path or self.name

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
        """An existing share may have any name that a server allows."""
        if not value or info.data.get("serve") != "lab":
            return value
        checks = {"path": fields.plain_folder, "name": fields.plain_name, "account": fields.plain_account}
        return checks[str(info.field_name)](value)


class LabConfig(Model):
    """The optional ``[lab]`` section: what stands under every figure, and which local lab these hosts belong to."""

    title: str = ""
    """A line for every figure and table, such as the cards, the cable and the switch."""
    instance: fields.Instance = None
    """Which local lab the hosts are of; `lab local up` writes it, and no other file has it."""
    lease: fields.Lease = 600.0
    """If a host hears nothing of a run for so long, it undoes the run's changes by itself; a busy host does somewhat
    later. ``off``: it waits for `lab restore`. From 30 s to 24 h.
    """


class Hosts(Model):
    """A whole hosts file."""

    client: HostConfig
    """The machine that mounts the share."""
    more_clients: dict[str, HostConfig] = Field(default_factory=dict)
    """The machines of ``[client.2]``, ``[client.3]``, …, by these names."""
    server: HostConfig
    """The machine that has the share."""
    share: ShareConfig
    """What the server offers."""
    lab: LabConfig = LabConfig()
    """About the measurement as a whole."""
    _digest: bytes = b""
    _watched: LabFailure | None = None

    @property
    def digest(self) -> bytes:
        """SHA-256 of the file's text; empty if not read from a file."""
        return self._digest

    @property
    def path(self) -> Path:
        """The file, resolved. Raises ValueError if not read from a file."""
        if self._file is None:
            raise ValueError("a hosts file that was not read from a file")
        return self._file.resolve()

    @model_validator(mode="before")
    @classmethod
    def _gather_clients(cls, content: object) -> object:
        """Move ``[client.2]`` etc. to ``more_clients``, with the keys inherited from ``[client]``."""
        if not isinstance(content, dict):
            return content
        sections = content.get("more_clients", {Role.CLIENT: {}})
        if not sections or not all(isinstance(section, dict | HostConfig) for section in sections.values()):
            raise ValueError("[more_clients]: unknown")  # a section of the file
        names = sorted(filter(is_further_client, content), key=lambda name: int(name.rpartition(".")[2]))
        for number, name in enumerate(names, 2):
            if name != client_name(number):
                raise ValueError(f"[{name}]: there is no [{client_name(number)}]: number clients without a gap")
        first = content.get(Role.CLIENT)
        common = {key: first[key] for key in first if key not in OWN_KEYS} if isinstance(first, dict) else {}
        if common.get("transport") == "local":
            del common["transport"]
        more = {name: common | content[name] if isinstance(content[name], dict) else content[name] for name in names}
        rest = {name: section for name, section in content.items() if name not in more}
        return rest | {"more_clients": more} if more else rest

    @property
    def clients(self) -> dict[str, HostConfig]:
        """The sections of all clients, by name; the first is ``client``."""
        return {Role.CLIENT.value: self.client, **self.more_clients}

    def section(self, name: str) -> HostConfig:
        return self.server if name == Role.SERVER else self.clients[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the hosts that the lab runs commands on: :attr:`reached`, and then further clients."""
        return (*self.reached, *self.more_clients)

    @property
    def unseen(self) -> LabFailure | None:
        """Why the lab makes no files and changes no setting on the server, and what would help; None if it may."""
        nobody = LabFailure("nobody logs in to the server", "give [server] host in the hosts file")
        return self._watched if self.server.is_reached else nobody

    def watching(self, why: LabFailure) -> Self:
        """A copy with a server on which the lab changes nothing, and only reads the counters; ``why`` says so."""
        server = {"tune": "no", "iperf3": self.server.iperf3 or "off"}
        copy = self.model_copy(update={"server": self.server.model_copy(update=server)})
        copy._watched = why
        return copy

    def or_tune(self, name: str) -> str:
        """The end of a remedy: what lets the lab change MTU and TCP buffers of a host."""
        watched = self._watched if name == Role.SERVER else None
        return f"; {watched.on_one_line()}" if watched else f", or tune = yes in [{name}] of the hosts file"

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of the hosts that a run may change: all but a server that is only watched."""
        return tuple(name for name in self.names if name != Role.SERVER or not self._watched)

    def with_clients(self, count: int) -> Self:
        kept = dict(list(self.more_clients.items())[: count - 1])
        return self.model_copy(update={"more_clients": kept})

    def seen_by(self, name: str) -> Self:
        """A copy with this client as the only one."""
        return self.model_copy(update={"client": self.clients[name], "more_clients": {}})

    def may_tune(self, name: str) -> bool:
        """Whether MTU and TCP buffers may be changed: ``tune``; by default not on the server of an existing share."""
        tune = self.section(name).tune
        return bool(tune == "yes") if tune else name != Role.SERVER or self.share.serve == "lab"

    @model_validator(mode="after")
    def _helper_can_do_it(self) -> Self:
        """The helper of a narrow sudo starts no server, because a server's settings may name programs to run as root.

        It takes no comma in the name of a share: mount.cifs has the name among options, which commas separate.
        """
        if self.server.sudo == "helper" and self.share.serve == "lab":
            raise ValueError(
                "[server] sudo: the helper starts no server; give serve = existing with a share that is there, or, for "
                "the time of the measurements, sudo = password"
            )
        narrow = [name for name, client in self.clients.items() if client.sudo == "helper"]
        for key in ("name", "account"):
            if narrow and "," in getattr(self.share, key):
                where = f"with [{narrow[0]}] sudo = helper"
                raise ValueError(f"[share] {key}: {where} it has no comma: give another sudo there")
        return self

    @property
    def is_of_user(self) -> bool:
        """Whether a user may know its keys: `lab measure` keeps its hosts as JSON, and nobody has seen them."""
        return not self._file or self._file.suffix != ".json"

    @property
    def measures_link(self) -> bool:
        return self.server.iperf3 != "off" and (self.server.is_reached or self.server.iperf3 is not None)

    @property
    def reached(self) -> tuple[Role, ...]:
        """The hosts that the lab runs commands on: both, or the client alone."""
        return tuple(role for role in ROLES if getattr(self, role).is_reached)

    @property
    def through_mount(self) -> bool:
        """Whether files of trials are created and checked through the mount, without access on the server."""
        share = self.share
        has_way = share.path is not None and share.mounted is None and self.unseen is None
        return share.serve == "existing" and not has_way

    @model_validator(mode="after")
    def _client_is_reached(self) -> Self:
        for name, client in self.clients.items():
            if not client.is_reached:
                raise ValueError(f"[{name}] host: missing; or give transport = local, where the client is this machine")
            if client.iperf3 is not None:
                raise ValueError(f"[{name}] iperf3: is for the server")
        if not self.server.is_reached and self.share.serve == "lab":
            raise ValueError("[server] host: missing: serve = lab needs a login there; serve = existing does without")
        if self.share.folder and not self.through_mount:
            raise ValueError("[share] folder: is for a share that no login leads to; elsewhere give path")
        if not self.server.is_reached and self.server.tune == "yes":
            raise ValueError("[server] tune: without host nobody logs in there, and nothing can be changed")
        sections = {**self.clients, Role.SERVER.value: self.server}
        local = [name for name, section in sections.items() if section.transport == "local"]
        if len(local) > 1:
            raise ValueError(f"[{local[1]}] transport: [{local[0]}] is this machine: it cannot be both")
        return self

    @model_validator(mode="after")
    def _hosts_are_several(self) -> Self:
        """Two sections for one machine would measure it against itself and change its settings twice."""
        if self.more_clients and self.share.mounted is not None:
            raise ValueError("[share] mounted: is for one client: of several each mounts the share for the run")
        owners: dict[tuple[str, ...], str] = {}
        for name, section in {**self.clients, Role.SERVER.value: self.server}.items():
            if fields.is_loopback(section.data_address):
                remedy = "give the address that the host has on this link"
                raise ValueError(f"[{name}] data_address: is loopback, which reaches no other machine; {remedy}")
            if (other := owners.setdefault(("data_address", section.data_address.lower()), name)) != name:
                remedy = "give each host the one that it has itself"
                raise ValueError(f"[{name}] data_address: is that of [{other}] too; {remedy}")
            login = ("host", str(section.host).lower(), str(section.port), str(section.proxy_command))
            if section.host and (other := owners.setdefault(login, name)) != name and self.more_clients:
                raise ValueError(f"[{name}] host: is that of [{other}] too; two clients cannot be one machine")
        return self


def load_hosts(path: Path) -> Hosts:
    """Read a hosts file, INI or (written by `lab measure`) JSON. Raises BadInput, also as :func:`check_place`."""
    check_place(path)
    ways = f"`lab init` makes one; or copy {shipped.HOSTS_TEMPLATE} and fill it in, or run `lab local up`"
    text = read_text(path, ways)
    if path.suffix == ".json":
        content = parse_json_sections(text, path)
    else:
        content = parse_sections(text, path)
        check_filled_in(text, path)
    hosts = validate(Hosts, content, path)
    hosts._digest = hashlib.sha256(text.encode()).digest()
    return hosts
