"""How to reach a host over SSH: from the hosts file, then from ~/.ssh/config."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import paramiko

from lab.base import untrusted
from lab.base.errors import BadInput, HostError, HostKeyError
from lab.base.os_errors import reason_of
from lab.base.present import present
from lab.hosts import macos_privacy
from lab.hosts.fields import algorithm_kind, parse_port
from lab.hosts.host_config import HostConfig

SSH_CONFIG = "~/.ssh/config"
SYSTEM_KNOWN_HOSTS = Path("/etc/ssh/ssh_known_hosts")
# PubkeyAcceptedKeyTypes is PubkeyAcceptedAlgorithms from OpenSSH 8.5 on, which understands both
OPTIONS = {
    "kex": ("KexAlgorithms",), "key": ("HostKeyAlgorithms", "PubkeyAcceptedKeyTypes"),
    "cipher": ("Ciphers",), "mac": ("MACs",),
}  # fmt: skip
# The host key of Mac OS X 10.6 to 10.10, whose ssh-keygen prints an MD5 fingerprint
OLD_KEY = " (an old Mac: /etc/ssh_host_rsa_key.pub, and by MD5, as ssh shows it with -o FingerprintHash=md5)"
OLD_LOGIN = "; a host that signs with ssh-rsa only takes RSA keys"


@dataclass(frozen=True)
class SshTarget:
    """How to reach a host. ``key`` is its place in the hosts file, ``role`` and ``login`` its name in messages."""

    key: str
    role: str
    login: str
    address: str
    port: int
    user: str | None
    identities: list[str]
    proxy_command: str | None
    known_hosts: Path
    algorithms: list[str]
    by_hand: str
    forget: str

    def unknown_key(self, name: str, fingerprint: str) -> HostKeyError:
        """The error for a host key not on record; ``name`` is such as ``ssh-rsa``, the print such as ``SHA256:…``."""
        kind = "ecdsa" if name.startswith("ecdsa") else name.removeprefix("ssh-")
        remedy = (
            f"compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub` "
            f"prints on that machine{OLD_KEY if self._is_old else ''}, then accept it with: {self.by_hand}"
        )
        return HostKeyError(f"{self.login}: unknown host key: {name} {fingerprint}", remedy, host=self.role)

    def changed_key(self, fingerprint: str, on_record: str) -> HostKeyError:
        message = f"{self.login}: the host key has CHANGED: it is {fingerprint}, on record is {on_record}"
        return HostKeyError(message, f"find out why; if it is right: {self.forget}", host=self.role)

    def login_refused(self, reason: str) -> HostError:
        remedy = (
            f"your key must be in that account's authorized_keys: `ssh-copy-id {self.login}`; a key with a passphrase "
            f"goes into the agent (`ssh-add`){OLD_LOGIN if self._is_old else ''}"
        )
        return HostError(f"{self.login}: SSH refused the login: {reason}", remedy, host=self.role)

    @property
    def _is_old(self) -> bool:
        """Whether hosts file or ~/.ssh/config allow SHA-1 signatures for it."""
        return any("ssh-rsa" in option for option in self.algorithms)

    def too_old(self, reason: str, remedy: str) -> HostError:
        """The error for a host with only algorithms that SSH no longer offers by default."""
        return HostError(f"{self.login}: its SSH is old: {reason}", f"give {remedy} in {self.key}", host=self.role)

    def unreachable(self, reason: str) -> HostError:
        """The error for a host where no SSH server answers."""
        remedy = f"is it on, is SSH (Remote Login) on, and does `{self.by_hand}` work?"
        if sys.platform == "darwin" and "No route to host" in reason:
            starter = macos_privacy.find_starter(os.environ, os.geteuid())
            remedy = f"{remedy} {macos_privacy.kept_off_network(starter)}".rstrip()
        return HostError(f"{self.login}: cannot be reached on port {self.port}: {reason}", remedy, host=self.role)


def find_target(role: str, config: HostConfig) -> SshTarget:
    """How to reach a host. Raises BadInput for wrong files."""
    place, host = f"{config.place}[{role}]", present(config.host)
    options, named_keys = ssh_config(host)
    address = options.get("hostname", host)
    port = config.port or int(options.get("port", 22))
    user = config.user or options.get("user")
    login = f"{user}@{host}" if user else host
    proxy_command = _proxy_command(config, options, address, port)
    if proxy_command is None:
        try:
            address.encode("idna")  # the resolver does so, and does not name the one that it cannot encode
        except UnicodeError as error:
            rule = "the name of a host is parts of 1 to 63 letters with dots between"
            message = f"{address:.80} cannot be looked up: {rule} (Hostname in {SSH_CONFIG} counts too)"
            raise BadInput(f"{place} host: {message}") from error
    identities, known_hosts = _files(config, options, named_keys, place)
    named = {"UserKnownHostsFile": config.known_hosts, "ProxyCommand": config.proxy_command}
    chosen = _algorithms(config)
    words = [word for name, value in (named | chosen).items() if value for word in ("-o", f"{name}={value}")]
    algorithms = [f"{name}={value}" for name, value in (_algorithms_of(options) | chosen).items()]
    by_hand = shlex.join(["ssh", *(["-p", str(config.port)] if config.port else []), *words, login])
    forget = ["ssh-keygen", "-R", address if port == 22 else f"[{address}]:{port}"]
    forget += ["-f", config.known_hosts] if config.known_hosts else []
    login_words = (place, role, login, address, port, user)
    return SshTarget(*login_words, identities, proxy_command, known_hosts, algorithms, by_hand, shlex.join(forget))


def _algorithms(config: HostConfig) -> dict[str, str]:
    """Options of ssh that add ``ssh_algorithms`` to its defaults."""
    kinds: dict[str, list[str]] = {}
    for algorithm in config.ssh_algorithms:
        kinds.setdefault(algorithm_kind(algorithm), []).append(algorithm)
    return {option: f"+{','.join(names)}" for kind, names in kinds.items() for option in OPTIONS[kind]}


def _algorithms_of(options: Mapping[str, str]) -> dict[str, str]:
    """The algorithms in ~/.ssh/config, under the older option name that every ssh understands."""
    options = {"pubkeyacceptedkeytypes": options.get("pubkeyacceptedalgorithms", ""), **options}
    names = (name for group in OPTIONS.values() for name in group)
    return {name: value for name in names if (value := options.get(name.lower()))}


def _files(config: HostConfig, options: Mapping[str, str], named_keys: list[str], place: str) -> tuple[list[str], Path]:
    """The existing private keys, and the file of known hosts. Raises BadInput."""
    if config.identity:
        keys = [_expanded(config.identity, f"{place} identity")]
        if not keys[0].is_file():
            raise BadInput(f"{place} identity: there is no key {config.identity}")
    else:
        keys = [_expanded(name, f"{SSH_CONFIG}: IdentityFile") for name in named_keys]
    if config.known_hosts:
        known_hosts = _expanded(config.known_hosts, f"{place} known_hosts")
    else:
        name = options.get("userknownhostsfile", "").split(" ")[0] or "~/.ssh/known_hosts"
        known_hosts = _expanded(name, f"{SSH_CONFIG}: UserKnownHostsFile")
    return [str(key) for key in keys if key.is_file()], known_hosts  # ~/.ssh/config may name missing keys


def usual_identities() -> list[str]:
    """The private keys that ssh tries by default."""
    folder = _expanded("~/.ssh", "the keys of ssh")
    return [str(key) for name in ("id_ed25519", "id_ecdsa", "id_rsa") if (key := folder / name).is_file()]


def _expanded(name: str, key: str) -> Path:
    """A path with ``~`` expanded. Raises BadInput that names ``key`` if there is no such home folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise BadInput(f"{key}: {name}: there is no such home folder; give the full path, or set HOME") from error


