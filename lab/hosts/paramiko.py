"""SSH by paramiko, in this process: one connection, every command in a channel of its own."""

from __future__ import annotations

import base64
import hashlib
import logging
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import paramiko

from lab.base.errors import BadInput, HostError
from lab.base.os_errors import reason_of
from lab.base.present import present
from lab.hosts import ssh_target
from lab.hosts.connection import CONNECT_DEADLINE_S, KEEPALIVE_S, Connection, Conversation
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh_target import SshTarget

# paramiko's calls, even close, raise any of these if the connection ends meanwhile
NO_KEY = "No authentication methods available"  # as paramiko says it
LOST = (paramiko.SSHException, OSError, EOFError)
SPARE_SESSIONS = 2  # two commands often begin at once; sshd allows ten sessions (MaxSessions), the lab uses four
# dropbear refuses a longer command (MAX_CMD_LEN is 9000), which a shell can take from its input
DROPBEAR_LIMIT = 8000
FROM_INPUT = """/bin/sh -c 'exec /bin/sh -c "$(dd bs=1 count={} 2>/dev/null)"'"""
ENDING_S = 1.0  # a lost connection ends within this time after its channel
# its message about a host with only old algorithms, and algorithms that such a host knows
TOO_OLD = {"host key": "ssh-rsa", "kex algorithm": "ssh-rsa diffie-hellman-group14-sha1"}
# without a handler it prints tracebacks of exceptions that it raises as well
logging.getLogger("paramiko").addHandler(logging.NullHandler())


class StrictHostKeys(paramiko.MissingHostKeyPolicy):
    """Refuses a host whose key is not on record, with the command that accepts it."""

    def __init__(self, target: SshTarget):
        self.target = target

    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        raise self.target.unknown_key(key.get_name(), fingerprint(key))


def fingerprint(key: paramiko.PKey) -> str:
    """``SHA256:…`` of a host key."""
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def connect(role: str, config: HostConfig) -> ParamikoConnection:
    """An open connection. Raises HostError or HostKeyError with a remedy; BadInput for wrong files."""
    target = ssh_target.find_target(role, config)
    with ExitStack() as stack:
        client = paramiko.SSHClient()
        stack.callback(client.close)
        client.set_missing_host_key_policy(StrictHostKeys(target))
        _load_known_hosts(client, ssh_target.SYSTEM_KNOWN_HOSTS, target.known_hosts)
        proxy = Proxy(target.proxy_command) if target.proxy_command else None
        if proxy:
            stack.callback(proxy.close)
        try:
            client.connect(
                target.address, target.port, target.user,
                key_filename=target.identities,  # type: ignore[arg-type] # its annotation lacks lists, which it takes
                sock=proxy.socket if proxy else None,
                timeout=CONNECT_DEADLINE_S, banner_timeout=CONNECT_DEADLINE_S, auth_timeout=CONNECT_DEADLINE_S,
            )  # fmt: skip
        except (paramiko.SSHException, OSError, EOFError, ValueError, LookupError) as error:
            raise _explain(error, target, proxy) from error
        transport = present(client.get_transport())
        transport.set_keepalive(KEEPALIVE_S)
        stack.pop_all()
        return ParamikoConnection(client, transport, proxy)


def check(role: str, config: HostConfig) -> SshTarget:
    """How to reach the host, without connecting. Raises BadInput as :func:`connect` does."""
    target = ssh_target.find_target(role, config)
    _load_known_hosts(paramiko.SSHClient(), ssh_target.SYSTEM_KNOWN_HOSTS, target.known_hosts)
    return target


def _explain(error: Exception, target: SshTarget, proxy: Proxy | None) -> HostError:
    if isinstance(error, paramiko.BadHostKeyException):
        return target.changed_key(fingerprint(error.key), fingerprint(error.expected_key))
    if isinstance(error, paramiko.AuthenticationException | paramiko.PasswordRequiredException):
        return target.login_refused(str(error))
    if str(error) == NO_KEY:
        return target.login_refused("this account has no key, neither in a file nor in an agent")
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        old = next((names for sign, names in TOO_OLD.items() if f"no acceptable {sign}" in str(error)), "ssh-rsa")
        return target.too_old(str(error), f"transport = openssh and ssh_algorithms = {old}")
    reason = proxy.close() if proxy else ""
    return target.unreachable(reason or _reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, paramiko.ssh_exception.NoValidConnectionsError):  # one error for each address of the name
        return ", ".join(
            f"{address}: {getattr(tried, 'strerror', None) or tried}" for (address, *_), tried in error.errors.items()
        )
    return reason_of(error) or type(error).__name__


def _load_known_hosts(client: paramiko.SSHClient, *files: Path) -> None:
    for file in files:
        try:
            if file.is_file():
                client.load_system_host_keys(str(file))
        except (paramiko.hostkeys.InvalidHostKey, OSError, ValueError) as error:
            raise BadInput(f"{file}: not a file of known hosts that can be read: {reason_of(error)}") from error


