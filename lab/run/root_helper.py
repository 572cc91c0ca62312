"""The helper of a narrow sudo: its table, made of the code that sends the commands, and whether a host has it.

It is the one program that a sudoers line can name in place of a shell. Its table has what a client, or a server of a
share that was there before, is measured with on Linux. What it does with that is in ``lab/hosts/root_helper.pl``.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import lab.hosts
from lab.base.errors import HostError, Unsupported
from lab.hosts import Host
from lab.hosts.command import Command, command, script
from lab.hosts.own_folder import LAB_HOME, LOOK_AT_HOME
from lab.hosts.root_helper import VERSION_WORD
from lab.platforms import files
from lab.platforms.linux.files import DROP_CACHES
from lab.platforms.linux.ram_disk import TMPFS, Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.protocols.mounts.gvfs import GvfsFuse
from lab.protocols.mounts.linux import PROBE, LinuxShareMount
from lab.protocols.smb.linux import DEBUG_DATA
from lab.run.transfer import READ_ALL
from lab.settings import host_journal
from lab.settings.host_journal import TakenHostJournal

PARTS = [Path(lab.hosts.__file__).with_name(f"root_helper{part}.pl") for part in ("_table", "_linux", "")]
FOLDER = "/var/lib/file-share-lab/file-share-lab-0123456789abcdef"  # an example, where code makes the words
RAM, MNT, FUSE = f"{FOLDER}/ram", f"{FOLDER}/mnt", f"{FOLDER}/gvfs/run/gvfs"
OF_RUN = "{token}\n"
UNDO_MTU = "{record}\nip link set dev {interface} mtu {mtu}\n"
CREDENTIALS = "credentials={credentials},uid={uid},gid={gid}{smb_options}"
NFS_OPTIONS = "proto=tcp,soft,timeo=100,retrans=3,nolock{nfs_options}"


@dataclass(frozen=True)
class Entry:
    """A command that the helper knows: ``about`` it, for people; its ``words``; and the ``act`` that it stands for.

    Of the words, those in ``templates`` have ``{types}`` of the helper's in them. ``given`` is the template of standard
    input, ``repeated`` once or more often; empty: there is none.
    """

    about: str
    words: tuple[str, ...]
    templates: frozenset[str] = frozenset()
    act: str = "run"
    given: str = ""
    repeated: bool = False

    def as_perl(self) -> str:
        """As an element of the table."""
        words = ", ".join(("\\" if word in self.templates else "") + _quote(word) for word in self.words)
        given = f"given => {_quote(self.given)}, repeated => {int(self.repeated)}, " if self.given else ""
        return f"# {self.about}\n{{ act => {_quote(self.act)}, {given}words => [{words}] }},\n"


def _quote(text: str) -> str:
    """A text as Perl reads it between single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _entry(
    about: str, step: Command, types: Mapping[str, str] | None = None, act: str = "run", given: str = "", **more: bool
) -> Entry:
    """The entry of a command; ``types`` has the templates of words, by the words of this example."""
    templates = dict(types or {})
    words = tuple(templates.get(word, word) for word in step.argv)
    return Entry(about, words, frozenset(templates.values()), act, given, **more)


def entries() -> list[Entry]:
    """The whole table."""
    return [*_readings(), *_settings(), *_mounts(), *_folders(), *_journal()]


def _readings() -> Iterator[Entry]:
    yield _entry("the version of this helper", command(VERSION_WORD), act="version")
    yield _entry("whether there is root at all", command("true"))
    yield _entry("as what it runs", command("id", "-u"))
    yield _entry("the folder that all of the lab's are in", script(LAB_HOME))
    yield _entry("that folder, or where it may be made", script(LOOK_AT_HOME))
    for kind in ("cifs", "nfs"):
        yield _entry(f"whether the kernel knows {kind}; it may load its module for that", script(PROBE, kind))
    yield _entry("connections of the kernel's SMB client", script(DEBUG_DATA))
    yield _entry("read files into memory, as the account", script(READ_ALL, "x"), {"x": "{in_store}"}, act="account")


def _settings() -> Iterator[Entry]:
    example = {"eth0": "{interface}", "1500": "{mtu}"}
    yield _entry("the MTU of an interface, 68 to 65535", LinuxMtu("eth0").change("1500")[0], example)
    for buffer in (LinuxTcpBuffer("net.ipv4.tcp_rmem"), LinuxTcpBuffer("net.ipv4.tcp_wmem")):
        yield _entry(f"{buffer.name}, three numbers", buffer.change("1\t2\t3")[0], {"1\t2\t3": "{buffer}"})
    yield _entry("forget cached files", script(DROP_CACHES))


