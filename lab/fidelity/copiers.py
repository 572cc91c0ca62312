"""The tools that copy the probes, as people type them: each option is one that is there to keep something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput
from lab.fidelity.engines import Engine


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
