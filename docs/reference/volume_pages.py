"""The page of what servers do not share of a file system: a row for each fact, with its source."""

from collections.abc import Iterator

from described import table

from lab.protocols.volumes import FACTS, Verdict, VolumeFact

PLATFORMS = {"macos": "macOS", "linux": "Linux"}


def volumes_page() -> Iterator[str]:
    """What servers make of the file system of a shared folder."""
    yield """# Why can a volume not be shared?

What a server does with the file system under a share, why, and what helps. `lab check` reads the file system of
`[share] path` on the server and reports the rows that apply, under `server volume`. No refusal is known of any other
file system: HFS+ on a Mac, and ext4, XFS, Btrfs and ZFS on Linux. The table rests on the sources in the last column;
nobody tried it on hardware.

A file system is called as `mount` calls it. A ZFS that is called `hfs` there passes for HFS+, here too.
"""
    columns = ("server", "by", "file system", "what happens", "why", "what helps", "from")
    yield table(columns, [_row(fact) for fact in FACTS])


def _row(fact: VolumeFact) -> tuple[str, ...]:
    names = [f"`{kind}…`" if kind.endswith(".") else f"`{kind}`" for kind in fact.kinds]
    spared = ", ".join(f"`{kind}`" for kind in fact.spared)
    kinds = ", ".join(names) or f"any but {spared}"
    happens = {Verdict.REFUSED: "refused", Verdict.IMPAIRED: "shared, with losses", Verdict.UNPROVEN: "not known"}
    clients = f" to {PLATFORMS[fact.client]}" if fact.client else ""
    case = ", case-sensitive" if fact.is_case_sensitive else ""
    sources = ", ".join(f"[{number}]({url})" for number, url in enumerate(fact.sources, 1))
    return (
        f"{PLATFORMS[fact.platform]}{_versions(fact)}", f"{fact.protocol.upper()}{clients}", f"{kinds}{case}",
        happens[fact.verdict], fact.why, fact.cure, sources,
    )  # fmt: skip


def _versions(fact: VolumeFact) -> str:
    """Such as `` 10.7 and later, before 11``; empty for all."""
    since, before = (".".join(map(str, version)).removesuffix(".0") for version in (fact.since, fact.before))
    parts = [f"{since} and later" if since else "", f"before {before}" if before else ""]
    return "".join(f" {part}," for part in parts if part).rstrip(",")
