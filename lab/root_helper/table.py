"""The table of the helper of a narrow sudo: its entries, and those that every system has.

They are made of the code that sends the commands. What the helper does with them is in ``lab/hosts/root_helper.pl``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lab.hosts.command import Command, command, script
from lab.hosts.own_folder import LAB_HOME, LOOK_AT_HOME
from lab.hosts.root_helper import VERSION_WORD
from lab.platforms import files
from lab.platforms.files import READ_ALL
from lab.platforms.settings import Mtu
from lab.settings import host_journal, lease
from lab.settings.host_journal import TakenHostJournal

FOLDER = "/var/lib/file-share-lab/file-share-lab-0123456789abcdef"  # an example, where code makes the words
RAM, MNT = f"{FOLDER}/ram", f"{FOLDER}/mnt"
OF_RUN = "{token}\n"


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


def make_entry(
    about: str, step: Command, types: Mapping[str, str] | None = None, act: str = "run", given: str = "", **more: bool
) -> Entry:
    """The entry of a command; ``types`` has the templates of words, by the words of this example."""
    templates = dict(types or {})
    words = tuple(templates.get(word, word) for word in step.argv)
    return Entry(about, words, frozenset(templates.values()), act, given, **more)


def readings() -> Iterator[Entry]:
    """What the lab asks as root."""
    yield make_entry("the version of this helper", command(VERSION_WORD), act="version")
    yield make_entry("whether there is root at all", command("true"))
    yield make_entry("as what it runs", command("id", "-u"))
    yield make_entry("the folder that all of the lab's are in", script(LAB_HOME))
    yield make_entry("that folder, or where it may be made", script(LOOK_AT_HOME))
    yield make_entry(
        "read files into memory, as the account", script(READ_ALL, "x"), {"x": "{in_store}"}, act="account"
    )


def folders() -> Iterator[Entry]:
    """Folders of the lab's, and files in shares."""
    make = script(files.MAKE, "700", "home", "account", files.NEW)
    types = {"700": "{mode}", "account": "{account}"}
    yield make_entry("make a folder of the lab's for the account", make, types, given="{folder}")
    remove = script(files.REMOVE, FOLDER)
    yield make_entry("remove it, with what the account has in it", remove, {FOLDER: "{folder}"}, act="remove")
    yield make_entry("remove one in a share, as the account", remove, {FOLDER: "{store}"}, act="account")
    close = script(files.CLOSE, "folder", "account")
    types = {"folder": "{store}", "account": "{account}"}
    yield make_entry("close one in a share to others than it and who writes there", close, types, "close", "{proof}")
    yield make_entry(
        "remove a file, as the account", command("rm", "-f", "--", "x"), {"x": "{in_store}"}, act="account"
    )
    yield make_entry(
        "remove a tree of files, as the account", command("rm", "-rf", "--", "x"), {"x": "{in_store}"}, act="account"
    )


def journal(mtu: Mtu) -> Iterator[Entry]:
    """The host journal, and its timer; ``mtu`` is an example of what that takes back."""
    taken = TakenHostJournal("", "0")
    yield make_entry("host journal: whose it is", taken.read(), given=OF_RUN)
    yield make_entry("host journal: give it up", taken.undo("absent")[0], given="{lock}\n")
    yield make_entry("host journal: its records", script(host_journal.READ, ""))
    take = script(host_journal.TAKE_ALONE, "", host_journal.ALONE, host_journal.TAKE)
    yield make_entry("host journal: take it", take, given="{token}\n{owner}\n")
    seize = script(host_journal.TAKE_ALONE, "", host_journal.ALONE, lease.SEIZE)
    yield make_entry("host journal: take it from a run that has fallen silent", seize, given="{token}\n{process}\n")
    note = script(host_journal.NOTE_SAFELY, "", host_journal.NOTE)
    yield make_entry("host journal: note a change", note, given="{record}\n{note}\n")
    arm = script(host_journal.ARM, "", "60", host_journal.TIMER, host_journal.SESSION)
    yield make_entry("start the timer that takes an MTU back", arm, {"60": "{seconds}"}, given=_undo_template(mtu))
    yield make_entry("call that timer off", script(host_journal.CONFIRM, ""), given="{record}\n")
    yield make_entry("strike records", script(host_journal.STRIKE, ""), given="{record}\n", repeated=True)


def _undo_template(mtu: Mtu) -> str:
    """What takes an MTU back, as the timer gets it; the interface and the MTU as types of the helper's."""
    example = "1500"
    lines = "".join(shlex.join(step.argv) + "\n" for step in mtu.undo(example))
    return "{record}\n" + lines.replace(mtu.interface, "{interface}").replace(example, "{mtu}")
