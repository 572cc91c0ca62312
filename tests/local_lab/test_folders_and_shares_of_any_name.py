"""Names as people give them, spaces and signs included: real servers serve them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.input_files import SHARES
from support.local_lab import HOSTS, Bench

EVERY_SIGN = "a b;c'd$(touch x)`id`,e=f#g&h|i*j[k]é😀<m>$u{n}!~"
LONG = "x" * 251 + "😀"
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
SHARE = "[{}]\npath = /srv/other\nread only = no\nforce user = root\n"
START = """
mkdir -p /run/other /srv/other && cat > /run/other/smb.conf <<'END' || exit
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


@pytest.mark.parametrize("protocol", ["afp", "smb", "nfs", "ssh"])
def test_folders_of_any_name_serve_and_mount(bench: Bench, protocol: str) -> None:
    folder = f"/srv/disk/{EVERY_SIGN}/{LONG}"
    for host in HOSTS:
        bench.inside(host, f"mkdir -p {quoted(folder)} {quoted(f'/tmp/{EVERY_SIGN}'[:30])}")
    try:
        base = f"/tmp/{EVERY_SIGN}"[:30]
        hosts = bench.changed_hosts(client_mount_base=base, server_mount_base=base, share_path=folder)
        tool = "rsync" if protocol == "ssh" else "cp"
        done = bench.run(hosts=hosts, protocol=[protocol], tool=[tool], store=["ram", "disk"], size="1 MiB")
        assert done.returncode == 0, done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials())
        for host in HOSTS:
            assert bench.inside(host, f"ls -A {quoted(folder)} {quoted(base)} | grep lab || :") == ""
    finally:
        for host in HOSTS:
            bench.inside(host, f"rm -r {quoted(f'/srv/disk/{EVERY_SIGN}')} {quoted(base)}")


def quoted(path: str) -> str:
    """A path as a word of a shell, by other means than the lab's."""
    return "'" + path.replace("'", "'\\''") + "'"


@pytest.fixture
def other_samba(bench: Bench) -> Iterator[Bench]:
    """A Samba that is not the lab's, with shares of all these names."""
    conf = SMB_CONF + "".join(map(SHARE.format, SHARES))
    password = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    bench.inside("server", START.format(conf=conf, password=quoted(Path(password).read_text())))
    yield bench
    bench.inside("server", STOP)


def test_a_share_that_was_there_before_may_have_any_name(other_samba: Bench) -> None:
    failed = {}
    for name in SHARES:
        hosts = other_samba.changed_hosts(share_serve="existing", share_path="/srv/other", share_name=name)
        once = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"], "size": "1 MiB"}
        done = other_samba.run(hosts=hosts, **once)
        if done.returncode != 0:
            failed[name] = done.stdout + done.stderr + "".join(trial["reason"] for trial in other_samba.trials())
    assert failed == {}
