"""A local lab whose hosts have a narrow sudo, and servers that are not the lab's on its server."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from lab.hosts.hosts_file import load_hosts
from lab.hosts.root_helper import SUDOERS
from lab.hosts.ssh import HELPER, SshHost
from lab.local import state
from support.local_lab import HOSTS, Bench
from support.paths import TESTS

PASSWORD = "of the account lab, for a test"
SERVERS = (TESTS / "support" / "linux_servers.sh").read_text()
OPEN_TO_ALL = "chown lab /mnt/share; chmod 1777 /mnt/share"
# What the helper and its line leave must be nothing
TRACES = f"ls -d {HELPER} {HELPER.rpartition('/')[0]} {SUDOERS} {SUDOERS}.new 2>/dev/null; :"


def narrow_hosts(bench: Bench, roles: tuple[str, ...] = ("client",), **changes: str) -> Path:
    """A hosts file: the account lab and the helper on these hosts, a share that was there before on the server."""
    password = bench.directory / "sudo-password"
    password.touch(0o600)
    password.write_text(PASSWORD)
    own = {"user": "lab", "sudo": "helper", "sudo_password": f"file:{password}"}
    keys = {f"{role}_{key}": value for role in roles for key, value in own.items()}
    share = {"share_serve": "existing", "share_path": "/mnt/share", "share_name": "labram", "server_tune": "yes"}
    return bench.changed_hosts(**keys, **share, **changes)


def give_password(bench: Bench, roles: tuple[str, ...] = ("client",)) -> None:
    """So that the account may use sudo by it, as a person's may."""
    for role in roles:
        bench.inside(role, f"echo 'lab:{PASSWORD}' | chpasswd")


@contextmanager
def serving(bench: Bench) -> Iterator[None]:
    """Servers that are not the lab's."""
    password = (state.directory(bench.name) / "password").read_text()
    bench.lab("local", "exec", "--name", bench.name, "server", "--", "sh", "-c", SERVERS, "sh", password)
    bench.inside("server", OPEN_TO_ALL)
    yield


@contextmanager
def connected(hosts: Path, role: str) -> Iterator[SshHost]:
    """A host as the lab has it."""
    host = SshHost(role, getattr(load_hosts(hosts), role))
    try:
        yield host
    finally:
        host.close()


def connected_to_client(hosts: Path) -> AbstractContextManager[SshHost]:
    """The client as the lab has it."""
    return connected(hosts, "client")


def on_macs(bench: Bench, path: str, roles: tuple[str, ...] = HOSTS, **changes: str) -> Path:
    """A hosts file for emulated Macs: their owner's account and the helper; the share that is there at ``path``."""
    own = {"user": "you", "sudo": "helper", "sudo_password": f"file:/run/file-share-lab/{bench.name}/password"}
    keys = {f"{role}_{key}": value for role in roles for key, value in own.items()}
    share = {"share_serve": "existing", "share_path": path, "share_name": "labram", "server_tune": "yes"}
    return bench.changed_hosts(**keys, **share, **changes)
