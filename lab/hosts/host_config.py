"""What one section of a hosts file says of a host: how to reach it, and what the lab may use on it."""

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from lab.base.validation import Model, Seconds, Size
from lab.hosts import fields


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: fields.HostName | None = None
    """The name or address that ssh understands; ``~/.ssh/config``, the agent and known_hosts are honoured. A server
    without one is a server that nobody logs in to."""
    user: fields.UserName | None = None
    """The account to log in as. Default: what ``~/.ssh/config`` says, or your own name."""
    port: fields.Port | None = None
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
    ssh_algorithms: fields.SshAlgorithms = ()
    """Old algorithms to offer as well; only with ``transport = openssh``."""
    sudo: Literal["nopasswd", "password", "helper", "none"] = "nopasswd"
    """How root commands run: sudo asks for no password, or for one; or allows the lab's helper alone, which `lab host
    install` puts there; or ``none``: by the user, who is root, or can do without."""
    sudo_password: fields.PasswordSource = "prompt"
    """Where the password for sudo comes from."""
    data_address: fields.Address
    """The host's own address on the link that is measured, of IPv4 or IPv6. An address that is local to a link has the
    host's own interface behind it: ``fe80::1%eth0``.
    """
    interface: fields.Interface | None = None
    """The interface whose MTU is changed and whose bytes are counted. Default: the one that leads to the other host."""
    mount_base: fields.PlainFolder | None = None
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
    iperf3: fields.Iperf3Server | None = None
    """For the server: where an iperf3 listens already, ``ADDRESS:PORT``; ``off``: iperf3 does not measure the link.
    Default: the lab starts one if it logs in there, else off.
    """

    @property
    def is_reached(self) -> bool:
        return self.transport == "local" or self.host is not None

    @property
    def login(self) -> str:
        """The account and host of the login, for messages."""
        if self.host is None:
            return "this machine" if self.transport == "local" else "nobody"
        return f"{self.user}@{self.host}" if self.user else self.host

    @model_validator(mode="after")
    def _keys_go_together(self) -> Self:
        """This machine has no keys about a login; the helper of a narrow sudo cannot do everything."""
        login = ("host", "user", "port", "identity", "known_hosts", "proxy_command")
        if self.transport == "local" and (needless := [key for key in login if getattr(self, key) is not None]):
            raise ValueError(f"{needless[0]}: transport = local is this machine, without SSH: leave it out")
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
