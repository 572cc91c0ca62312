"""A hosts file, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key and
what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lab.base import shipped
from lab.base.quantities import Size
from lab.base.validation import Model, read_text, validate
from lab.hosts.fields import (
    Absolute,
    AccountName,
    DevicePaths,
    Instance,
    Lease,
    PasswordSource,
    ShareName,
    ShareSubfolder,
    is_loopback,
    plain_account,
    plain_folder,
    plain_name,
)
from lab.hosts.host_config import HostConfig
from lab.hosts.role import ROLES, Role, client_name, is_further_client
from lab.hosts.sections import check_place, parse_json_sections, parse_sections
from lab.hosts.template import check_filled_in

OWN_KEYS = ("host", "data_address", "interface", "proxy_command")  # of a client, which no other takes from it


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
    """A host that has heard nothing of a run for so long begins to put back by itself what the run changed, a busy one
    somewhat later; ``off``: it waits for `lab restore`. From 30 s to 24 h."""


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

    @model_validator(mode="before")
    @classmethod
    def _gather_clients(cls, content: Any) -> Any:
        """Have ``[client.2]`` and so on where the model has them, with what they take from ``[client]``."""
        if not isinstance(content, dict):
            return content
        own = content.get("more_clients", {Role.CLIENT: {}})
        if not own or not all(isinstance(section, dict | HostConfig) for section in own.values()):
            raise ValueError("[more_clients]: unknown")  # of a file, where it is a section with keys
        names = sorted(filter(is_further_client, content), key=lambda name: int(name.rpartition(".")[2]))
        for number, name in enumerate(names, 2):
            if name != client_name(number):
                raise ValueError(f"[{name}]: there is no [{client_name(number)}]: number clients without a gap")
        first = content.get(Role.CLIENT)
        common = {key: first[key] for key in first if key not in OWN_KEYS} if isinstance(first, dict) else {}
        if common.get("transport") == "local":
            del common["transport"]
        more = {name: common | content[name] if isinstance(content[name], dict) else content[name] for name in names}
        return {name: own for name, own in content.items() if name not in more} | (
            {"more_clients": more} if more else {}
        )

    @property
    def clients(self) -> dict[str, HostConfig]:
        """The sections of all clients, by name; the first is ``client``."""
        return {Role.CLIENT.value: self.client, **self.more_clients}

    def section(self, name: str) -> HostConfig:
        """The section of this name."""
        return self.server if name == Role.SERVER else self.clients[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the hosts that the lab runs commands on: :attr:`reached`, and then further clients."""
        return (*self.reached, *self.more_clients)

    def with_clients(self, count: int) -> Self:
        """The same with the first so many clients only."""
        kept = dict(list(self.more_clients.items())[: count - 1])
        return self.model_copy(update={"more_clients": kept})

    def seen_by(self, name: str) -> Self:
        """The same as if the client of this name were the only one."""
        return self.model_copy(update={"client": self.clients[name], "more_clients": {}})

    def may_tune(self, name: str) -> bool:
        """Whether MTU and TCP buffers of a host may be changed; those of a server that shares something anyway may not.

        ``tune`` in its section says otherwise.
        """
        tune = self.section(name).tune
        return bool(tune == "yes") if tune else name != Role.SERVER or self.share.serve == "lab"

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
        narrow = [name for name, client in self.clients.items() if client.sudo == "helper"]
        for key in ("name", "account"):
            if narrow and "," in getattr(self.share, key):
                raise ValueError(
                    f"[share] {key}: with [{narrow[0]}] sudo = helper it has no comma: give another sudo there"
                )
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
        local = [name for name, own in self._sections() if own.transport == "local"]
        if len(local) > 1:
            raise ValueError(f"[{local[1]}] transport: [{local[0]}] is this machine: it cannot be both")
        return self

    @model_validator(mode="after")
    def _mounted_is_on_one_client(self) -> Self:
        """Where somebody else mounted the share is known of one client."""
        if self.more_clients and self.share.mounted is not None:
            raise ValueError("[share] mounted: is for one client: of several each mounts the share for the run")
        return self

    def _sections(self) -> Iterator[tuple[str, HostConfig]]:
        """The name and the section of each host, the server last."""
        yield from self.clients.items()
        yield Role.SERVER.value, self.server

    @model_validator(mode="after")
    def _hosts_are_several(self) -> Self:
        """Two sections about one machine would measure it against itself, and change its settings twice."""
        seen: dict[tuple[str, ...], str] = {}
        for name, own in self._sections():
            if is_loopback(own.data_address):
                raise ValueError(
                    f"[{name}] data_address: is loopback, which reaches no other machine; "
                    "give the address that the host has on this link"
                )
            if (other := seen.setdefault(("data_address", own.data_address.lower()), name)) != name:
                raise ValueError(
                    f"[{name}] data_address: is that of [{other}] too; give each host the one that it has itself"
                )
            login = ("host", str(own.host).lower(), str(own.port), str(own.proxy_command))
            if own.host and (other := seen.setdefault(login, name)) != name and self.more_clients:
                raise ValueError(f"[{name}] host: is that of [{other}] too; two clients cannot be one machine")
        return self


def load_hosts(path: Path) -> Hosts:
    """Read a hosts file. Raises :class:`BadInput`, also for one that lies among results: see :func:`check_place`.

    A file ``*.json`` holds the sections as JSON: `lab measure` keeps what it measured in such files.
    """
    check_place(path)
    text = read_text(
        path, f"`lab init` makes one; or copy {shipped.HOSTS_TEMPLATE} and fill it in, or run `lab local up`"
    )
    if path.suffix == ".json":
        content = parse_json_sections(text, path)
    else:
        content = parse_sections(text, path)
        check_filled_in(text, path)
    hosts = validate(Hosts, content, path)
    hosts._digest = hashlib.sha256(text.encode()).digest()
    return hosts
