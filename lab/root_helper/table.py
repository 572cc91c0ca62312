"""The table of the helper of a narrow sudo: what it runs as root, made of the code that sends these commands."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from lab.hosts.command import Command, command, script
from lab.hosts.own_folder import LAB_HOME, LOOK_AT_HOME
from lab.platforms import files
from lab.platforms.files import READ_ALL
from lab.platforms.linux.files import DROP_CACHES
from lab.platforms.linux.ram_disk import TMPFS, Tmpfs
from lab.platforms.linux.settings import LinuxMtu, LinuxTcpBuffer
from lab.platforms.macos.clock import COUNT_TCP
from lab.platforms.macos.disk_images import RamVolume, leave_alone, mount_volume
from lab.platforms.macos.files import PURGE
from lab.platforms.macos.settings import MacMtu, MacSysctl, Name
from lab.platforms.settings import Mtu
from lab.protocols.mounts.linux import PROBE, LinuxShareMount
from lab.protocols.mounts.macos import MacShareMount
from lab.protocols.nfs.macos import MOUNT_OPTIONS, mount_nfs
from lab.protocols.smb.linux import DEBUG_DATA
from lab.settings import host_journal, lease
from lab.settings.host_journal import TakenHostJournal
from lab.settings.operation import Operation

FOLDER = "/var/lib/file-share-lab/file-share-lab-0123456789abcdef"  # an example, where code makes the words
RAM, MNT = f"{FOLDER}/ram", f"{FOLDER}/mnt"
RUN_LINE = "{token}\n"
VERSION_WORD = "file-share-lab-version"


@dataclass(frozen=True)
class Entry:
    """A command that the helper knows: a description for people, its ``words``, and the helper's ``act`` for it.

    Words in ``templates`` contain ``{types}`` of the helper. ``given`` is the template of standard input, or empty;
    ``repeated`` allows it more than once.
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


def make_entry(
    about: str, step: Command, types: Mapping[str, str] | None = None, act: str = "run", given: str = "", **more: bool
) -> Entry:
    """The entry of a command; ``types`` has the templates of words, by the words of this example."""
    templates = dict(types or {})
    words = tuple(templates.get(word, word) for word in step.argv)
    return Entry(about, words, frozenset(templates.values()), act, given, **more)


def _readings() -> Iterator[Entry]:
    yield make_entry("the version of this helper", command(VERSION_WORD), act="version")
    yield make_entry("whether there is root at all", command("true"))
    yield make_entry("as what it runs", command("id", "-u"))
    yield make_entry("the folder that all of the lab's are in", script(LAB_HOME))
    yield make_entry("that folder, or where it may be made", script(LOOK_AT_HOME))
    yield make_entry("read files into memory, as the account", script(READ_ALL, "x"), {"x": "{in_store}"}, "account")


def _folders() -> Iterator[Entry]:
    make = script(files.MAKE, "700", "home", "account", files.NEW)
    types = {"700": "{mode}", "account": "{account}"}
    yield make_entry("make a folder of the lab's for the account", make, types, given="{folder}")
    remove = script(files.REMOVE, FOLDER, files.EMPTY)
    yield make_entry("remove it, with what the account has in it", remove, {FOLDER: "{folder}"}, act="remove")
    yield make_entry("remove one in a share, as the account", remove, {FOLDER: "{store}"}, act="account")
    close = script(files.CLOSE, "folder", "account")
    types = {"folder": "{store}", "account": "{account}"}
    yield make_entry("close one in a share to others than it and who writes there", close, types, "close", "{proof}")
    types = {"x": "{in_store}"}
    yield make_entry("remove a file, as the account", command("rm", "-f", "--", "x"), types, "account")
    yield make_entry("remove a tree of files, as the account", command("rm", "-rf", "--", "x"), types, "account")


