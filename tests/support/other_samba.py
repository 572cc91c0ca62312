"""A Samba on a server of a local lab that is not the lab's: what `serve = existing` is for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.local_lab import Bench

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
SHARE = "[{name}]\npath = /srv/other\nread only = no\nforce user = {writer}\n"
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
    """A path as a word of a shell, by other means than the lab's."""
    return "'" + path.replace("'", "'\\''") + "'"


@contextmanager
def other_samba(bench: Bench, *names: str, writer: str = "root", mode: str = "755") -> Iterator[None]:
    """It serves /srv/other, a folder of this mode, by all these names, and writes as the account ``writer``."""
    conf = SMB_CONF + "".join(SHARE.format(name=name, writer=writer) for name in names)
    password = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    bench.inside("server", START.format(mode=mode, conf=conf, password=quoted(Path(password).read_text())))
    try:
        yield
    finally:
        bench.inside("server", STOP)
