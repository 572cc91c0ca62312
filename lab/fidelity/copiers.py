"""The tools that copy the probes, as people type them, and what each rsync can keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput
from lab.base.untrusted import first_line
from lab.workloads.rsync import parse_version

# The line of the post of 2015. https://rsync.samba.org/ftp/rsync/rsync.1 has all but the last two, which are patches
POST_LINE = "rsync -aNHAXx --fileflags --force-change"
# The options of the line that an engine may lack, with their long names
LETTERS: Mapping[str, str] = {"N": "crtimes", "H": "hard-links", "A": "acls", "X": "xattrs", "x": "one-file-system"}
# E of Apple's 2.6.9 and openrsync keeps attributes, resource forks and lists. In 3.x it is --executability
OTHER_LETTERS: Mapping[str, str] = {"S": "sparse", "U": "atimes", "E": "extended-attributes"}
BY_WORD = "E"  # the letter alone counts for openrsync only, because elsewhere it has another meaning
WORDS = ("fileflags", "force-change")
# The names by which `rsync --version` lists what was built in, by option
BUILT_IN: Mapping[str, str] = {"N": "crtimes", "A": "ACLs", "X": "xattrs", "H": "hardlinks", "U": "atimes"}
# Options that keep more than -a: S keeps holes, U keeps atimes
KEEPING = ("H", "A", "X", "N", "U", "S", "E")
# Where a system or its package managers install rsync
PLACES = (
    "/usr/bin/rsync", "/usr/local/bin/rsync", "/opt/homebrew/bin/rsync", "/opt/local/bin/rsync",
    "/usr/libexec/rsync/rsync.openrsync", "/usr/libexec/rsync/rsync.samba",
)  # fmt: skip
UNKNOWN, NOT_BUILT, UNTOLD, THERE = "no such option", "built without it", "it does not say", "yes"


@dataclass(frozen=True)
class Copier:
    """A tool: its words by platform, for the platforms that have it.

    ``needs_mount``: it copies between folders of one host. ``onto``: its last word is the new folder, not the folder
    above.
    """

    name: str
    about: str
    argv: Mapping[str, tuple[str, ...]]
    needs_mount: bool = True
    onto: bool = False

    def words(self, platform: str, engine: Engine | None, remote_shell: str) -> tuple[str, ...]:
        """The call up to its two paths. ``engine`` is the client's rsync, whose options rsync-all adds."""
        words = self.argv[platform]
        if self.name == EVERYTHING and engine:
            words += engine.keeping
        return (*words, "-e", remote_shell) if remote_shell else words


def _on(**commands: str) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({platform: tuple(command.split()) for platform, command in commands.items()})


EVERYTHING = "rsync-all"
RSYNC = _on(linux="rsync -a", macos="rsync -a")
COPIERS = (
    Copier("cp", "the data; on a Mac extended attributes, too", _on(linux="cp -R", macos="cp -R")),
    Copier("cp-a", "all that cp can keep", _on(linux="cp -a")),
    Copier("cp-p", "all that cp of a Mac can keep", _on(macos="cp -pR")),
    Copier("ditto", "what Apple's own copier keeps", _on(macos="ditto"), onto=True),
    Copier("rsync-a", "what most people type", RSYNC, needs_mount=False),
    Copier(EVERYTHING, "every option by which this engine says it keeps something", RSYNC, needs_mount=False),
)
BY_NAME = {copier.name: copier for copier in COPIERS}


def find(name: str) -> Copier:
    """The tool of this name. Raises BadInput."""
    if name not in BY_NAME:
        raise BadInput(f"unknown tool {name!r:.80}; known are {', '.join(BY_NAME)}{hint(name, BY_NAME)}")
    return BY_NAME[name]


@dataclass(frozen=True)
class Engine:
    """One rsync of a host. ``options`` has an answer for each option: whether the engine has it, or why not."""

    host: str
    path: str
    version: str
    options: Mapping[str, str]

    @property
    def keeping(self) -> tuple[str, ...]:
        """The options that keep more than -a."""
        letters = "".join(letter for letter in KEEPING if self.options.get(letter) == THERE)
        words = tuple(f"--{word}" for word in WORDS if self.options.get(word) == THERE)
        return (*((f"-{letters}",) if letters else ()), *words)

    @property
    def answer(self) -> str:
        """Whether the engine takes the post's line."""
        lacks = {option: why for option, why in self.options.items() if why != THERE and option not in OTHER_LETTERS}
        if not lacks:
            return "takes all of it"
        spelt = (f"{'-' if len(option) == 1 else '--'}{option} ({why})" for option, why in lacks.items())
        return f"refuses it: {', '.join(spelt)}"


def parse_engine(host: str, path: str, version: str, usage: str) -> Engine:
    """An engine, from what ``--version`` and ``--help`` printed. An unknown version is shown as it is.

    The version alone tells too little: Apple, Homebrew and MacPorts add options, and a build may lack any.
    """
    try:
        name = parse_version(version.lstrip())
    except ValueError:
        name = first_line(version, 60) or "says nothing"
    letters, words = list_options(usage)
    spelt = {**LETTERS, **OTHER_LETTERS, **{word: word for word in WORDS}}
    if BY_WORD in letters and not name.startswith("openrsync"):
        letters.remove(BY_WORD)
    options = {option: THERE if option in letters or word in words else UNKNOWN for option, word in spelt.items()}
    for letter, feature in BUILT_IN.items():
        if options[letter] == THERE and re.search(rf"\bno {feature}(?![\w-])", version):
            options[letter] = NOT_BUILT
    return Engine(host, path, name, options if letters or words else dict.fromkeys(options, UNTOLD))


def list_options(usage: str) -> tuple[set[str], set[str]]:
    """The letters and the words of the options in a help.

    The help is a list (``--acls, -A  preserve ACLs``, before 3.2.4 `` -A, --acls``) or a summary (``[-46aH]``).
    """
    letters = set("".join(re.findall(r"\[-([0-9A-Za-z]{2,70})\]", usage)))
    words = set(re.findall(r"\[--([a-z][a-z-]{1,40})", usage)) | set(re.findall(r"\| --([a-z][a-z-]{1,40})", usage))
    for line in usage.splitlines():
        definition = re.match(r" *(?:(?:--[a-z][\w-]{0,40}(?:=\S+)?|-[0-9A-Za-z])(?:, | |$))+", line[:200])
        for word, letter in re.findall(r"--([a-z][\w-]*)|-([0-9A-Za-z])", definition[0] if definition else ""):
            (words if word else letters).add(word or letter)
    return letters, words
