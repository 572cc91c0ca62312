"""The pairs of a fleet: its hosts files, read, with names and tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import one_line
from lab.design.sweep_file import RUN_NAME
from lab.fleet.fleet_file import Fleet, Pairs
from lab.fleet.shared_hosts import machines_of
from lab.hosts.hosts_file import Hosts, load_hosts

MOST_PAIRS = 10_000
MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Pair:
    """Two hosts by their file; ``machines`` are what these are known by, ``site`` is empty where all reach them."""

    name: str
    hosts_file: Path
    config: Hosts
    tags: frozenset[str]
    site: str
    machines: frozenset[str]


def pairs_of(fleet: Fleet, path: Path) -> dict[str, Pair]:
    """The pairs by name, in the order of the file. Raises BadInput; ``path`` is the fleet file, for messages."""
    by_file: dict[Path, Pair] = {}
    by_name: dict[str, Path] = {}
    for number, table in enumerate(fleet.pairs, 1):
        place = f"{path}: [[pairs]] {number}"
        for file in _files(fleet, table, place):
            if pair := by_file.get(file):
                if table.name not in (None, pair.name):
                    raise BadInput(f"{place}: {file} is the pair {pair.name!r} already", "leave one name out")
                by_file[file] = replace(pair, tags=pair.tags | set(table.tags), site=table.site or pair.site)
                continue
            name, config = _name(table, file, place), load_hosts(file)
            if by_name.setdefault(name, file) != file:
                raise BadInput(
                    f"{place}: {file} and {by_name[name]} are both called {name!r}",
                    "give one of them a `name` in a [[pairs]] of its own",
                )
            by_file[file] = Pair(name, file, config, frozenset(table.tags), table.site or "", machines_of(config))
    return {pair.name: pair for pair in by_file.values()}


def _files(fleet: Fleet, table: Pairs, place: str) -> Iterator[Path]:
    """The hosts files that a table names. Raises BadInput for a pattern of none."""
    for name in table.hosts:
        if not MAGIC.search(name):
            yield (fleet.folder / Path(name).expanduser()).resolve()
            continue
        folder, _, pattern = name.rpartition("/")
        if MAGIC.search(folder):
            raise BadInput(
                f"{place}: hosts: {one_line(name, 80)}: a pattern is for the name of the file alone",
                "give one for each folder, such as site-a/*.ini",
            )
        files = sorted((fleet.folder / Path(folder).expanduser()).glob(pattern))
        if not files:
            raise BadInput(
                f"{place}: hosts: {one_line(name, 80)}: no such file in {fleet.folder / folder}",
                "give hosts files that are there, by their path from the folder of the fleet file",
            )
        if len(files) > MOST_PAIRS:
            raise BadInput(f"{place}: hosts: {one_line(name, 80)}: more than {MOST_PAIRS:,} files")
        yield from (file.resolve() for file in files)


def _name(table: Pairs, file: Path, place: str) -> str:
    """What the pair of a hosts file is called. Raises BadInput where that is no name."""
    name = table.name or file.stem
    if not re.fullmatch(RUN_NAME, name):
        raise BadInput(
            f"{place}: {file}: a pair cannot be called {one_line(name, 80)!r}", 'give it a name, such as name = "mini"'
        )
    return name