class Sessions:
    """Sessions of a connection, some of them opened in advance: opening one takes an extra round trip."""

    def __init__(self, transport: paramiko.Transport, wanted: int):
        self._transport, self._wanted = transport, wanted
        self._changed = threading.Condition()
        self._spares: list[paramiko.Channel] = []
        self._coming = 0

    def take(self, timeout_s: float) -> paramiko.Channel:
        """An open session for one command; opens others in the background. Raises any of LOST."""
        until = time.monotonic() + timeout_s
        with self._changed:
            self._changed.wait_for(lambda: self._spares or not self._coming, timeout_s)
            self._spares = [spare for spare in self._spares if not spare.closed]  # a host may close unused ones
            session = self._spares.pop(0) if self._spares else None
        session = session or self._transport.open_session(timeout=max(until - time.monotonic(), 0.0))
        with self._changed:
            lacking = self._wanted - len(self._spares) - self._coming
            self._coming += lacking
        for _ in range(lacking):
            threading.Thread(target=self._add, daemon=True).start()
        return session

    def _add(self) -> None:
        session = None
        try:
            with suppress(*LOST):  # take() will raise the reason
                session = self._transport.open_session(timeout=CONNECT_DEADLINE_S)
        finally:
            with self._changed:
                self._coming -= 1
                self._spares += [session] if session else []
                self._changed.notify_all()


class ParamikoConnection(Connection):
    """An open connection, and its proxy."""

    def __init__(self, client: paramiko.SSHClient, transport: paramiko.Transport, proxy: Proxy | None):
        self.client, self.transport, self._proxy = client, transport, proxy
        self._is_dropbear = "dropbear" in transport.remote_version
        self._sessions = Sessions(transport, 0 if self._is_dropbear else SPARE_SESSIONS)

    @property
    def is_active(self) -> bool:
        return self.transport.is_active()

    @property
    def ending(self) -> str:
        self.transport.join(ENDING_S)  # it closes its channels a moment before it ends
        if self.is_active:
            return ""
        error = self.transport.saved_exception
        reason = "the other end closed it" if isinstance(error, EOFError) else str(error or "")
        return (self._proxy.close() if self._proxy else "") or reason

    def begin(self, line: str, given: str, deadline: float, goes_on: bool = False) -> Conversation:
        if not self.is_active:
            raise ConnectionError
        if self._is_dropbear and len(line) > DROPBEAR_LIMIT:
            line, given = FROM_INPUT.format(len(line.encode())), line + given
        try:
            channel = self._sessions.take(min(max(deadline - time.monotonic(), 0.0), CONNECT_DEADLINE_S))
            # dropbear ends the output of every session that has no command yet as soon as a command ends
            while channel.eof_received and self.is_active and time.monotonic() < deadline:
                channel = self._sessions.take(CONNECT_DEADLINE_S)
            with _closing_at(channel, deadline):
                channel.exec_command(line)  # would wait for ever
        except LOST as error:
            if time.monotonic() >= deadline and self.is_active:
                raise TimeoutError from error
            raise ConnectionError(str(error)) from error
        return ParamikoConversation(channel, given, goes_on)

    def close(self) -> None:
        self.client.close()
        if self._proxy is not None:
            self._proxy.close()


class ParamikoConversation(Conversation):
    """A command in a channel."""

    lost = LOST

    def __init__(self, channel: paramiko.Channel, given: str, goes_on: bool = False):
        self.channel = channel
        super().__init__(given, goes_on)

    def _give(self, data: bytes) -> None:
        self.channel.sendall(data)

    def _end_input(self) -> None:
        self.channel.shutdown_write()

    def _read(self, stream: str) -> bytes:
        receive = self.channel.recv if stream == "stdout" else self.channel.recv_stderr
        return receive(65536)

    def _wait_for_exit(self, seconds: float) -> bool:
        return self.channel.status_event.wait(seconds)

    @property
    def exit_code(self) -> int | None:
        return self.channel.exit_status if self.channel.exit_status >= 0 else None

    def close(self) -> None:
        _close(self.channel)


@contextmanager
def _closing_at(channel: paramiko.Channel, deadline: float) -> Iterator[None]:
    """Close a channel from outside at a deadline (monotonic), so that a call waiting for it fails."""
    timer = threading.Timer(max(deadline - time.monotonic(), 0.0), _close, [channel])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _close(channel: paramiko.Channel) -> None:
    """Close a channel, and wake any thread that waits for an answer on it."""
    with suppress(*LOST):
        channel.close()
    channel.event.set()


class Proxy:
    """A ProxyCommand in a session of its own: Ctrl-C must not cut the connection that restores."""

    def __init__(self, command: str):
        ours, theirs = socket.socketpair()
        self.socket = ours
        with theirs:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 – the user's own proxy_command
                ["/bin/sh", "-c", f"exec {command}"], start_new_session=True,
                stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.PIPE,
            )  # fmt: skip
        self._closing = threading.Lock()  # two commands may lose their connection at once
        self._ending: str | None = None

    def close(self) -> str:
        """End it; returns its standard error, or that it was killed. Every call returns the same."""
        with self._closing:
            if self._ending is None:
                self._ending = self._end()
            return self._ending

    def _end(self) -> str:
        self.socket.close()
        killed = ""
        try:
            errors = self.process.communicate(timeout=2)[1]
            code = self.process.returncode or 0
            if code < 0 and code != -signal.SIGPIPE:  # SIGPIPE: we closed the socket
                killed = f"its proxy_command was killed by signal {-code}"
        except subprocess.TimeoutExpired:
            self.process.kill()
            errors = self.process.communicate()[1]
        return errors.decode(errors="replace").strip() or killed
