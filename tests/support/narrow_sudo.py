"""Local labs with a narrow sudo, servers that are not the lab's, and attacks by whoever has the account."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from lab.hosts.hosts_file import load_hosts
from lab.hosts.ssh import HELPER, SshHost
from lab.platforms.files import CLOSE, EMPTY, MAKE, NEW, REMOVE
from lab.root_helper.program import SUDOERS
from lab.settings import host_journal, lease
from support.local_lab import HOSTS, Bench
from support.other_servers import serve

PASSWORD = "of the account lab, for a test"
OPEN_TO_ALL = "chown lab /mnt/share; chmod 1777 /mnt/share"
# The helper and its line in sudoers
TRACES = f"ls -d {HELPER} {HELPER.rpartition('/')[0]} {SUDOERS} {SUDOERS}.new 2>/dev/null; :"


def narrow_hosts(bench: Bench, roles: tuple[str, ...] = ("client",), **changes: str) -> Path:
    """A hosts file with the account lab and the helper on these hosts, and a share that the server already has."""
    password = bench.directory / "sudo-password"
    password.touch(0o600)
    password.write_text(PASSWORD)
    return _hosts_file(bench, roles, "lab", password, "/mnt/share", changes)


def _hosts_file(
    bench: Bench, roles: tuple[str, ...], user: str, password: Path, share_path: str, changes: dict[str, str]
) -> Path:
    account = {"user": user, "sudo": "helper", "sudo_password": f"file:{password}"}
    keys = {f"{role}_{key}": value for role in roles for key, value in account.items()}
    share = {"share_serve": "existing", "share_path": share_path, "share_name": "labram", "server_tune": "yes"}
    return bench.changed_hosts(**keys, **share, **changes)


def give_password(bench: Bench, roles: tuple[str, ...] = ("client",)) -> None:
    """Let the account use sudo by password."""
    for role in roles:
        bench.inside(role, f"echo 'lab:{PASSWORD}' | chpasswd")


@contextmanager
def serving(bench: Bench) -> Iterator[None]:
    serve(bench)
    bench.inside("server", OPEN_TO_ALL)
    yield


def connected(hosts: Path, role: str = "client") -> AbstractContextManager[SshHost]:
    return closing(SshHost(role, getattr(load_hosts(hosts), role)))


def on_macs(bench: Bench, path: str, roles: tuple[str, ...] = HOSTS, **changes: str) -> Path:
    """A hosts file for emulated Macs: their owner's account, the helper, and the share at ``path``."""
    return _hosts_file(bench, roles, "you", Path("/run/file-share-lab", bench.name, "password"), path, changes)


MTU = "/sys/class/net/eth0/mtu"


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Iterator[tuple[Bench, Path]]:
    """A lab with the helper on its client, and its hosts file."""
    bench = new_bench()
    give_password(bench)
    before = bench.state()
    hosts = narrow_hosts(bench)
    for _ in range(2):  # the second time changes nothing
        installed = bench.lab("host", "install", "--hosts", str(hosts))
        assert (installed.returncode, installed.stdout.count("client: put there: ")) == (0, 2), installed.stderr
    with serving(bench):
        yield bench, hosts
    for text in ("removed", "not there"):
        removed = bench.lab("host", "remove", "--hosts", str(hosts))
        assert removed.stdout == f"client: {text}: {SUDOERS}\nclient: {text}: {HELPER}\n", removed.stderr
    assert bench.inside("client", TRACES) == ""
    assert bench.state()["client"] == before["client"]


@pytest.fixture
def unchanged(narrow: tuple[Bench, Path]) -> Iterator[tuple[Bench, Path]]:
    """The lab without results; the client and the server's settings must be unchanged afterwards."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = bench.state()
    yield narrow
    after = bench.state()
    assert (after["client"], after["server"][:3]) == (before["client"], before["server"][:3])


NAME = "file-share-lab-0123456789abcdef"
RECORD = "0123abcd-000002"
ROOT_PROCESS = (
    '{"number": 2, "host": "client", "operation": {"kind": "process", "directory": "/tmp/file-share-lab-0123abcd", '
    '"process": "x", "root": true}, "old": "absent", "new": "running", "run": "0123abcd", "boot": "", '
    '"event": "change"}'
)
# Words and standard input, by name
Attempts = dict[str, tuple[Sequence[str], str]]


def sh(text: str, *words: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", text, "sh", *words)


def make_folder(account: str) -> tuple[str, ...]:
    """The words that make a folder in the lab's home; standard input has its path."""
    return sh(MAKE, "700", "home", account, NEW)


@contextmanager
def folder_of(host: SshHost, home: str, account: str) -> Iterator[SshHost]:
    """A folder of the account in the lab's home, made and removed by the helper."""
    host.run(*make_folder(account), root=True, given=f"{home}/{NAME}")
    yield host
    host.run(*sh(REMOVE, f"{home}/{NAME}", EMPTY), root=True)
    assert host.run("ls", home.rpartition("/")[0]).stdout.count("file-share-lab") == 0


def assert_refused(host: SshHost, words_by_name: Attempts) -> None:
    """The helper refuses each attempt, and does nothing."""
    answers = {}
    for name, (words, given) in words_by_name.items():
        result = host.run(*words, root=True, given=given, check=False)
        answers[name] = (result.exit_code, result.stdout, result.stderr.startswith("file-share-lab: refused: "))
    assert {name: answer for name, answer in answers.items() if answer != (77, "", True)} == {}