def _mounts() -> Iterator[Entry]:
    disk = {RAM: "{ram}", "size": "size={bytes},mode=700,uid={uid}"}
    yield _entry("a RAM disk; always nosuid, nodev", script(TMPFS, RAM, "size"), disk, act="tmpfs")
    cifs = command("mount", "-t", "cifs", "-o", "options", "source", MNT)
    yield _entry("an SMB share; so too", cifs, {"options": CREDENTIALS, "source": "{smb}", MNT: "{mnt}"}, act="mount")
    nfs = command("mount", "-t", "nfs", "-o", "options", "source", MNT)
    yield _entry("an NFS share; so too", nfs, {"options": NFS_OPTIONS, "source": "{nfs}", MNT: "{mnt}"}, act="mount")
    fuse = GvfsFuse(f"{FOLDER}/gvfs")
    for about, step, types in (
        ("a RAM disk", Tmpfs(RAM).undo("absent")[0], {RAM: "{ram}"}),
        ("a share", LinuxShareMount(MNT).undo("absent")[0], {MNT: "{mnt}"}),
        ("a share of GVfs", fuse.undo("absent")[0], {fuse.entry: "{fuse} fuse.gvfsd-fuse", FUSE: "{fuse}"}),
    ):
        yield _entry(f"unmount {about}", step, types, act="unmount")


def _folders() -> Iterator[Entry]:
    make = script(files.MAKE, "700", "home", "account", files.NEW)
    types = {"700": "{mode}", "account": "{account}"}
    yield _entry("make a folder of the lab's for the account", make, types, given="{folder}")
    remove = script(files.REMOVE, FOLDER)
    yield _entry("remove it, with what the account has in it", remove, {FOLDER: "{folder}"}, act="remove")
    yield _entry("remove one in a share, as the account", remove, {FOLDER: "{store}"}, act="account")
    close = script(files.CLOSE, "folder", "account")
    types = {"folder": "{store}", "account": "{account}"}
    yield _entry("close one in a share to others than it and who writes there", close, types, "close", "{proof}")
    yield _entry("remove a file, as the account", command("rm", "-f", "--", "x"), {"x": "{in_store}"}, act="account")


def _journal() -> Iterator[Entry]:
    taken = TakenHostJournal("", "0")
    yield _entry("host journal: whose it is", taken.read(), given=OF_RUN)
    yield _entry("host journal: give it up", taken.undo("absent")[0], given=OF_RUN)
    yield _entry("host journal: its records", script(host_journal.READ, ""))
    take = script(host_journal.TAKE_ALONE, "", host_journal.ALONE, host_journal.TAKE)
    yield _entry("host journal: take it", take, given="{token}\n{owner}\n")
    note = script(host_journal.NOTE_SAFELY, "", host_journal.NOTE)
    yield _entry("host journal: note a change", note, given="{record}\n{note}\n")
    arm = script(host_journal.ARM, "", "60", host_journal.TIMER)
    yield _entry("start the timer that takes an MTU back", arm, {"60": "{seconds}"}, given=UNDO_MTU)
    yield _entry("call that timer off", script(host_journal.CONFIRM, ""), given="{record}\n")
    yield _entry("strike records", script(host_journal.STRIKE, ""), given="{record}\n", repeated=True)


@functools.cache
def program() -> str:
    """The whole helper, as a host gets it; with its digest as its version."""
    table = "".join(entry.as_perl() for entry in entries())
    code = "\n".join(part.read_text(encoding="utf-8") for part in PARTS)
    text = f"{code}\n@TABLE = (\n{table});\n"
    version = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"#!/usr/bin/perl -Tw\n{text}$VERSION = '{version}';\nexit main();\n"


def version() -> str:
    """What the helper calls its version."""
    return program().rpartition("$VERSION = '")[2].partition("'")[0]


def check_installed(host: Host) -> None:
    """Raise where a host with ``sudo = helper`` has no helper, or that of another lab, or is no Linux host."""
    if not host.is_narrow:
        return
    if host.run("uname", "-s").stdout.strip() != "Linux":
        message = "sudo = helper is for Linux hosts alone"
        raise Unsupported(message, "give sudo = password for the time of the measurements", host=host.role)
    present = host.run(VERSION_WORD, root=True).stdout.strip()
    if present != version():
        message = f"its helper is that of another version of the lab ({present:.20}; this one's is {version()})"
        raise HostError(message, f"`lab host install {host.role}`", host=host.role)
