"""A server of a local lab that nobody logs in to: somebody else's Samba and Ganesha, and a client that only mounts."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from support.local_lab import Bench
from support.paths import TESTS

SHARE = "/mnt/share"  # on the server
LARGE = {"size": "256 MiB", "direction": ["write"], "tool": ["cp"], "store": ["disk"], "protocol": ["smb"]}
MOUNTS = "/run/elsewhere"  # of somebody else's GVfs on the client
SERVERS = TESTS / "support" / "linux_servers.sh"
# $1 the password. The words of who mounts it are not the lab's
MOUNT = f"""
mkdir -m 700 {MOUNTS} && cd {MOUNTS} && mkdir gvfs || exit
export XDG_RUNTIME_DIR={MOUNTS} DBUS_SESSION_BUS_ADDRESS=unix:path={MOUNTS}/bus GIO_USE_VOLUME_MONITOR=unix
dbus-daemon --session --fork --address=$DBUS_SESSION_BUS_ADDRESS --print-pid > pids || exit
for daemon in "gvfsd --no-fuse" "gvfsd-fuse {MOUNTS}/gvfs -f"; do
    setsid /usr/libexec/$daemon < /dev/null > log 2>&1 & echo $! >> pids
    sleep 1
done
printf '%s\\n' "$1" | gio mount 'smb://WORKGROUP;lab@10.99.0.2/labram' > /dev/null || exit
tries=0
until ls -d {MOUNTS}/gvfs/smb*; do tries=$((tries + 1)); [ $tries -lt 100 ] || exit 1; sleep 0.1; done
"""
UNMOUNT = f"umount -l {MOUNTS}/gvfs; xargs kill < {MOUNTS}/pids; sleep 1; rm -rf {MOUNTS}"
RESTART_SAMBA = """
cd /run/servers && setsid smbd --foreground --no-process-group -s smb.conf > smb.log 2>&1 < /dev/null &
until grep -q ':01BD .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done
"""


def password_of(bench: Bench) -> str:
    """That of the share's account."""
    file = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    return Path(file).read_text().strip()


def serve(bench: Bench) -> None:
    """Serve the share by SMB and NFS, as somebody else."""
    done = bench.execute("server", "sh", "-c", SERVERS.read_text(), "sh", password_of(bench))
    assert done.returncode == 0, done.stdout + done.stderr


def mount_elsewhere(bench: Bench) -> str:
    """Mount the share on the client, as somebody else; returns where."""
    done = bench.execute("client", "sh", "-c", MOUNT, "sh", password_of(bench))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


def unseen_hosts(bench: Bench, **share: str) -> Path:
    """A hosts file whose server has an address and nothing else."""
    sections = dict(_sections(bench.hosts.read_text()))
    sections["server"] = "\n".join(line for line in sections["server"].splitlines() if line.startswith("data_address"))
    password = next(line for line in sections["share"].splitlines() if line.startswith("password"))
    account = [] if "mounted" in share else ["account = lab", password]
    sections["share"] = "\n".join(["serve = existing", *account, *(f"{key} = {text}" for key, text in share.items())])
    path = bench.directory / "hosts.unseen.ini"
    path.write_text("\n".join(f"[{name}]\n{text}" for name, text in sections.items()) + "\n")
    return path


def _sections(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("]\n") for part in f"\n{text}".split("\n[")[1:]]
    return [(name, keys) for name, _, keys in parts]


def on_share(bench: Bench) -> list[str]:
    """What lies on the share, as its server sees it."""
    return bench.inside("server", f"find {SHARE} -mindepth 1").splitlines()


@pytest.fixture(scope="module")
def served(new_bench: Callable[..., Bench]) -> Bench:
    """A local lab whose server serves a share that is not the lab's."""
    bench = new_bench()
    serve(bench)
    return bench


@pytest.fixture
def unseen(served: Bench) -> Iterator[Bench]:
    """The same, with no results; the client must be as before afterwards, and the share empty."""
    for run in served.directory.glob("results/*"):
        run.rename(served.directory / run.name)
    before = served.state()["client"]
    yield served
    assert sorted(set(before) ^ set(served.state()["client"])) == []
    assert on_share(served) == []


def wait_until_under_way(bench: Bench, run: Popen[str]) -> None:
    """Wait until some of a payload has reached the share."""
    deadline = time.monotonic() + 120
    while not bench.inside("server", f"find {SHARE} -type f -size +8M"):
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
