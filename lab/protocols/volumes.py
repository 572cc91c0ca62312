"""File systems that servers refuse or share badly: why, what helps, and the source.

File systems have their names in the table of mounts. If no fact is about a file system, no refusal is known.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter


class Verdict(StrEnum):
    """What happens to a share."""

    REFUSED = "refused"
    """The server does not share it, or no client gets in."""
    IMPAIRED = "impaired"
    """The server shares it, but something in it fails."""
    UNPROVEN = "unproven"
    """Nothing that is published says whether it is shared."""


@dataclass(frozen=True, kw_only=True)
class VolumeFact:
    """How servers of a protocol on a platform, ``since`` one version and ``before`` another, treat some file systems.

    ``kinds`` are the file systems: a name that ends in a dot is a prefix, and no name means all but ``spared``.
    ``unless`` is a mount option that lifts the fact. ``client`` is the only platform whose clients notice, or empty.
    ``cure`` and ``why`` are statements without a full stop.
    """

    platform: str
    protocol: str
    kinds: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    verdict: Verdict
    why: str
    cure: str
    sources: tuple[str, ...]
    since: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    unless: tuple[str, str] = ("", "")
    client: str = ""
    is_case_sensitive: bool = False


@dataclass(frozen=True)
class Volume:
    """A shared folder's file system; ``version`` of the server's system (empty: unknown), ``client`` its platform."""

    platform: str
    kind: str
    version: tuple[int, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    is_case_sensitive: bool = False
    client: str = ""


FACTS = TypeAdapter(tuple[VolumeFact, ...]).validate_python(
    tomllib.loads(Path(__file__).with_name("volumes.toml").read_text(encoding="utf-8"))["fact"]
)


def facts_about(protocol: str, volume: Volume) -> Iterator[VolumeFact]:
    """What is known of sharing this volume by a protocol: the closest fact, and what its case-sensitivity brings."""
    fitting = [fact for fact in FACTS if fact.protocol == protocol and _fits(fact, volume)]
    yield from [fact for fact in fitting if not fact.is_case_sensitive][:1]
    yield from [fact for fact in fitting if fact.is_case_sensitive][:1]


def _fits(fact: VolumeFact, volume: Volume) -> bool:
    name, value = fact.unless
    is_named = any(volume.kind.startswith(kind) if kind.endswith(".") else volume.kind == kind for kind in fact.kinds)
    return (
        fact.platform == volume.platform
        and (is_named or (not fact.kinds and volume.kind not in fact.spared))
        and (not volume.version or fact.since <= volume.version)
        and (not volume.version or not fact.before or volume.version < fact.before)
        and fact.client in ("", volume.client)
        and (volume.is_case_sensitive or not fact.is_case_sensitive)
        and not (name and volume.options.get(name) == value)
    )
