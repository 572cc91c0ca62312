"""A host over SSH, by paramiko: one connection, kept for the run; every command in a channel of its own."""

from __future__ import annotations

import base64
import hashlib
import shlex
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import paramiko

from lab import secrets
from lab.config import HostConfig
from lab.errors import DeadlineExceeded, HostError, HostKeyError
from lab.hosts.base import Host, Result

CONNECT_DEADLINE_S = 20.0
KEEPALIVE_S = 5
KILL_DEADLINE_S = 10.0
LARGEST_OUTPUT = 16 * 1024**2
# The first line on standard error is the pid, so that a command that takes too long can be ended. The login shell may
# be any shell; everything else runs in /bin/sh with a locale whose messages can be parsed.
WRAPPER = (
    "echo $$ >&2; PATH=$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin; "
    'LC_ALL=C; LANG=C; export PATH LC_ALL LANG; exec "$@"'
)
SUDO = {"none": [], "nopasswd": ["sudo", "-n", "--"], "password": ["sudo", "-S", "-p", "", "-k", "--"]}
SUDO_HINT = "give sudo = password in the hosts file, or a NOPASSWD line for this user (docs/two-macs.md)"


class StrictHostKeys(paramiko.MissingHostKeyPolicy):
    """Refuse a host whose key is not on record, and say how to accept it."""

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        """Raise HostKeyError with the fingerprint as ssh prints it."""
        host, _, port = hostname.strip("[").partition("]:")
        accept = f"ssh -p {port} {host}" if port else f"ssh {host}"
        raise HostKeyError(
            f"{host}: unknown host key: {key.get_name()} {fingerprint(key)}\n"
            f"Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_{key.get_name().removeprefix('ssh-')}_key.pub` "
            f"prints on that machine, then accept it with: {accept}"
        )


