"""An SSH connection: finding the way as ssh does, checking the host key, and explaining what goes wrong."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import shlex
import socket
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import paramiko

from lab.config import HostConfig
from lab.errors import BadInput, HostError, HostKeyError
from lab.values import parse_port

CONNECT_DEADLINE_S = 20.0
KEEPALIVE_S = 5
SSH_CONFIG = "~/.ssh/config"
# what paramiko has to say comes as an exception too; without a handler it prints tracebacks
logging.getLogger("paramiko").addHandler(logging.NullHandler())


class StrictHostKeys(paramiko.MissingHostKeyPolicy):
    """Refuse a host whose key is not on record, and say by which command it is accepted."""

    def __init__(self, where: str, accept: str):
        self.where, self.accept = where, accept

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Raise HostKeyError with the fingerprint as ssh prints it."""
        kind = "ecdsa" if key.get_name().startswith("ecdsa") else key.get_name().removeprefix("ssh-")
        raise HostKeyError(
            f"{self.where}: unknown host key: {key.get_name()} {fingerprint(key)}\n"
            f"Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub` "
            f"prints on that machine, then accept it with: {self.accept}"
        )


def fingerprint(key: paramiko.PKey) -> str:
    """``SHA256:…`` of a host key."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


@dataclass(frozen=True)
class Way:
    """How to reach a host, from the hosts file and, where that says nothing, from ~/.ssh/config."""

    where: str
    login: str
    address: str
    port: int
    user: str | None
    identities: list[str]
    proxy_command: str | None
    known_hosts: Path
    by_hand: str
    forget: str


def connect(role: str, config: HostConfig) -> tuple[paramiko.SSHClient, Proxy | None]:
    """An open connection, and the proxy it goes through; honours ~/.ssh/config, the agent and known_hosts.

    Raises HostError or HostKeyError, with what to do; BadInput for files that are not what they should be.
    """
    way = _way(role, config)
    with ExitStack() as stack:
        client = paramiko.SSHClient()
        stack.callback(client.close)
        client.set_missing_host_key_policy(StrictHostKeys(way.where, way.by_hand))
        _load_known_hosts(client, Path("/etc/ssh/ssh_known_hosts"), way.known_hosts)
        proxy = Proxy(way.proxy_command) if way.proxy_command else None
        if proxy:
            stack.callback(proxy.close)
        try:
            client.connect(
                way.address,
                way.port,
                way.user,
                key_filename=cast(Any, way.identities),  # a list is fine, whatever its annotation says
                sock=proxy.socket if proxy else None,
                timeout=CONNECT_DEADLINE_S,
                banner_timeout=CONNECT_DEADLINE_S,
                auth_timeout=CONNECT_DEADLINE_S,
            )
        except (paramiko.SSHException, OSError, EOFError, ValueError, LookupError) as error:
            raise _explain(error, way, proxy) from error
        transport = client.get_transport()
        assert transport is not None
        transport.set_keepalive(KEEPALIVE_S)
        stack.pop_all()
        return client, proxy


def _way(role: str, config: HostConfig) -> Way:
    place = f"{config.place}[{role}]"
    options = ssh_config(config.host)
    address = options.get("hostname", config.host)
    port = config.port or options.get("port", 22)
    user = config.user or options.get("user")
    login = f"{user}@{config.host}" if user else config.host
    proxy_command = _proxy_command(config, options, address, port)
    if proxy_command is None:
        _check_name(address, f"{place} host")
    identities, known_hosts = _files(config, options, place)
    given = {"UserKnownHostsFile": config.known_hosts, "ProxyCommand": config.proxy_command}
    words = [word for name, value in given.items() if value for word in ("-o", f"{name}={value}")]
    return Way(
        where=f"{role}: {login}",
        login=login,
        address=address,
        port=port,
        user=user,
        identities=identities,
        proxy_command=proxy_command,
        known_hosts=known_hosts,
        by_hand=shlex.join(["ssh", *(["-p", str(config.port)] if config.port else []), *words, login]),
        forget=shlex.join(
            ["ssh-keygen", "-R", address if port == 22 else f"[{address}]:{port}"]
            + (["-f", config.known_hosts] if config.known_hosts else [])
        ),
    )


def _check_name(address: str, key: str) -> None:
    # the resolver encodes names so before it looks for them, and does not say which one it could not encode
    try:
        address.encode("idna")
    except UnicodeError as error:
        said = f"the name of a host is parts of 1 to 63 letters with dots between (Hostname in {SSH_CONFIG} counts too)"
        raise BadInput(f"{key}: {address:.80} cannot be looked up: {said}") from error


def _files(config: HostConfig, options: dict[str, Any], place: str) -> tuple[list[str], Path]:
    """The private keys that there are, and the file of known hosts. Raises BadInput."""
    if config.identity:
        keys = [_expanded(config.identity, f"{place} identity")]
        if not keys[0].is_file():
            raise BadInput(f"{place} identity: there is no key {config.identity}")
    else:
        keys = [_expanded(name, f"{SSH_CONFIG}: IdentityFile") for name in options.get("identityfile", [])]
    if config.known_hosts:
        known_hosts = _expanded(config.known_hosts, f"{place} known_hosts")
    else:
        name = options.get("userknownhostsfile", "").split(" ")[0] or "~/.ssh/known_hosts"
        known_hosts = _expanded(name, f"{SSH_CONFIG}: UserKnownHostsFile")
    return [str(key) for key in keys if key.is_file()], known_hosts  # ~/.ssh/config may name keys that are not there


def _expanded(name: str, key: str) -> Path:
    """``name`` with the home folder that its ``~`` stands for. Raises BadInput, naming ``key``, where there is none."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise BadInput(f"{key}: {name}: there is no such home folder; give the full path, or set HOME") from error


