"""The cases of a sweep: every combination of levels that is possible, and why others are not."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias

from lab.base.did_you_mean import hint
from lab.base.errors import BadInput
from lab.base.validation import abbreviate
from lab.design.case import MOST_CASES, MOST_LEVELS, NAMES_OF, Case
from lab.design.catalogue import Catalogue, Owner, Payload, SharingProtocol, Tool
from lab.design.factors import BY_NAME, CHOOSERS, COLUMNS, DEFAULT, OPTIONS, OTHER, Direction, Level
from lab.design.sweep_file import Sweep
from lab.design.workload import Workload

Grid: TypeAlias = tuple[tuple[Case, ...], tuple[str, ...]]  # cases, and the reasons for missing ones


def grid_of(sweep: Sweep, catalogue: Catalogue, refused: Mapping[str, str] = MappingProxyType({})) -> Grid:
    """The cases, and why others are missing; ``refused`` says by ``case_id`` what hosts cannot do. Raises BadInput."""
    check_names(sweep, catalogue)
    _check_counts(sweep)
    if sweep.is_local:
        return _grid_of_stores(sweep, catalogue, refused)
    factors, workload = sweep.factors, sweep.workload
    protocols = {name: catalogue.protocol(name) for name in factors.names("protocol")}
    tools = {name: catalogue.tool(name) for name in factors.names("tool")}
    stores = {name: catalogue.store(name) for name in factors.names("store")}
    owners: dict[str, Mapping[str, Owner]] = {"protocol": protocols, "tool": tools, "store": stores}
    payload = catalogue.payload(workload.kind).of(workload)
    label, files = workload.label, payload.files(workload.planned_size)
    size_bytes, name_chars = payload.moved(workload.planned_size), payload.name_chars()
    usual_client_sync = factors.names("client_sync")[0]
    kept: list[Case] = []
    left_out: dict[str, None] = {}
    for levels in _combinations(sweep, owners):
        tool = tools[str(levels["tool"])]
        case = Case.of(levels, label, size_bytes, files)
        if tool.moves_names:
            case = replace(case, workload=f"{NAMES_OF}{label}, {tool.job(case)}", size_bytes=name_chars)
        reason = _not_of_tool(workload, payload, tool) or stores[case.store].conflict(case.store_options)
        reason = reason or _not_by_clients(case, workload, protocols[case.protocol], tool)
        reason = reason or _why_not(case, protocols[case.protocol], tool, usual_client_sync)
        if reason := reason or refused.get(case.case_id, ""):
            left_out[reason] = None
        else:
            kept.append(case)
        if len(kept) > MOST_CASES:
            break
    _check_kept(sweep, kept, left_out)
    return tuple(kept), tuple(left_out)


def _grid_of_stores(sweep: Sweep, catalogue: Catalogue, refused: Mapping[str, str]) -> Grid:
    """A case for each store and levels of its options, which dd measures both ways, and why others are missing."""
    plain = {name: sweep.factors.of(name)[0] for name in BY_NAME} | {"tool": "dd", "direction": Direction.WRITE}
    size_bytes = sweep.workload.planned_size
    kept: list[Case] = []
    left_out: dict[str, None] = {}
    for name in sweep.factors.names("store"):
        store = catalogue.store(name)
        options = _own_options(sweep, store)
        for levels in itertools.product(*options.values()):
            named = plain | {"store": name} | dict(zip(options, levels, strict=True))
            case = Case.of(named, sweep.workload.label, size_bytes)
            if reason := store.conflict(case.store_options) or refused.get(case.case_id, ""):
                left_out[reason] = None
            else:
                kept.append(case)
    _check_kept(sweep, kept, left_out)
    return tuple(kept), tuple(left_out)


def _check_kept(sweep: Sweep, kept: Sequence[Case], left_out: Iterable[str]) -> None:
    if len(kept) > MOST_CASES:
        raise BadInput(f"{sweep.place}[factors]: more than {MOST_CASES:,} cases", "give fewer levels")
    if not kept:
        reasons = "; ".join(left_out)
        raise BadInput(f"{sweep.place}[factors]: no case is left: {reasons}", "give levels that go together")


def _combinations(sweep: Sweep, owners: Mapping[str, Mapping[str, Owner]]) -> Iterator[dict[str, Level]]:
    """Every combination of levels, by factor; columns change slowest. ``owners`` are protocols, tools and stores."""
    own_options = {
        chooser: {name: _own_options(sweep, owner) for name, owner in members.items()}
        for chooser, members in owners.items()
    }
    for columns in itertools.product(*map(sweep.factors.of, COLUMNS)):
        named = dict(zip(COLUMNS, columns, strict=True))
        options = {name: sweep.factors.of(name) for name in OPTIONS}
        for chooser, members in own_options.items():
            options |= members[str(named[chooser])]
        for levels in itertools.product(*options.values()):
            yield named | dict(zip(options, levels, strict=True))


def _own_options(sweep: Sweep, owner: Owner) -> dict[str, tuple[Level, ...]]:
    """The levels of each option of a protocol, tool or store that the sweep names. Raises BadInput."""
    given = sweep.factors.options.get(owner.name, {})
    return {f"{owner.name}.{name}": _option_levels(sweep.place, owner, name, given[name]) for name in given}


def _option_levels(place: str, owner: Owner, name: str, given: object) -> tuple[Level, ...]:
    key = f"{place}[factors] {owner.name}.{name}"
    if name not in owner.options:
        options = ", ".join(owner.options) or "no options"
        raise BadInput(f"{key}: unknown", f"{owner.name} has {options}{hint(name, owner.options)}")
    if not isinstance(given, list) or not given:
        problem = f"{key}: is not a list of levels (it is {abbreviate(given)})"
        raise BadInput(problem, "give a list of at least one level")
    levels: list[Level] = []
    for value in given:
        try:
            levels.append(DEFAULT if value == DEFAULT else owner.options[name].level(value))
        except ValueError as error:
            raise BadInput(f"{key}: {error} (it is {abbreviate(value)})") from error
    if len(set(levels)) < len(levels):
        raise BadInput(f"{key}: has a level twice", "name each level once")
    return tuple(levels)


def _not_of_tool(workload: Workload, payload: Payload, tool: Tool) -> str:
    """Why a tool cannot move this workload; empty if it can."""
    if payload.is_folder and not tool.copies_folders:
        return f"{tool.name}: it copies single files, and a {workload.kind} is a folder of them"
    if not tool.moves_names:
        return ""
    if not payload.is_folder:
        return f'{tool.name}: it is of the names of many files: give kind = "tree" in [workload]'
    if workload.changed:
        return f"{tool.name} with changed: names do not change"
    if workload.seconds is not None:
        return f"{tool.name} with seconds: names are no load of the link, so give the size of the tree"
    return ""


def _why_not(case: Case, protocol: SharingProtocol, tool: Tool, usual_client_sync: str) -> str:
    """Why a combination is impossible, or the same as another one; empty if it is a case."""
    if why := protocol.conflict(case.mount_options):
        return f"{case.protocol} with {why}"
    if tool.needs_mount and not protocol.mounted:
        return f"{case.protocol} with {case.tool}: {case.tool} needs a mounted share, {case.protocol} has none"
    if why := tool.conflict(case):
        return f"{case.tool} with {why}"
    if (server_sync := case.option("server_sync")) not in protocol.server_syncs:
        able = ", ".join(protocol.server_syncs)
        return f"{case.protocol} with server_sync {server_sync}: {case.protocol} has {able} only"
    client_sync = case.option("client_sync")
    if tool.moves_names and client_sync != usual_client_sync:
        return f"{case.tool} with client_sync {client_sync}: it writes nothing that could be flushed"
    if not protocol.mounted and case.direction == "write" and client_sync != usual_client_sync:
        return f"{case.protocol} write with client_sync {client_sync}: the client flushes nothing of it either way"
    if case.option("server_cache") == "cold" and case.direction == "write":
        return "write with server_cache cold: a write reads nothing that could be in the cache"
    if case.option("server_cache") == "cold" and case.store == "ram":
        return "store ram with server_cache cold: there is no disk below the cache"
    return ""


def _not_by_clients(case: Case, workload: Workload, protocol: SharingProtocol, tool: Tool) -> str:
    """Why several clients cannot do it at a time, or no client can have written what the case reads; else empty."""
    if case.clients > 1 and tool.reports:
        return f"{tool.name} with {case.clients} clients: it measures by itself, and each would measure another time"
    if case.clients > 1 and workload.changed:
        return f"a second copy with {case.clients} clients: it is of one client alone"
    if not case.is_laid_by_client:
        return ""
    level = case.option("read_from")
    if case.direction is Direction.WRITE:
        return f"write with read_from {level}: a write reads nothing that a client could have written"
    if not protocol.mounted:
        return f"{case.protocol} with read_from {level}: no client has a mount to write through"
    if tool.moves_names:
        return f"{tool.name} with read_from {level}: it reads nothing of what is in files"
    if workload.changed:
        return f"a second copy with read_from {level}: the first copy and the changes are the server's"
    if level == OTHER and case.clients == 1:
        return "1 client with read_from other: there is no other client"
    return ""


def _check_counts(sweep: Sweep) -> None:
    counts = {name: len(sweep.factors.of(name)) for name in BY_NAME}
    for owner, options in sweep.factors.options.items():
        counts |= {f"{owner}.{name}": len(given) for name, given in options.items() if isinstance(given, list)}
    for name, count in counts.items():
        if count > MOST_LEVELS:
            problem = f"{sweep.place}[factors] {name}: {count:,} levels: at most {MOST_LEVELS}"
            raise BadInput(problem, "give fewer of them")


def check_names(sweep: Sweep, catalogue: Catalogue) -> None:
    """Raise BadInput for an unknown name, with its key."""
    keys: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
        "[factors] protocol": (catalogue.protocol, () if sweep.is_local else sweep.factors.names("protocol")),
        "[factors] tool": (catalogue.tool, sweep.factors.names("tool")),
        "[factors] store": (catalogue.store, sweep.factors.names("store")),
        "[workload] kind": (catalogue.payload, (sweep.workload.kind,)),
    }
    for key, (find, names) in keys.items():
        for name in names:
            try:
                find(name)
            except BadInput as error:
                raise BadInput(f"{sweep.place}{key}: {error.message}", error.remedy) from error
    _check_owners(sweep, catalogue)


def _check_owners(sweep: Sweep, catalogue: Catalogue) -> None:
    """Raise BadInput for options of a protocol, tool or store that the sweep does not compare."""
    names = {chooser: sweep.factors.names(chooser) for chooser in CHOOSERS}
    for name, options in sweep.factors.options.items():
        if all(name not in levels for levels in names.values()):
            chooser = "protocol"
            for factor, find in (("store", catalogue.store), ("tool", catalogue.tool)):
                with suppress(BadInput):
                    chooser = factor if find(name) else chooser
            raise BadInput(
                f"{sweep.place}[factors] {name}.{next(iter(options), '')}: {name} is no {chooser} of this sweep, "
                f"which has {', '.join(names[chooser])}",
                f"take it out, or add {name} to {chooser}",
            )