def ssh_config(host: str) -> tuple[dict[str, str], list[str]]:
    """The options of ~/.ssh/config for a host, by name in lower case, and its private keys. Raises BadInput."""
    with _readable() as path:
        options = dict(_read_config(path).lookup(host))
        named_keys = [str(name) for name in options.pop("identityfile", [])]
        if "port" in options:
            options["port"] = str(_port(options["port"]))
        return {name: str(value) for name, value in options.items() if value is not None}, named_keys


def named_hosts() -> list[str]:
    """The hosts that ~/.ssh/config names, without patterns such as ``*.local``. Raises BadInput."""
    with _readable() as path:
        return sorted(name for name in _read_config(path).get_hostnames() if not re.search(r"[*?!]", name))


@contextmanager
def _readable() -> Iterator[Path]:
    """The path of ~/.ssh/config; errors in reading it become BadInput."""
    path = _expanded(SSH_CONFIG, "the settings of ssh")
    try:
        yield path
    except (paramiko.SSHException, OSError, ValueError, LookupError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error


def _read_config(path: Path) -> paramiko.SSHConfig:
    if not path.is_file():
        return paramiko.SSHConfig()
    text = untrusted.read_file(path, untrusted.MOST_FILE_BYTES, links=True).decode()
    if "\0" in text:
        raise ValueError("it has a NUL character")
    return paramiko.SSHConfig.from_text(text)


def _port(text: str) -> int:
    try:
        return parse_port(text)
    except ValueError as error:
        raise ValueError(f"Port {text} {error}") from error


def _proxy_command(config: HostConfig, options: Mapping[str, str], address: str, port: int) -> str | None:
    if config.proxy_command:  # expand the tokens of ssh_config(5); paramiko does so for ~/.ssh/config
        tokens = {"%h": address, "%n": present(config.host), "%p": str(port), "%%": "%"}
        command = re.sub("%[hnp%]", lambda token: tokens[token[0]], config.proxy_command)
        return None if command.lower() == "none" else command
    if options.get("proxycommand"):
        return options["proxycommand"]
    jump = options.get("proxyjump")
    return f"ssh -W {shlex.quote(f'{address}:{port}')} {shlex.quote(jump)}" if jump and jump != "none" else None
