"""The page of what is assumed of Macs: where each comes from, what breaks, and on which Macs it was seen."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from described import table

from lab.base.untrusted import one_line, read_file
from lab.check.hardware import assumptions_about
from lab.check.hardware_file import AS_ASSUMED, DIFFERS, MOST_BYTES, MOST_CHARACTERS, SharedHost, parse_shared
from lab.hosts.assumptions import Assumption, Risk, Version, rank
from lab.platforms.macos.platform import MacOS

REPORTS = Path(__file__).parents[2] / "data" / "hardware"
COLUMNS = ("if false", "how to see", "seen on")
ASSUMPTIONS = {row.name: row for row in rank(assumptions_about(MacOS))}


def seen_on(folder: Path = REPORTS) -> dict[str, SharedHost]:
    """The real Macs of all files, by a name that the tables use. Raises ValueError, with the file, for what is none."""
    macs: dict[str, SharedHost] = {}
    for path in sorted(folder.glob("*.txt")):
        try:
            for host in parse_shared(read_file(path, MOST_BYTES).decode()):
                if "model" in host.facts and not host.is_emulated and host.model and host.system:
                    macs[f"{len(macs) + 1}"] = host
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return macs


def verdicts(host: SharedHost) -> dict[str, str]:
    """What a Mac's file says of each assumption, as far as it was compared with what is assumed today."""
    return {
        entry.name: entry.verdict
        for entry in host.entries
        if entry.kind == "assumption"
        and entry.name in ASSUMPTIONS
        and entry.verdict in (AS_ASSUMED, DIFFERS)
        and entry.fields.get("assumed", _expected(entry.name)) == _expected(entry.name)
    }


def _expected(name: str) -> str:
    return one_line(ASSUMPTIONS[name].expected, MOST_CHARACTERS).rstrip()


def assumptions_page(folder: Path = REPORTS) -> Iterator[str]:
    """Every assumption about Macs."""
    macs = seen_on(folder)
    yield """# What is assumed of Macs

No Mac was at hand while this was written: the lab rests on Apple's published sources, manual pages and outputs that
others have published. `lab check --hardware --share FILE` asks a Mac, and changes nothing on it: [how to
help](../how-to/check-hosts.md#share-what-a-mac-says).
"""
    yield "## Verified on hardware\n"
    yield from _macs(macs)
    unverified = [row for row in ASSUMPTIONS.values() if row.unverified]
    yield f"""## Hardware only

No source proves these {len(unverified)}, so only a Mac can. The worst come first; what is lost stands above each table.
"asked": `lab check --hardware` does. The rest is to be tried by hand; each such command puts back what it changes.
"""
    for risk in Risk:
        rows = [row for row in unverified if row.risk is risk]
        if rows:
            yield f"**Where it is false, {risk.words}:**\n"
            yield table(("name", "assumed", "why", *COLUMNS), [_row(row, macs) for row in rows])
    proven = [row for row in ASSUMPTIONS.values() if not row.unverified]
    yield f"""## From a source

These {len(proven)} follow from what is named, the worst first. A Mac is asked all the same.
"""
    yield table(("name", "assumed", "source", *COLUMNS), [_row(row, macs) for row in proven])


def _row(row: Assumption, macs: dict[str, SharedHost]) -> tuple[str, ...]:
    how = "asked" if row.ask else _prose(row.expected)
    return (
        f"`{row.name}`",
        _prose(row.what) + _versions(row),
        _prose(row.source),
        _prose(row.breaks),
        how,
        _seen(row, macs),
    )


def _prose(text: str) -> str:
    """Words of the code in a page; what looks like a tag, outside of code, is none."""
    parts = text.split("`")
    return "`".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(parts))


def _versions(row: Assumption) -> str:
    since = f"from {_version(row.since)} on" if row.since > (0, 0) else ""
    before = f"before {_version(row.before)}" if row.before < (1000, 0) else ""
    words = ", ".join(filter(None, (since, before)))
    return f" ({words})" if words else ""


def _version(version: Version) -> str:
    return f"{version[0]}.{version[1]}" if version[1] or version[0] == 10 else f"{version[0]}"


def _seen(row: Assumption, macs: dict[str, SharedHost]) -> str:
    of_macs = {number: verdicts(host).get(row.name) for number, host in macs.items()}
    as_assumed = [number for number, verdict in of_macs.items() if verdict == AS_ASSUMED]
    differing = [f"**not on {number}**" for number, verdict in of_macs.items() if verdict == DIFFERS]
    return ", ".join([*as_assumed, *differing]) or "–"


def _macs(macs: dict[str, SharedHost]) -> Iterator[str]:
    if not macs:
        yield "None yet. Each real Mac of a file in `data/hardware/` has its row here; an emulated one has none.\n"
        return
    yield "One row for each real Mac of the files in `data/hardware/`.\n"
    yield table(("", "model", "system", "as assumed", "differs"), [_mac(*item) for item in macs.items()])


def _mac(number: str, host: SharedHost) -> tuple[str, ...]:
    by_name = verdicts(host)
    differing = _names(name for name, verdict in by_name.items() if verdict == DIFFERS)
    return number, host.model, host.system, f"{list(by_name.values()).count(AS_ASSUMED)}", differing


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"