def _explain(error: Exception, way: Way, proxy: Proxy | None) -> HostError:
    """What a failed connection means, and what to do about it."""
    if isinstance(error, paramiko.BadHostKeyException):
        return HostKeyError(
            f"{way.where}: the host key has CHANGED: it is {fingerprint(error.key)}, on record is "
            f"{fingerprint(error.expected_key)}. Find out why; if it is right: {way.forget}"
        )
    if isinstance(error, paramiko.AuthenticationException | paramiko.PasswordRequiredException):
        return HostError(
            f"{way.where}: SSH refused the login: {error}. Its key must be in that account's authorized_keys: "
            f"`ssh-copy-id {way.login}`; a key with a passphrase goes into the agent (`ssh-add`)"
        )
    said = proxy.close() if proxy else ""
    return HostError(
        f"{way.where}: cannot be reached on port {way.port}: {said or _reason(error)}. Is it on, "
        f"is SSH (Remote Login) on, and does `{way.by_hand}` work?"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, paramiko.ssh_exception.NoValidConnectionsError):  # one error for each address of the name
        return ", ".join(
            f"{address}: {getattr(tried, 'strerror', None) or tried}" for (address, *_), tried in error.errors.items()
        )
    return str(error) or type(error).__name__


def _load_known_hosts(client: paramiko.SSHClient, *files: Path) -> None:
    for file in files:
        try:
            if file.is_file():
                client.load_system_host_keys(str(file))
        except (paramiko.hostkeys.InvalidHostKey, OSError, ValueError) as error:
            raise BadInput(f"{file}: not a file of known hosts that can be read: {error}") from error


def ssh_config(host: str) -> dict[str, Any]:
    """What ~/.ssh/config says of a host; ``port`` as a number. Raises BadInput."""
    path = _expanded(SSH_CONFIG, "the settings of ssh")
    try:
        if not path.is_file():
            return {}
        text = path.read_text()
        if "\0" in text:
            raise ValueError("it has a NUL character")
        found = dict(paramiko.SSHConfig.from_text(text).lookup(host))
        return found | ({"port": _port(found["port"])} if "port" in found else {})
    except (paramiko.SSHException, OSError, ValueError, LookupError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


def _port(text: str) -> int:
    try:
        return parse_port(text)
    except ValueError as error:
        raise ValueError(f"Port {text} {error}") from error


def _proxy_command(config: HostConfig, options: dict[str, Any], address: str, port: int) -> str | None:
    if config.proxy_command:  # with the tokens that ssh_config(5) has for it, which paramiko fills in there
        tokens = {"%h": address, "%n": config.host, "%p": str(port), "%%": "%"}
        command = re.sub("%[hnp%]", lambda token: tokens[token[0]], config.proxy_command)
        return None if command.lower() == "none" else command
    if options.get("proxycommand"):
        return str(options["proxycommand"])
    jump = options.get("proxyjump")
    return f"ssh -W {shlex.quote(f'{address}:{port}')} {shlex.quote(jump)}" if jump and jump != "none" else None


class Proxy:
    """A ProxyCommand, in a session of its own: Ctrl-C at the terminal must not cut the connection that restores."""

    def __init__(self, command: str):
        ours, theirs = socket.socketpair()
        self.socket = ours
        with theirs:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    def close(self) -> str:
        """End it; what it said on standard error."""
        if self.process.returncode is not None:
            return ""
        self.socket.close()
        try:
            said = self.process.communicate(timeout=2)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            said = self.process.communicate()[1]
        return said.decode(errors="replace").strip()
