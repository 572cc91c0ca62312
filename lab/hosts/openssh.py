"""SSH by the system's ssh: a control master for each host. It reaches hosts that know only SHA-1, unlike paramiko."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from lab.base.errors import BadInput, HostError
from lab.base.os_errors import explain
from lab.base.present import present
from lab.base.scripts import read_script
from lab.hosts import ssh_target
from lab.hosts.connection import CONNECT_DEADLINE_S, KEEPALIVE_S, Connection, Conversation, ProcessConversation
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh_target import SshTarget

GRACE_S = 2.0
MASTER = read_script(__file__, "control_master.sh")
# only these settings of ssh and those of the target apply; ssh asks nothing
COMMON = ("ssh", "-F", "/dev/null", "-T", "-o", "BatchMode=yes")
# the proxy fails: without its master, ssh would connect by itself
SESSION = (*COMMON, "-o", "LogLevel=ERROR", "-o", "ProxyCommand=false")
KEY_SENT = re.compile(r"Server host key: (\S+) (\S+)")
CHANGED_KEY = re.compile(r"key sent by the remote host is\s+(\S+?)\.?\s")
KEY_ON_RECORD = re.compile(r"Offending .*key in (.+:[0-9]+)")


def connect(role: str, config: HostConfig) -> OpenSshConnection:
    """An open connection. Raises HostError or HostKeyError with a remedy; BadInput for wrong files."""
    target = check(role, config)
    connection = OpenSshConnection(target)
    try:
        if connection.wait_until_open():
            return connection
        raise _explain(connection.errors, target)
    except BaseException:
        connection.close()
        raise


def check(role: str, config: HostConfig) -> SshTarget:
    """How to reach the host, without connecting. Raises BadInput as :func:`connect` does."""
    target = ssh_target.find_target(role, config)
    if shutil.which("ssh") is None:
        raise BadInput(f"{target.key} transport = openssh: there is no ssh here", "install openssh-client")
    return target


def _explain(errors: str, target: SshTarget) -> HostError:
    if changed := CHANGED_KEY.search(errors):
        recorded = KEY_ON_RECORD.search(errors)
        return target.changed_key(changed[1], f"that of {recorded[1]}" if recorded else "another")
    if "Host key verification failed" in errors:
        with closing(OpenSshConnection(target, "-v")) as retry:  # fails once more
            retry.wait_until_open()
            if sent := KEY_SENT.search(retry.errors):
                return target.unknown_key(sent[1], sent[2])
    # ssh frames a warning with lines of @
    lines = [line.strip(" .") for line in errors.splitlines() if line.strip() and not line.startswith("@")]
    reason = "; ".join(lines) or "no answer"
    if "Permission denied" in reason or "Too many authentication failures" in reason:
        return target.login_refused(reason)
    if "no matching" in reason:
        return target.too_old(reason, "what it offers, or enough of it, as ssh_algorithms")
    return target.unreachable(reason)


class OpenSshConnection(Connection):
    """A control master, in a session of its own: Ctrl-C at the terminal must not cut the connection that restores."""

    def __init__(self, target: SshTarget, *flags: str):
        self._address = target.address
        # not in TMPDIR: the path of a socket has at most 103 bytes, and ssh adds to it
        self.folder = Path(tempfile.mkdtemp(prefix="lab-ssh-", dir="/tmp"))
        self._control = self.folder / "control"
        self._links: dict[str, Path] = {}
        words = [*COMMON, "-N", *flags, *self._options(target), "-p", str(target.port), *self._keys(target)]
        words += ["-l", target.user] if target.user else []
        with (self.folder / "errors").open("wb") as errors:
            self._master = subprocess.Popen(  # noqa: S603 – the text is a constant, each word an argument of its own
                ["/bin/sh", "-c", MASTER, "sh", str(self.folder), *words, "--", self._address],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                start_new_session=True, env=_environment(),
            )  # fmt: skip

    def _options(self, target: SshTarget) -> Iterator[str]:
        settings = {
            "ControlMaster": "yes",
            "ControlPath": self._control,
            "StrictHostKeyChecking": "yes",
            "CheckHostIP": "no",
            "UserKnownHostsFile": self._link("known_hosts", target.known_hosts),
            "GlobalKnownHostsFile": ssh_target.SYSTEM_KNOWN_HOSTS,
            "ConnectTimeout": CONNECT_DEADLINE_S,
            "ServerAliveInterval": KEEPALIVE_S,
        }
        options = [f"{name}={value}" for name, value in settings.items()] + target.algorithms
        if target.proxy_command:
            options.append("ProxyCommand=" + target.proxy_command.replace("%", "%%"))
        for option in options:
            yield from ("-o", option)

    def _keys(self, target: SshTarget) -> Iterator[str]:
        for number, key in enumerate(target.identities or ssh_target.usual_identities()):
            yield from ("-i", self._link(f"key-{number}", Path(key)))
            for more in (".pub", "-cert.pub"):  # beside a key ssh looks for its public half, and a certificate
                self._link(f"key-{number}{more}", Path(key + more))

    def _link(self, name: str, target: Path) -> str:
        """A link in our folder to a file: ssh would want some names quoted, and expand others."""
        link = self.folder / name
        link.symlink_to(target.absolute())
        self._links[str(link)] = target
        return str(link)

    def wait_until_open(self) -> bool:
        """Wait until commands can be sent; False if ssh gave up or took too long."""
        deadline = time.monotonic() + 3 * CONNECT_DEADLINE_S
        while not self._control.exists():
            if not self.is_active or time.monotonic() >= deadline:
                return False
            time.sleep(0.01)
        return True

    @property
    def errors(self) -> str:
        text = (self.folder / "errors").read_text(errors="replace")
        for link in sorted(self._links, reverse=True):  # the longer ones first
            text = text.replace(link, str(self._links[link]))
        return text

    @property
    def is_active(self) -> bool:
        return self._master.poll() is None

    @property
    def ending(self) -> str:
        if self.is_active:
            return ""
        with suppress(OSError):  # close() removes the file
            return "; ".join(filter(None, map(str.strip, self.errors.splitlines())))
        return ""

    def begin(self, line: str, given: str, deadline: float, goes_on: bool = False) -> Conversation:
        """A missed deadline shows in :meth:`Conversation.wait`."""
        if not self.is_active:
            raise ConnectionError
        command = [*SESSION, "-S", str(self._control), "--", self._address, line]
        try:
            return OpenSshConversation(command, given, goes_on)
        except OSError as error:  # no process can be started here
            raise ConnectionError(explain(error)) from error

    def close(self) -> None:
        present(self._master.stdin).close()
        try:
            self._master.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._master.pid, signal.SIGKILL)
            self._master.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class OpenSshConversation(ProcessConversation):
    """A command in a session of the master; fails if the master has gone."""

    def __init__(self, command: Sequence[str], given: str, goes_on: bool = False):
        super().__init__(command, given, goes_on, _environment())

    @property
    def exit_code(self) -> int | None:
        """``ssh`` also exits with 255 if it lost the connection."""
        code = self._process.returncode
        return code if 0 <= code < 255 or self.exited_255 else None

    def close(self) -> None:
        self.end_input()
        self._process.kill()
        self._process.wait()


def _environment() -> dict[str, str]:
    """English messages; and the shell with which ssh runs a ProxyCommand."""
    return os.environ | {"LC_ALL": "C", "SHELL": "/bin/sh"}