TOKEN = "0123abcd"
TAKE_IT = sh(host_journal.TAKE_ALONE, "", host_journal.ALONE, host_journal.TAKE)
RELEASE_IT = sh(host_journal.RELEASE, "")
# Pretends to be a lab on this machine with process $1, and asks the helper $2 from a child
LYING = r"""
process=$1; shift
exec /bin/sh -c ": file-share-lab-local-$process; sudo -n -- \"\$@\"; exit \$?" sh "$@"
"""


def claims(process: str) -> tuple[str, ...]:
    """Claims about the process of a lab that aim to end ``process``."""
    return (process, f"../../tmp/../proc/{process}", f"{process} {process}", "1", "0", "-1", "9" * 30, "")


def end_by_claims(host: SshHost, helper: str, process: str) -> str:
    """Let root note ``process`` as the account's session, then take the host over; returns root's notes."""
    noted = ""
    for claim in claims(process):
        given = f"{TOKEN}\n{{}}\n"
        taken = host.shell(LYING, claim, helper, *TAKE_IT, given=given)
        assert taken.stdout.startswith("taken\n"), taken.stdout + taken.stderr
        noted += host.run(*sh(host_journal.READ, ""), root=True).stdout
        assert host.run(*TAKE_IT, root=True, given=given).stdout.startswith("taken\n")
        host.run(*RELEASE_IT, root=True, given=f"{TOKEN}\n")
    return noted


ARM = sh(host_journal.ARM, "", "60", host_journal.TIMER)
NOTE = sh(host_journal.NOTE_SAFELY, "", host_journal.NOTE)
TAKE = (host_journal.TAKE_ALONE, "", host_journal.ALONE)


def attempts(home: str, account: str, drop_caches: str, undo: str) -> Attempts:
    """Attempts by name. ``home`` is the lab's on the host; ``undo`` is what the timer may get to restore an MTU."""
    folder, make = f"{home}/{NAME}", make_folder(account)
    for_root = tuple("root" if word == account else word for word in make)
    return {
        "a shell": (sh("id"), ""),
        "nothing": ((), ""),
        "a script with a byte more": (sh(f"{drop_caches}\n"), ""),
        "a script with a word more": (sh(drop_caches, "x"), ""),
        "a script with a word less": (("/bin/sh", "-c", drop_caches), ""),
        "another shell": (("/bin/bash", "-c", drop_caches, "sh"), ""),
        "removing a file of root's": (("rm", "-f", "--", "/etc/passwd"), ""),
        "removing two": (("rm", "-f", "--", f"{folder}/x", "/etc/passwd"), ""),
        "removing a folder of root's": (sh(REMOVE, "/etc", EMPTY), ""),
        "closing a folder of root's": (sh(CLOSE, "/etc", account), ""),
        "closing one with a path for a proof": (sh(CLOSE, f"/tmp/{NAME}", account), "../../etc/passwd"),
        "a folder for root": (for_root, folder),
        "a folder elsewhere": (make, f"/etc/{NAME}"),
        "a folder above": (make, f"{home}/../{NAME}"),
        "a lock elsewhere": (sh(*TAKE, host_journal.TAKE), "../../x\n{}\n"),
        "a journal elsewhere": (sh(host_journal.READ, "/home/lab/file-share-lab"), ""),
        "another script to take it by": (sh(*TAKE, "id"), "0123abcd\n{}\n"),
        "a run that fell silent elsewhere": (sh(*TAKE, lease.SEIZE), "../../x\n1\n"),
        "a guard that is no process": (sh(*TAKE, lease.SEIZE), "0123abcd\n1; id\n"),
        "what the host has but not by that name": (sh(host_journal.RELEASE, ""), "lapsed x\n"),
        "a record elsewhere": (NOTE, "../../../etc/cron.d/x\n{}\n"),
        "a record that is none": (NOTE, f'{RECORD}\n{{"a": "b"}}\n'),
        "a record of a process of root's": (NOTE, f"{RECORD}\n{ROOT_PROCESS}\n"),
        "striking all records": (sh(host_journal.STRIKE, ""), "*\n"),
        "a timer with a command": (ARM, f"{RECORD}\nid\n"),
        "a timer with another command behind": (ARM, f"{RECORD}\n{undo}id\n"),
        "a timer with a command in it": (ARM, f"{RECORD}\n{undo.replace('1500', '$(id)')}"),
        "a timer for hours": (sh(host_journal.ARM, "", "3601", host_journal.TIMER), f"{RECORD}\n{undo}"),
        "another timer": (sh(host_journal.ARM, "", "60", "id"), f"{RECORD}\n{undo}"),
        "endless input": (NOTE, "x" * 100_000),
    }


# An attacker's $PATH, perl modules and signals, before the helper is called
HOSTILE = """
mkdir -p /tmp/evil && cd /tmp/evil || exit
for name in id ip sh perl find env mount umount ps chmod hdiutil; do
    printf '#!/bin/sh\\nid -u >>/tmp/evil/ran\\n' >$name; chmod 755 $name
done
printf 'package evil; system q(id -u >>/tmp/evil/ran); 1\\n' >evil.pm
cp evil.pm strict.pm; cp evil.pm Config.pm; cp evil.pm sitecustomize.pl
PATH=/tmp/evil:.:$PATH PERL5LIB=/tmp/evil PERL5OPT=-Mevil PERLLIB=/tmp/evil ENV=/tmp/evil/sh BASH_ENV=/tmp/evil/sh IFS=d
export PATH PERL5LIB PERL5OPT PERLLIB ENV BASH_ENV IFS
trap '' TERM INT HUP PIPE CHLD ALRM
"""
