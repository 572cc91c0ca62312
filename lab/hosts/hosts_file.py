"""hosts.ini and sweep files, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key
and what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.units import Seconds, Size
from lab.base.validation import Model, read_text, validate
from lab.hosts.fields import (
    Absolute,
    AccountName,
    Address,
    HostName,
    Instance,
    Interface,
    Lease,
    PasswordSource,
    PlainFolder,
    Port,
    ShareName,
    SshAlgorithms,
    UserName,
    is_loopback,
    plain_account,
    plain_folder,
    plain_name,
)

RESULTS = "results"  # the folder of the runs, in the current one
RUN_FILES = ("run.json", "journal.jsonl")


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: HostName
    """The name or address that ssh understands; ``~/.ssh/config``, the agent and known_hosts are honoured."""
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
    transport: Literal["paramiko", "openssh"] = "paramiko"
    """How SSH is spoken: ``openssh`` is the ssh program of this machine."""
    ssh_algorithms: SshAlgorithms = ()
    """Old algorithms to offer as well; only with ``transport = openssh``."""
    sudo: Literal["nopasswd", "password", "helper", "none"] = "nopasswd"
    """How root commands run: sudo asks for no password, or for one; or allows the lab's helper alone, which `lab host
    install` puts there; or ``none``: the user is root."""
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
    """Linux: tmpfs (its default), ext4. Mac: hfs (its default), hfs-case, apfs (macOS 10.13 and later)."""
    tune: Literal["yes", "no"] | None = None
    """Whether MTU and TCP buffers may be changed. Default: yes; no for the server of an existing share."""
    revert_after: Annotated[Seconds, Field(ge=5, le=3600)] = 60.0
    """The host takes a change back that cut the controller off for so long."""

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
    account: AccountName
    """The account of the share (SMB, AFP)."""
    password: PasswordSource = "prompt"
    """Where the password of that account comes from."""

    @field_validator("path", "name", "account")
    @classmethod
    def _servers_of_the_lab_can_be_told(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Of a share that is there already, everything is taken that its server could be told."""
        if value is None or info.data.get("serve") != "lab":
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
    text = read_text(path, f"copy {shipped.HOSTS_TEMPLATE} and fill it in, or run `lab local up`")
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            raise BadInput(f"{path}: line {number}: has a NUL character, which no value may have")
        if re.match(r"\s*\[[^]]*\]\s*[^\s#;]", line):  # the parser would take the section and forget the rest
            raise BadInput(f"{path}: line {number}: after [section] the line must end")
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"), default_section="\0")
    try:
        parser.read_string(text, str(path))
    except configparser.ParsingError as error:
        # its own message would repeat the line, which may hold a password
        where = getattr(error, "lineno", None) or error.errors[0][0]
        raise BadInput(f"{path}: line {where}: neither [section] nor `key = value` inside a section") from None
    except configparser.Error as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from error
    content = {name: dict(parser[name]) for name in parser.sections()}
    for section, key in ((section, key) for section, keys in content.items() for key in keys):
        if "\n" in content[section][key]:  # an indented key would silently become part of the one above it
            raise BadInput(f"{path}: [{section}] {key}: goes on in the next line; a key must not be indented")
    hosts = validate(Hosts, content, path)
    hosts._digest = hashlib.sha256(text.encode()).digest()
    return hosts


def check_place(path: Path, results: Path = Path(RESULTS)) -> None:
    """Raise BadInput for a hosts file in a run folder or among ``results``, or others that are called so.

    It names commands that this machine runs (``proxy_command``) and files that are sent to hosts, while a run folder is
    data that comes from anywhere. Folders are compared by what they are, not by their names: a name may be a link, or
    be written in capitals.
    """
    try:
        real = path.resolve(strict=True)
        folder = next((folder for folder in real.parents if _holds_results(folder, results)), None)
    except FileNotFoundError:
        return  # the error about that says what to do
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error
    if folder:
        raise BadInput(
            f"{path}: lies in {folder}, among results, and those may be somebody else's: it is not read",
            "look at it, and copy what is right to a hosts file outside",
        )


def _holds_results(folder: Path, results: Path) -> bool:
    """Whether a folder is that of a run, or holds those of runs."""
    if any(os.path.lexists(folder / name) for name in RUN_FILES):
        return True
    if os.path.lexists(results) and results.exists() and folder.samefile(results):
        return True
    is_called_so = folder.name.casefold() == RESULTS
    return is_called_so and any(any(folder.glob(f"*/{name}")) for name in RUN_FILES)