def fingerprint(key: paramiko.PKey) -> str:
    """``SHA256:…`` of a host key."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


class SshHost(Host):
    """A host reached by paramiko. Connects at once; raises HostError with what to do where that fails."""

    def __init__(self, role: str, config: HostConfig):
        super().__init__(role)
        self.config = config
        self.sudo = config.sudo
        self._password = (
            secrets.resolve(config.sudo_password, f"{config.user or 'you'}@{config.host} (sudo)")
            if config.sudo == "password"
            else None
        )
        self.client, self._proxy = connect(role, config)
        if config.sudo == "password" and self._needs_no_password():
            # sudo would leave the password on standard input, for the command to read
            self.sudo = "nopasswd"

    def _needs_no_password(self) -> bool:
        return self.run("sudo", "-k", "-n", "true", check=False).exit_code == 0

    def close(self) -> None:
        """Close the connection."""
        self.client.close()
        if self._proxy is not None:
            self._proxy.close()

    def _execute(self, argv: tuple[str, ...], root: bool, given: str, deadline_s: float) -> Result:
        sudo = SUDO[self.sudo] if root else []
        if root and self.sudo == "password" and self._password is not None:
            given = self._password.get_secret_value() + "\n" + given
        if sudo:
            argv_sent: tuple[str, ...] = (*sudo, "/usr/bin/env", "LC_ALL=C", *argv)
        else:
            argv_sent = argv
        line = shlex.join(["/bin/sh", "-c", WRAPPER, "sh", *argv_sent])
        started = time.monotonic()
        try:
            transport = self.client.get_transport()
            if transport is None or not transport.is_active():
                raise HostError(f"{self.role}: the connection to {self.config.host} was lost")
            channel = transport.open_session(timeout=min(deadline_s, CONNECT_DEADLINE_S))
            channel.exec_command(line)
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise HostError(f"{self.role}: the connection to {self.config.host} was lost: {error}") from error
        conversation = Conversation(channel, given)
        try:
            finished = conversation.wait(started + deadline_s)
        except BaseException:
            self._end(conversation, root)
            raise
        if not finished:
            self._end(conversation, root)
            raise DeadlineExceeded(self.role, argv, deadline_s, conversation.stdout + conversation.errors)
        if conversation.exit_code is None:
            raise HostError(f"{self.role}: the connection to {self.config.host} was lost during {argv[0]}")
        elapsed_s = time.monotonic() - started
        return Result(argv, conversation.exit_code, conversation.stdout, conversation.errors, elapsed_s)

    def _end(self, conversation: Conversation, root: bool) -> None:
        """End a command that is still running, with its children (sshd makes it the leader of its session)."""
        pid = conversation.pid
        conversation.channel.close()
        transport = self.client.get_transport()
        if pid is None or transport is None or not transport.is_active():
            return
        script = 'kill -s TERM -- "-$1" 2>/dev/null; sleep 0.2; kill -s KILL -- "-$1" 2>/dev/null; :'
        try:
            self._execute(("/bin/sh", "-c", script, "sh", pid), root, "", KILL_DEADLINE_S)
        except HostError:
            return  # what brought us here is the error to report

    def _hint(self, result: Result) -> str:
        if "sudo:" in result.stderr and ("password" in result.stderr or "terminal" in result.stderr):
            return SUDO_HINT
        return ""


class Conversation:
    """Both streams of one running command."""

    def __init__(self, channel: paramiko.Channel, given: str):
        self.channel = channel
        self._chunks: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        work = (self._send, given.encode()), (self._receive, "stdout"), (self._receive, "stderr")
        self._threads = [threading.Thread(target=job, args=(what,), daemon=True) for job, what in work]
        for thread in self._threads:
            thread.start()

    def _send(self, given: bytes) -> None:
        try:
            self.channel.sendall(given)
            self.channel.shutdown_write()
        except OSError:
            return  # it did not want its input; its exit code tells

    def _receive(self, stream: str) -> None:
        receive: Any = self.channel.recv if stream == "stdout" else self.channel.recv_stderr
        chunks, total = self._chunks[stream], 0
        try:
            while data := receive(65536):
                total += len(data)
                if total <= LARGEST_OUTPUT:  # beyond it, it is read and forgotten
                    chunks.append(data)
        except OSError:
            return

    def wait(self, deadline: float) -> bool:
        """Wait for the end of the command and of its output; False where the deadline (monotonic) came first."""
        for thread in self._threads:
            while thread.is_alive():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                thread.join(min(left, 1.0))
        while not self.channel.status_event.wait(min(max(deadline - time.monotonic(), 0.0), 1.0)):
            if time.monotonic() >= deadline:
                return False
        return True

    @property
    def exit_code(self) -> int | None:
        """The exit code; None where the connection ended before the command."""
        return self.channel.exit_status if self.channel.exit_status >= 0 else None

    def _text(self, stream: str) -> str:
        return b"".join(self._chunks[stream]).decode("utf-8", errors="replace")

    @property
    def stdout(self) -> str:
        """What it printed so far."""
        return self._text("stdout")

    @property
    def pid(self) -> str | None:
        """Its process id on the host, once known."""
        first, newline, _ = self._text("stderr").partition("\n")
        return first if newline and first.isdigit() else None

    @property
    def errors(self) -> str:
        """What it wrote to standard error so far, without our own first line."""
        return self._text("stderr").partition("\n")[2]


def connect(role: str, config: HostConfig) -> tuple[paramiko.SSHClient, Proxy | None]:
    """An open connection, and the proxy it goes through; honours ~/.ssh/config, the agent and known_hosts.

    Raises HostError or HostKeyError, with what to do.
    """
    options = ssh_config(config.host)
    address = options.get("hostname", config.host)
    port = config.port or int(options.get("port", 22))
    user = config.user or options.get("user")
    identities = [config.identity] if config.identity else options.get("identityfile", [])
    proxy_command = config.proxy_command or options.get("proxycommand") or _jump(options, address, port)
    known_hosts = config.known_hosts or options.get("userknownhostsfile", "").split(" ")[0] or "~/.ssh/known_hosts"
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(StrictHostKeys())
    for file in (Path("/etc/ssh/ssh_known_hosts"), Path(known_hosts).expanduser()):
        if file.is_file():
            client.load_system_host_keys(str(file))
    login = f"{user}@{config.host}" if user else config.host
    where = f"{role}: {login}"
    proxy = Proxy(proxy_command) if proxy_command else None
    try:
        client.connect(
            address,
            port,
            user,
            key_filename=_existing(identities),
            sock=proxy.socket if proxy else None,
            timeout=CONNECT_DEADLINE_S,
            banner_timeout=CONNECT_DEADLINE_S,
            auth_timeout=CONNECT_DEADLINE_S,
        )
    except paramiko.BadHostKeyException as error:
        raise HostKeyError(
            f"{where}: the host key has CHANGED: it is {fingerprint(error.key)}, on record is "
            f"{fingerprint(error.expected_key)}. Find out why; if it is right: ssh-keygen -R {config.host}"
        ) from error
    except (paramiko.AuthenticationException, paramiko.PasswordRequiredException) as error:
        raise HostError(
            f"{where}: SSH refused the login: {error}. Its key must be in that account's authorized_keys: "
            f"`ssh-copy-id {login}`; a key with a passphrase goes into the agent (`ssh-add`)"
        ) from error
    except (paramiko.SSHException, OSError, EOFError) as error:
        said = proxy.close() if proxy else ""
        raise HostError(
            f"{where}: cannot be reached on port {port}: {said or error}. Is it on, is SSH (Remote Login) on, "
            f"and does `ssh {login}` work?"
        ) from error
    transport = client.get_transport()
    assert transport is not None
    transport.set_keepalive(KEEPALIVE_S)
    return client, proxy


def _existing(identities: list[str]) -> Any:
    """Those key files that exist, as full paths; ~/.ssh/config may name ones that do not."""
    paths = [Path(name).expanduser() for name in identities]
    return [str(path) for path in paths if path.is_file()]


def ssh_config(host: str) -> dict[str, Any]:
    """What ~/.ssh/config says of a host."""
    path = Path("~/.ssh/config").expanduser()
    return dict(paramiko.SSHConfig.from_path(str(path)).lookup(host)) if path.is_file() else {}


def _jump(options: dict[str, Any], address: str, port: int) -> str | None:
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
        self.socket.close()
        try:
            said = self.process.communicate(timeout=2)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            said = self.process.communicate()[1]
        return said.decode(errors="replace").strip()
