"""Servers that are not the lab's: Samba and Ganesha on a server without login, Samba that serves one folder."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from support.input_files import read_ini, write_ini
from support.local_lab import Bench, succeeded
from support.paths import TESTS
from support.waiting import wait_until

SHARE = "/mnt/share"  # on the server
LARGE = {"size": "256 MiB", "direction": ["write"], "tool": ["cp"], "store": ["disk"], "protocol": ["smb"]}
MOUNTS = "/run/elsewhere"  # of a GVfs on the client that is not the lab's
SERVERS = (TESTS / "support" / "linux_servers.sh").read_text()
# $1 is the password. The commands differ from the lab's
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
# The programs of the only folder in PATH; $1 is the home of an account. `ip` is in /usr/sbin, where the lab looks, too
BARE = """
mkdir -p /opt/bare && cd /usr/bin && for name in cat date grep head id ls sed sh sleep uname; do
    ln -sf "$PWD/$name" /opt/bare
done
echo 'PATH=/opt/bare' > "$1/.bashrc"
"""
RESTART_SAMBA = """
cd /run/servers && setsid smbd --foreground --no-process-group -s smb.conf > smb.log 2>&1 < /dev/null &
until grep -q ':01BD .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done
"""


def password_of(bench: Bench) -> str:
    return Path(read_ini(bench.hosts)["share"]["password"].removeprefix("file:")).read_text().strip()


def serve(bench: Bench) -> None:
    succeeded(bench.execute("server", "sh", "-c", SERVERS, "sh", password_of(bench)))


def mount_elsewhere(bench: Bench) -> str:
    """Mount the share on the client, not by the lab; returns the folder."""
    return succeeded(bench.execute("client", "sh", "-c", MOUNT, "sh", password_of(bench))).stdout.splitlines()[-1]


def unseen_hosts(bench: Bench, **share: str) -> Path:
    """A hosts file whose server has only an address."""
    hosts = read_ini(bench.hosts)
    account = {} if "mounted" in share else {"account": "lab", "password": hosts["share"]["password"]}
    hosts["server"] = {"data_address": hosts["server"]["data_address"]}
    hosts["share"] = {"serve": "existing"} | account | share
    return write_ini(bench.directory / "hosts.unseen.ini", hosts)


def on_share(bench: Bench) -> list[str]:
    """The files on the share, as the server sees them."""
    return bench.inside("server", f"find {SHARE}").splitlines()[1:]


@pytest.fixture(scope="module")
def served(new_bench: Callable[..., Bench]) -> Bench:
    """A local lab whose server has a share that is not the lab's."""
    bench = new_bench()
    serve(bench)
    return bench


@pytest.fixture
def unseen(served: Bench) -> Iterator[Bench]:
    """The lab without results; afterwards the client must be unchanged and the share empty."""
    for run in served.directory.glob("results/*"):
        run.rename(served.directory / run.name)
    before = served.state()["client"]
    yield served
    assert sorted(set(before) ^ set(served.state()["client"])) == []
    assert on_share(served) == []


def wait_until_under_way(bench: Bench, run: Popen[str]) -> None:
    """Wait until 8 MiB of a payload are on the share."""
    wait_until(lambda: bench.inside("server", f"find {SHARE} -type f -size +16384"), "the payload", 120, run)


SMB_CONF = """\
[global]
server role = standalone server
smb ports = 445
interfaces = 10.99.0.2
bind interfaces only = yes
disable netbios = yes
load printers = no
printcap name = /dev/null
private dir = /run/other
lock directory = /run/other
state directory = /run/other
cache directory = /run/other
pid directory = /run/other
ncalrpc dir = /run/other/ncalrpc
log file = /run/other/log
"""
SHARE_CONF = "[{name}]\npath = /srv/other\nread only = no\nforce user = {writer}\n"
START = """
mkdir -p /run/other && mkdir -m {mode} /srv/other && cat > /run/other/smb.conf <<'END' || exit
{conf}
END
(echo {password}; echo {password}) | smbpasswd -c /run/other/smb.conf -a -s lab >/dev/null || exit
setsid smbd --foreground --no-process-group -s /run/other/smb.conf >/dev/null 2>&1 </dev/null &
echo $! > /run/other.group
until grep -q ':01BD [0-9A-F]*:0000 0A ' /proc/net/tcp; do sleep 0.05; done
"""
STOP = """
group=$(cat /run/other.group); kill -s TERM -- "-$group"
while kill -s 0 -- "-$group" 2>/dev/null; do sleep 0.05; done
rm -r /run/other /srv/other /run/other.group
"""


def quoted(path: str) -> str:
    """A path as a word of a shell, quoted without the lab's code."""
    return "'" + path.replace("'", "'\\''") + "'"


@contextmanager
def other_samba(bench: Bench, *names: str, writer: str = "root", mode: str = "755") -> Iterator[None]:
    """Serve /srv/other, a folder with this mode, under all these names, writing as the account ``writer``."""
    conf = SMB_CONF + "".join(SHARE_CONF.format(name=name, writer=writer) for name in names)
    bench.inside("server", START.format(mode=mode, conf=conf, password=quoted(password_of(bench))))
    try:
        yield
    finally:
        bench.inside("server", STOP)
