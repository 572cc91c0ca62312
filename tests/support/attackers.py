"""A user without rights attacks both hosts while the lab works; what the attack must not achieve."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.base.present import present
from support.local_lab import HOSTS, Bench

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
ATTACKER = Path(__file__).with_name("attacker.pl").read_text(encoding="utf-8")
# A daemon of root, and another user's process in its group with the words of a lab command. After line breaks,
# these words hold rows of a process list that name the daemon.
DAEMON = r"""
use POSIX;
my ($user, $rows) = @ARGV;
pipe my $read, my $write;
if (fork) { close $write; print scalar readline $read; exit }
setsid();
my $words = q(echo "file-share-lab:$$" >&2; sleep 987; :);
$words .= join '', map { "\n $$ 1 $$ 0 0 /bin/sh -c $words" } 1 .. $rows;
if (!fork) { POSIX::setgid($user); POSIX::setuid($user); open STDERR, '>/dev/null'; exec '/bin/sh', '-c', $words }
print $write "$$\n";
close $write;
open STDOUT, '>/dev/null';
sleep 987;
"""


@contextmanager
def daemon_of_roots(bench: Bench, host: str, user: int) -> Iterator[None]:
    """A daemon of root with a process of ``user`` in its process group; the daemon must keep running."""
    words = ("local", "exec", "--name", bench.name, host, "--", "perl", "-e", DAEMON, "--", f"{user}", "3")
    process = bench.lab(*words).stdout.strip()
    try:
        yield
    finally:
        left = bench.inside(host, f"ps -A -o pgid= -o pid= | grep -c '^ *{process} '; kill -s KILL -- -{process}; :")
    assert left == "3\n", "a daemon of root's was ended"


@dataclass(frozen=True)
class Attacker:
    """How a platform starts and ends the attacker, removes what it left, and lists root's files."""

    start: tuple[str, ...]
    end: str
    clean: str
    root_files: str


ON_LINUX = Attacker(
    NOBODY,
    "for pid in $(ps -U 65534 -o pid=); do kill -s KILL $pid; done",
    "find /tmp /var/tmp /dev/shm /srv/disk -xdev -user 65534 -delete 2>/dev/null; :",
    "find /etc /root /var/lib /usr/local -xdev -type f -exec cksum {} + | grep -v -e /etc/mtab -e /var/lib/nfs | sort",
)
ON_A_MAC = Attacker(
    ("sudo", "-u", "nobody"),
    "for pid in $(ps -U nobody -o pid=); do kill -s KILL $pid; done",
    "find -x /private/tmp /private/var/tmp /Users/Shared -user nobody -delete 2>/dev/null; :",
    "find -x /private/etc /private/var/root /private/var/db /Library -type f -exec cksum {} + | "
    "grep -v -e /launchd.db -e com.apple | sort",
)


@contextmanager
def attacked(bench: Bench, attack: str, by: Attacker = ON_LINUX) -> Iterator[list[str]]:
    """Run attackers on both hosts, then remove what they left; yields what each got hold of."""
    processes: list[subprocess.Popen[str]] = []
    booty: list[str] = []
    try:
        for host in HOSTS:
            words = ("local", "exec", "--name", bench.name, host, "--", *by.start, "perl", "-e", ATTACKER)
            command = bench.command(*words, "--", attack, "240")
            process = subprocess.Popen(command, cwd=bench.directory, stdout=subprocess.PIPE, text=True)
            processes.append(process)
            assert present(process.stdout).readline() == "ready\n"
        yield booty
    finally:
        for host in HOSTS:
            bench.inside(host, by.end)
        for process in processes:
            with present(process.stdout) as output:
                booty += output.read().splitlines()  # communicate() loses what arrived with the first line
            process.wait(60)
        for host in HOSTS:
            bench.inside(host, by.clean)


def root_files(bench: Bench, by: Attacker = ON_LINUX) -> dict[str, str]:
    return {host: bench.inside(host, by.root_files) for host in HOSTS}


PROTECTED = Path("/proc/sys/fs/protected_symlinks")


@pytest.fixture(params=["0", "1"])
def links(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether the kernel keeps root from following others' links; never lower than this machine has it."""
    before = PROTECTED.read_text().strip()
    if request.param < before:
        pytest.skip("this machine has fs.protected_symlinks = 1; guests have both")
    PROTECTED.write_text(request.param)
    yield
    PROTECTED.write_text(before)


AS_NOBODY = " ".join(NOBODY)
AS_NEIGHBOUR = "setpriv --reuid=neighbour --regid=users --clear-groups --"
SLOW_CP = """
mkdir -m 755 /run/slow; cat > /usr/local/bin/cp <<'END'; chmod 755 /usr/local/bin/cp
#!/bin/sh
case $* in *.bin*)
    tries=0
    touch /run/slow/waits
    until [ -e /run/slow/go ] || [ $tries -gt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done ;;
esac
exec /bin/cp "$@"
END
"""
NAMES = f"""
tries=0
until [ -e /run/slow/waits ]; do sleep 0.05; tries=$((tries + 1)); [ $tries -lt 2400 ] || exit 1; done
{AS_NOBODY} ps -eo args=
"""
VICTIM = "umask 077; echo theirs > /srv/other/precious; chown {writer} /srv/other/precious"


def planted(
    bench: Bench, writer: str, plant: str = "ln -s", before: str = "", attacker: str = AS_NOBODY,
    stays_open: bool = False,
) -> str:  # fmt: skip
    """Write through a share as the account ``writer``; return the content of a private file of that account.

    The ``attacker`` gives that file the payload's name with the command ``plant``, after root's command ``before``. The
    run must say whether the folder ``stays_open``.
    """
    bench.inside("server", VICTIM.format(writer=writer))
    bench.inside("client", SLOW_CP)
    hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name="media")
    factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
    try:
        with bench.started_run(hosts=hosts, size="1 MiB", **factors) as run:
            (path,) = set(re.findall(r"/(file-share-lab-\w+/b\S+\.bin)$", bench.inside("client", NAMES), re.MULTILINE))
            folder = f"/srv/other/{path.partition('/')[0]}"
            bench.inside("server", before.format(folder=folder))
            bench.inside("server", f"{attacker} {plant} /srv/other/precious /srv/other/{path} 2>/dev/null; :")
            bench.inside("client", "touch /run/slow/go")
            output, _ = run.communicate(timeout=300)
        assert ("stays open" in output) == stays_open, output
        bench.wait_until_free()
        return bench.inside("server", "head -c 7 /srv/other/precious | tr -c 'a-z\\n' ?")
    finally:
        bench.inside("client", "rm -rf /run/slow /usr/local/bin/cp")
