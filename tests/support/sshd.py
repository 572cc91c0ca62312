"""A real sshd on loopback: its own keys, a free port, a child process that ends with the test."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from lab.base.errors import HostError
from lab.hosts.host_config import HostConfig
from lab.hosts.ssh import SshHost
from lab.local import root_image

TRANSPORTS = ("paramiko", "openssh")
OVER_BOTH = pytest.mark.parametrize("sshd", TRANSPORTS, indirect=True)
ONLY_PARAMIKO = pytest.mark.parametrize("sshd", ["paramiko"], indirect=True)
PROGRAM = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment yes
UseDNS no
PidFile none
"""
# The sshd of Mac OS X 10.6 to 10.11 signs with SHA-1 only
OLD = """\
HostKeyAlgorithms ssh-rsa
PubkeyAcceptedAlgorithms ssh-rsa
KexAlgorithms diffie-hellman-group14-sha1,diffie-hellman-group-exchange-sha1
Ciphers aes128-ctr,aes128-cbc
MACs hmac-sha1
"""
# A login shell that prints, and waits for the command
NOISY = r'command="echo welcome >&2; eval \"$SSH_ORIGINAL_COMMAND\"; exit $?"'
# root's sshd needs this folder; if it is missing, only sshd sees a new one
WITH_ITS_FOLDER = 'mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd && exec "$@"'
# Without an installed sshd, root runs that of the local lab's root filesystem, with this machine's /tmp
IN_ROOTFS = """
root=$1; shift
for folder in tmp dev proc; do mount --rbind "/$folder" "$root/$folder" || exit; done
mount -t tmpfs -o mode=755 none "$root/run" && mkdir "$root/run/sshd" && exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Sshd:
    """A running sshd. Keys ``plain``, ``noisy`` and ``sudoer`` (finds ``bin`` first) may log in, not ``stranger``."""

    folder: Path
    port: int
    user: str
    transport: str = "paramiko"

    def config(self, key: str = "plain", **changes: Any) -> HostConfig:
        given = {
            "host": "127.0.0.1", "user": self.user, "port": self.port, "identity": str(self.folder / key),
            "known_hosts": str(self.folder / "known_hosts"), "data_address": "127.0.0.1", "sudo": "none",
            "transport": self.transport,
        }  # fmt: skip
        return HostConfig.model_validate({name: value for name, value in (given | changes).items() if value})


def make_key(path: Path, kind: str = "ed25519") -> str:
    """Write a key pair, ``ed25519`` or ``rsa``; returns the public half as in authorized_keys."""
    key: Ed25519PrivateKey | RSAPrivateKey = Ed25519PrivateKey.generate()
    if kind == "rsa":
        key = generate_private_key(65537, 2048)
    path.touch(0o600)
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    path.with_suffix(".pub").write_text(public + "\n")
    return public


@contextmanager
def running(folder: Path, settings: str = "", kind: str = "ed25519") -> Iterator[Sshd]:
    """Start sshd in ``folder``; skips the test if it is missing, or does not run for this user.

    ``settings`` are more lines of sshd_config; ``kind`` is that of all keys.
    """
    sshd = Sshd(folder, _free_port(), getpass.getuser())
    (folder / "bin").mkdir()
    public = {name: make_key(folder / name, kind) for name in ("host_key", "plain", "noisy", "sudoer", "stranger")}
    path = f'environment="PATH={folder}/bin:/usr/bin:/bin"'
    lines = [public["plain"], f"{NOISY} {public['noisy']}", f"{path} {public['sudoer']}"]
    (folder / "authorized_keys").write_text("\n".join(lines) + "\n")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {public['host_key']}\n")
    (folder / "sshd_config").write_text(CONFIG.format(port=sshd.port, folder=folder) + settings)
    options = ["-f", str(folder / "sshd_config")]
    # sshd may delay logins after failed ones, and some logins must fail here
    patient = [*options, "-o", "PerSourcePenalties=no"]
    if subprocess.run(_command("-t", *patient), stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
        options = patient
    command = _command("-D", "-e", *options)
    if shutil.which("setpriv"):  # so that sshd ends even if the test run is killed
        command = ["setpriv", "--pdeathsig", "TERM", *command]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _wait_until_it_serves(process, sshd)
        yield sshd
    finally:
        process.terminate()
        process.wait()


def _command(*options: str) -> list[str]:
    """The command of sshd; skips the test if there is no way to get one."""
    private = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    is_root = os.geteuid() == 0
    if PROGRAM is None and is_root and sys.platform == "linux":
        return [*private, IN_ROOTFS, "sh", str(root_image.ensure()), "/usr/sbin/sshd", *options]
    if PROGRAM is None:
        pytest.skip("sshd is not installed")
    if is_root and not Path("/run/sshd").is_dir():
        return [*private, WITH_ITS_FOLDER, "sh", PROGRAM, *options]
    return [PROGRAM, *options]


def reached_by(request: pytest.FixtureRequest, sshd: Sshd) -> Sshd:
    """The sshd over the transport of the fixture's parameter, by default paramiko."""
    transport = getattr(request, "param", "paramiko")
    if transport == "openssh" and shutil.which("ssh") is None:
        pytest.skip("ssh is not installed")
    return replace(sshd, transport=transport)


def empty_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A home of the test's own without an agent: nothing of the developer is used or changed."""
    (folder / ".ssh").mkdir(0o700)
    patch.setenv("HOME", str(folder))
    patch.delenv("SSH_AUTH_SOCK", raising=False)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_until_it_serves(process: subprocess.Popen[bytes], sshd: Sshd) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", sshd.port), timeout=1) as connection:
            if connection.recv(4) == b"SSH-":
                return
        time.sleep(0.02)
    log = (sshd.folder / "log").read_text(errors="replace").strip().splitlines()
    # an ordinary user may lack rights
    give_up = pytest.fail if os.geteuid() == 0 else pytest.skip
    give_up(f"sshd does not run here: {log[-1] if log else 'no message'}")


def works(config: HostConfig) -> bool:
    host = SshHost("client", config)
    try:
        return host.run("echo", "hello").stdout == "hello\n"
    finally:
        host.close()


def refused(config: HostConfig, kind: type[Exception] = HostError) -> str:
    before = set(threading.enumerate())
    with pytest.raises(kind) as caught:
        SshHost("client", config)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), f"left over: {thread}"
    return str(caught.value)


def gone(pid: str) -> bool:
    """Whether a process ends soon; a zombie has ended."""
    for _ in range(1000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


class Wire:
    """A TCP relay to a port of this machine that can be frozen and cut."""

    def __init__(self, port: int):
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._flowing = threading.Event()
        self._flowing.set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._pass_on, args=ends, daemon=True))
                    self._threads[-1].start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def freeze(self) -> None:
        """Let both ends wait for each other, as when a cable is pulled."""
        self._flowing.clear()

    def cut(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()
        self._flowing.set()
        for thread in self._threads:
            thread.join(5)
        for end in self._ends:
            end.close()