def _journal(mtu: Mtu) -> Iterator[Entry]:
    """The host journal, and its timer; ``mtu`` is an example of what that takes back."""
    taken = TakenHostJournal("", "0")
    yield make_entry("host journal: whose it is", taken.read(), given=RUN_LINE)
    yield make_entry("host journal: give it up", taken.undo("absent")[0], given="{lock}\n")
    yield make_entry("host journal: its records", script(host_journal.READ, ""))
    take = script(host_journal.TAKE_ALONE, "", host_journal.ALONE, host_journal.TAKE)
    yield make_entry("host journal: take it", take, given="{token}\n{owner}\n")
    seize = script(host_journal.TAKE_ALONE, "", host_journal.ALONE, lease.SEIZE)
    yield make_entry("host journal: take it from a run that has fallen silent", seize, given="{token}\n{process}\n")
    note = script(host_journal.NOTE_SAFELY, "", host_journal.NOTE)
    yield make_entry("host journal: note a change", note, given="{record}\n{note}\n")
    arm = script(host_journal.ARM, "", "60", host_journal.TIMER, host_journal.SESSION)
    undo = "".join(shlex.join(step.argv) + "\n" for step in mtu.undo("1500"))
    given = "{record}\n" + undo.replace(mtu.interface, "{interface}").replace("1500", "{mtu}")
    yield make_entry("start the timer that takes an MTU back", arm, {"60": "{seconds}"}, given=given)
    yield make_entry("call that timer off", script(host_journal.CONFIRM, ""), given="{record}\n")
    yield make_entry("strike records", script(host_journal.STRIKE, ""), given="{record}\n", repeated=True)


def linux_entries() -> Iterator[Entry]:
    """The table for Linux: what a client needs, or the server of a share that was there before."""
    yield from _readings()
    for kind in ("cifs", "nfs"):
        yield make_entry(f"whether the kernel knows {kind}; it may load its module for that", script(PROBE, kind))
    yield make_entry("connections of the kernel's SMB client", script(DEBUG_DATA))
    yield _mtu_entry(LinuxMtu("eth0"))
    for buffer in (LinuxTcpBuffer("net.ipv4.tcp_rmem"), LinuxTcpBuffer("net.ipv4.tcp_wmem")):
        yield make_entry(f"{buffer.name}, three numbers", buffer.change("1\t2\t3")[0], {"1\t2\t3": "{buffer}"})
    yield make_entry("forget cached files", script(DROP_CACHES))
    disk = {RAM: "{ram}", "size": "size={bytes},mode=700,uid={uid}"}
    yield make_entry("a RAM disk; always nosuid, nodev", script(TMPFS, RAM, "size"), disk, act="tmpfs")
    for about, kind, options, source in (
        ("an SMB share", "cifs", "credentials={credentials},uid={uid},gid={gid}{smb_options}", "{smb}"),
        ("an NFS share", "nfs", "proto=tcp,soft,timeo=100,retrans=3,nolock{nfs_options}", "{nfs}"),
    ):
        mount = command("mount", "-t", kind, "-o", "options", "source", MNT)
        types = {"options": options, "source": source, MNT: "{mnt}"}
        yield make_entry(f"{about}; so too", mount, types, act="mount")
    yield from _unmount_entries(Tmpfs(RAM), LinuxShareMount(MNT))
    yield from _folders()
    yield from _journal(LinuxMtu("eth0"))


def mac_entries() -> Iterator[Entry]:
    """The table for a Mac."""
    yield from _readings()
    yield make_entry("how many TCP segments were sent again", command(*COUNT_TCP))
    yield _mtu_entry(MacMtu("en0"))
    for name in get_args(Name):
        step = MacSysctl(name).change("1")[0]
        yield make_entry(f"{name}, a number", step, {f"{name}=1": f"{name}={{number}}"})
    yield make_entry("forget cached files", script(PURGE))
    volume = {"kind": "{format}", "device": "{device}", RAM: "{ram}"}
    yield make_entry("a RAM disk; always nosuid, nodev", mount_volume("kind", "device", RAM), volume, act="volume")
    alone = {RAM: "{ram}", "1": "{uid}"}
    yield make_entry("no Spotlight on it; it is the account's", leave_alone(RAM, 1, "700"), alone, act="leave_alone")
    nfs = {"source": "{nfs}", MNT: "{mnt}", f"{MOUNT_OPTIONS},asked": f"{MOUNT_OPTIONS}{{nfs_options}}"}
    yield make_entry("an NFS share; always nosuid, nodev", mount_nfs("source", MNT, ["asked"]), nfs, act="mount")
    yield from _unmount_entries(RamVolume(RAM), MacShareMount(MNT))
    yield from _folders()
    yield from _journal(MacMtu("en0"))


def _mtu_entry(mtu: Mtu) -> Entry:
    types = {mtu.interface: "{interface}", "1500": "{mtu}"}
    return make_entry("the MTU of an interface, 68 to 65535", mtu.change("1500")[0], types)


def _unmount_entries(ram_disk: Operation, share: Operation) -> Iterator[Entry]:
    for about, operation, types in (("a RAM disk", ram_disk, {RAM: "{ram}"}), ("a share", share, {MNT: "{mnt}"})):
        for step in operation.undo("absent"):
            yield make_entry(f"unmount {about}", step, types, act="unmount")
