"""A user without rights on both hosts of a lab, who attacks while the lab works, and what that may not come to."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.local_lab import HOSTS, Bench

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
NOBODY_OF_A_MAC = ("sudo", "-u", "nobody")
ATTACKER = Path(__file__).with_name("attacker.pl").read_text(encoding="utf-8")
# What root has, with its content: none of it may be the attacker's work
OF_ROOT = (
    "find /etc /root /var/lib /usr/local -xdev -type f -exec cksum {} + | grep -v -e /etc/mtab -e /var/lib/nfs | sort"
)
OF_ROOT_ON_A_MAC = (
    "find -x /private/etc /private/var/root /private/var/db /Library -type f -exec cksum {} + | "
    "grep -v -e /launchd.db -e com.apple | sort"
)
END = "for pid in $(ps -U 65534 -o pid=); do kill -s KILL $pid; done"
END_ON_A_MAC = "for pid in $(ps -U nobody -o pid=); do kill -s KILL $pid; done"
CLEAN = "find /tmp /var/tmp /dev/shm /srv/disk -xdev -user 65534 -delete 2>/dev/null; :"
CLEAN_ON_A_MAC = "find -x /private/tmp /private/var/tmp /Users/Shared -user nobody -delete 2>/dev/null; :"
# A daemon of root's. A process of its group is another user's, and has the words of a command of the lab's;
# after line ends in them stand rows of a list of processes, by which the daemon itself is one.
DAEMON = r"""
use POSIX;
my ($user, $rows) = @ARGV;
exit if fork;
setsid();
my $words = q(echo "file-share-lab:$$" >&2; sleep 987; :);
$words .= join '', map { "\n $$ 1 $$ 0 0 /bin/sh -c $words" } 1 .. $rows;
if (!fork) { POSIX::setgid($user); POSIX::setuid($user); open STDERR, '>/dev/null'; exec '/bin/sh', '-c', $words }
$| = 1;
print "$$\n";
open STDOUT, '>/dev/null';
sleep 987;
"""


@contextmanager
def daemon_of_roots(bench: Bench, host: str, user: int) -> Iterator[None]:
    """A daemon of root's with a process of this user in its group; it must run on to the end."""
    words = ("local", "exec", "--name", bench.name, host, "--", "perl", "-e", DAEMON, "--", f"{user}", "3")
    process = bench.lab(*words).stdout.strip()
    try:
        yield
    finally:
        left = bench.inside(host, f"ps -A -o pgid= -o pid= | grep -c '^ *{process} '; kill -s KILL -- -{process}; :")
    assert left == "3\n", "a daemon of root's was ended"


@dataclass(frozen=True)
class Attacker:
    """How a platform starts the attacker, ends it, removes what it left, and lists what is root's."""

    start: tuple[str, ...]
    end: str
    clean: str
    of_root: str


ON_LINUX = Attacker(NOBODY, END, CLEAN, OF_ROOT)
ON_A_MAC = Attacker(NOBODY_OF_A_MAC, END_ON_A_MAC, CLEAN_ON_A_MAC, OF_ROOT_ON_A_MAC)


@contextmanager
def attacked(bench: Bench, attack: str, by: Attacker = ON_LINUX, seconds: int = 240) -> Iterator[list[str]]:
    """Attackers on both hosts until the end, and what they left is removed then; gives what each got hold of."""
    processes: list[subprocess.Popen[str]] = []
    booty: list[str] = []
    try:
        for host in HOSTS:
            words = ("local", "exec", "--name", bench.name, host, "--", *by.start, "perl", "-e", ATTACKER)
            command = bench.command(*words, "--", attack, str(seconds))
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
            process = subprocess.Popen(command, cwd=bench.directory, **pipes)
            processes.append(process)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield booty
    finally:
        for host in HOSTS:
            bench.inside(host, by.end)
        for process in processes:
            assert process.stdout is not None
            with process.stdout as output:
                booty += output.read().splitlines()  # communicate() loses what came along with the first line
            process.wait(60)
        for host in HOSTS:
            bench.inside(host, by.clean)


def of_root(bench: Bench, by: Attacker = ON_LINUX) -> dict[str, str]:
    """Every file that is root's, with what it holds."""
    return {host: bench.inside(host, by.of_root) for host in HOSTS}
