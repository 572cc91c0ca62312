"""The tools that copy the probes, as people type them: each option is one that is there to keep something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput
from lab.base.untrusted import first_line
from lab.workloads.rsync import parse_version

# The line of the post of 2015: https://rsync.samba.org/ftp/rsync/rsync.1 has all but the last two, which are of patches
POST_LINE = "rsync -aNHAXx --fileflags --force-change"
# Each option of the line that an engine may lack, as its help may spell it
LETTERS: Mapping[str, str] = {"N": "crtimes", "H": "hard-links", "A": "acls", "X": "xattrs", "x": "one-file-system"}
# E is Apple's, in 2.6.9 and openrsync: attributes, resource forks and lists. In 3.x it is --executability
OTHER_LETTERS: Mapping[str, str] = {"S": "sparse", "U": "atimes", "E": "extended-attributes"}
BY_WORD = "E"  # a letter that is not enough, but of openrsync: elsewhere it means something else
WORDS = ("fileflags", "force-change")
# What `rsync --version` says of what was built in, by the option that needs it
BUILT_IN: Mapping[str, str] = {"N": "crtimes", "A": "ACLs", "X": "xattrs", "H": "hardlinks", "U": "atimes"}
# Options that keep something beyond -a, where an engine has them: S is for holes, U for atimes
KEEPING = ("H", "A", "X", "N", "U", "S", "E")
# Where a system or its package managers put one, beside PATH
PLACES = (
    "/usr/bin/rsync", "/usr/local/bin/rsync", "/opt/homebrew/bin/rsync", "/opt/local/bin/rsync",
    "/usr/libexec/rsync/rsync.openrsync", "/usr/libexec/rsync/rsync.samba",
)  # fmt: skip
UNKNOWN, NOT_BUILT, UNTOLD, THERE = "no such option", "built without it", "it does not say", "yes"


@dataclass(frozen=True)
class Copier:
    """A tool and its options, by platform: those that are missing there have no such tool.

    ``name`` is what a person picks it by. ``needs_mount``: it copies between folders of one host. ``onto``: its last
    word is the new folder itself, not the one above.
    """

    name: str
    about: str
    argv: Mapping[str, tuple[str, ...]]
    needs_mount: bool = True
    onto: bool = False

    def words(self, platform: str, engine: Engine | None, remote_shell: str) -> tuple[str, ...]:
        """What it is called by, up to its two paths. ``engine`` is the client's rsync, for one that asks for all."""
        words = self.argv[platform]
        if self.name == EVERYTHING and engine:
            words += engine.keeping
        return (*words, "-e", remote_shell) if remote_shell else words


def _on(**commands: str) -> Mapping[str, tuple[str, ...]]:
    """Words by platform."""
    return MappingProxyType({platform: tuple(command.split()) for platform, command in commands.items()})


EVERYTHING = "rsync-all"
COPIERS = (
    Copier("cp", "the data; on a Mac extended attributes, too", _on(linux="cp -R", macos="cp -R")),
    Copier("cp-a", "all that cp can keep", _on(linux="cp -a")),
    Copier("cp-p", "all that cp of a Mac can keep", _on(macos="cp -pR")),
    Copier("ditto", "what Apple's own copier keeps", _on(macos="ditto"), onto=True),
    Copier("rsync-a", "what most people type", _on(linux="rsync -a", macos="rsync -a"), needs_mount=False),
    Copier(
        EVERYTHING,
        "every option by which this engine says it keeps something",
        _on(linux="rsync -a", macos="rsync -a"),
        needs_mount=False,
    ),
)
BY_NAME = {copier.name: copier for copier in COPIERS}


def find(name: str) -> Copier:
    """The copier of this name. Raises BadInput."""
    if name not in BY_NAME:
        raise BadInput(f"unknown tool {name!r:.80}; known are {', '.join(BY_NAME)}{hint(name, BY_NAME)}")
    return BY_NAME[name]


@dataclass(frozen=True)
class Engine:
    """One rsync of a host. ``options`` says of each of the post's line whether it has that, or why not."""

    host: str
    path: str
    version: str
    options: Mapping[str, str]

    @property
    def keeping(self) -> tuple[str, ...]:
        """The options by which it keeps more than with -a."""
        letters = "".join(letter for letter in KEEPING if self.options.get(letter) == THERE)
        words = tuple(f"--{word}" for word in WORDS if self.options.get(word) == THERE)
        return (*((f"-{letters}",) if letters else ()), *words)

    @property
    def answer(self) -> str:
        """What it makes of the post's line."""
        lacks = {option: why for option, why in self.options.items() if why != THERE and option not in OTHER_LETTERS}
        if not lacks:
            return "takes all of it"
        spelt = (f"{'-' if len(option) == 1 else '--'}{option} ({why})" for option, why in lacks.items())
        return f"refuses it: {', '.join(spelt)}"


def parse_engine(host: str, path: str, version: str, usage: str) -> Engine:
    """An engine, of what ``--version`` and ``--help`` printed; a version that is none is shown as it is."""
    try:
        name = parse_version(version.lstrip())
    except ValueError:
        name = first_line(version, 60) or "says nothing"
    letters, words = list_options(usage)
    spelt = {**LETTERS, **OTHER_LETTERS}
    if BY_WORD in letters and not name.startswith("openrsync"):
        letters.remove(BY_WORD)
    known = {letter: word in words or letter in letters for letter, word in spelt.items()}
    options = {letter: _state(letter, is_known, version) for letter, is_known in known.items()}
    options |= {word: THERE if word in words else UNKNOWN for word in WORDS}
    return Engine(host, path, name, options if letters or words else dict.fromkeys(options, UNTOLD))


def _state(letter: str, is_known: bool, version: str) -> str:
    if not is_known:
        return UNKNOWN
    feature = BUILT_IN.get(letter)
    return NOT_BUILT if feature and re.search(rf"\bno {feature}(?![\w-])", version) else THERE


def list_options(usage: str) -> tuple[set[str], set[str]]:
    """The letters and the words of the options in a help.

    It is a list (``--acls, -A  preserve ACLs``, before 3.2.4 `` -A, --acls``), or a summary (``[-46aH] [--append]``).
    """
    letters = set("".join(re.findall(r"\[-([0-9A-Za-z]{2,70})\]", usage)))
    words = set(re.findall(r"\[--([a-z][a-z-]{1,40})", usage)) | set(re.findall(r"\| --([a-z][a-z-]{1,40})", usage))
    for line in usage.splitlines():
        definition = re.match(r" *(?:(?:--[a-z][\w-]{0,40}(?:=\S+)?|-[0-9A-Za-z])(?:, | |$))+", line[:200])
        for word, letter in re.findall(r"--([a-z][\w-]*)|-([0-9A-Za-z])", definition[0] if definition else ""):
            (words if word else letters).add(word or letter)
    return letters, words
