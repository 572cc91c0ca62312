"""What a narrow sudo does not cover is refused by the hosts file alone, whatever the command; what is printed of it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import Command
from support.operations import OLD_VALUES
from support.pairs import OWN

from lab.platforms.linux.ram_disk import Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.platforms.macos.disk_images import RamImage, RamVolume
from lab.platforms.macos.settings import MacMtu, MacSysctl
from lab.protocols.mounts.linux import LinuxShareMount
from lab.protocols.mounts.macos import MacShareMount
from lab.root_helper import program as root_helper
from lab.root_helper import table
from lab.settings.journal import Record
from lab.settings.operation import Operation

CLIENT = "[client]\nhost = c\nuser = {user}\nsudo = {client}\ndata_address = 10.0.0.1\n{more}\n"
SERVER = "[server]\nhost = s\nsudo = {server}\ndata_address = 10.0.0.2\n"
SHARE = "[share]\nserve = {serve}\npath = /srv/x\nname = {name}\naccount = you\n"
PERL = shutil.which("perl") or "perl"
COMMA = "[share] name: with [client] sudo = helper it has no comma: give another sudo there"
REFUSED = {
    "a server of the lab's": ({"server": "helper", "serve": "lab"}, "[server] sudo: the helper starts no server; give"),
    "a folder": ({"more": "mount_base = /data"}, "mount_base: sudo = helper works in the lab's own folder alone"),
    "a name": ({"name": "a,sec=none"}, COMMA),
    "a RAM disk of a module": ({"more": "ram_disk_format = ext4"}, "ram_disk_format: sudo = helper makes no ext4"),
}
DEFAULTS = {"client": "helper", "server": "none", "serve": "existing", "more": "", "name": "x", "user": "you"}


def write(folder: Path, **changes: str) -> Path:
    path = folder / "narrow.ini"
    path.write_text(f"{CLIENT}{SERVER}{SHARE}".format(**DEFAULTS | changes))
    return path


@pytest.mark.parametrize("command", ["check", "plan demo", "run demo", "host install"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_it_does_not_cover_is_refused(refused: Command, tmp_path: Path, case: str, command: str) -> None:
    """Before any host is reached."""
    changes, message = REFUSED[case]
    assert message in refused(*command.split(), "--hosts", write(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "words", "message"),
    [
        ({"client": "nopasswd"}, [], "no section has sudo = helper"),
        ({"client": "nopasswd"}, ["server"], "[server] sudo = none: root needs no helper"),
        ({"user": "%admin"}, ["--print"], "%admin"),  # an account that sudoers would read otherwise
    ],
)
def test_no_helper_is_put_where_it_would_do_nothing(
    refused: Command, tmp_path: Path, changes: dict[str, str], words: list[str], message: str
) -> None:
    assert message in refused("host", "install", "--hosts", write(tmp_path, **changes), *words)


def test_all_of_it_is_printed_without_a_host(done: Command, tmp_path: Path) -> None:
    printed = done("host", "install", "--hosts", write(tmp_path), "--print")
    for folder in ("/usr/lib", "/Library/PrivilegedHelperTools"):
        assert f"\nyou ALL=(root) NOPASSWD: NOSETENV: {folder}/file-share-lab/root-helper\n" in printed
    assert all(text in printed for text in ("visudo -cqf", *map(root_helper.program, root_helper.ENTRIES)))


@pytest.mark.parametrize("system", ["Linux", "Darwin"])
def test_perl_takes_it_without_a_warning(system: str, tmp_path: Path) -> None:
    program = tmp_path / "helper"
    program.write_text(root_helper.program(system))
    done = subprocess.run([PERL, "-cTw", str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, f"{program} syntax OK\n")


# What a host with a narrow sudo notes: an installed helper knows the texts that the lab writes, in their order
NOTED = {
    "Linux": ("/var/lib", (Tmpfs, LinuxShareMount, LinuxMtu, LinuxTcpBuffer)),
    "Darwin": ("/private/var/db", (RamImage, RamVolume, MacShareMount, MacMtu, MacSysctl)),
}
NOTES = [
    pytest.param(system, operation, id=f"{system}-{operation.kind}")
    for system, (_, kinds) in NOTED.items()
    for operation in OLD_VALUES
    if isinstance(operation, kinds)
]
TAKES_NOTE = r"""
($uid, $gid, $name, $home) = (501, 20, 'you', find_home() . '/file-share-lab');
make_types();
exit(bind_text('{note}', scalar <STDIN>) ? 0 : 77);
"""


@pytest.mark.parametrize(("system", "operation"), NOTES)
def test_it_takes_the_notes_of_what_is_changed_with_it(system: str, operation: Operation, tmp_path: Path) -> None:
    program = tmp_path / "helper"
    program.write_text(root_helper.program(system).replace("exit main();\n", TAKES_NOTE))
    content = Record(1, "client", operation, OLD_VALUES[operation], OLD_VALUES[operation], "01234567").as_json()
    of_run = f"{NOTED[system][0]}/file-share-lab/file-share-lab-0123456789abcdef"
    for more, code in (({}, 0), ({"argv": "reboot"}, 77)):
        note = json.dumps(content | {"operation": operation.as_json() | more})
        note = note.replace(f"/private{OWN}", of_run).replace(OWN, of_run)
        assert subprocess.run([PERL, "-T", str(program)], input=note, text=True, check=False).returncode == code, note


def test_that_of_a_mac_has_nothing_that_came_after_perl_5_10() -> None:
    """Mac OS X 10.6 has 5.10: no s///r, no package blocks, no say."""
    code = root_helper.program("Darwin").partition("@TABLE = (")[0]
    assert not re.search(r"(\bs(\{[^}]*\}\{[^}]*\}|/[^/]*/[^/]*/)[a-z]*r[a-z]*\b)|^package .*\{", code, re.M)


@pytest.mark.parametrize("system", ["Linux", "Darwin"])
def test_its_version_follows_from_all_that_it_does(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = root_helper.version(system)
    assert root_helper.program(system).endswith(f"$VERSION = '{before}';\nexit main();\n")
    monkeypatch.setattr(table, "DROP_CACHES", "sync")
    monkeypatch.setattr(table, "PURGE", "sync")
    root_helper.program.cache_clear()
    try:
        assert root_helper.version(system) != before
    finally:
        monkeypatch.undo()
        root_helper.program.cache_clear()
