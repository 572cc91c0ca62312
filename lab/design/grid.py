"""The cases of a sweep: every combination of levels that means something, and why others do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from lab.base.errors import BadInput
from lab.base.validation import abbreviate
from lab.design.case import Case
from lab.design.catalogue import Catalogue, SharingProtocol, Tool
from lab.design.factors import DEFAULT, FACTORS, OPTIONS
from lab.design.sweep_file import Sweep


def grid_of(
    sweep: Sweep, catalogue: Catalogue, refused: Mapping[str, str] = MappingProxyType({})
) -> tuple[tuple[Case, ...], tuple[str, ...]]:
    """Every case that the levels allow, and why combinations are missing. Raises BadInput for unknown names.

    ``refused`` are cases that the hosts cannot do, by ``case_id``, and why.
    """
    _check_names(sweep, catalogue)
    factors, workload = sweep.factors, sweep.workload
    served = {name: catalogue.protocol(name) for name in factors.protocol}
    tools = {name: catalogue.tool(name) for name in factors.tool}
    own = {name: _mount_options(sweep, protocol) for name, protocol in served.items()}
    kept: list[Case] = []
    left_out: dict[str, None] = {}
    for levels in itertools.product(*(getattr(factors, name) for name in FACTORS)):
        protocol, tool, direction, mtu, tcp_space, store = levels
        options = {name: getattr(factors, name) for name in OPTIONS} | own[protocol]
        for chosen in itertools.product(*options.values()):
            named = tuple(zip(options, chosen, strict=True))
            case = Case(protocol, tool, direction, mtu, tcp_space, store, workload.kind, workload.size, named)
            reason = _why_not(case, served[case.protocol], tools[case.tool], factors.client_sync[0])
            if reason := reason or refused.get(case.case_id, ""):
                left_out[reason] = None
            else:
                kept.append(case)
    if not kept:
        raise BadInput(f"{sweep.place}[factors]: no case is left; give levels that go together: {'; '.join(left_out)}")
    return tuple(kept), tuple(left_out)


def _mount_options(sweep: Sweep, protocol: SharingProtocol) -> dict[str, tuple[str, ...]]:
    """The levels of each option of a protocol's mount that the sweep names. Raises BadInput."""
    given = sweep.factors.options.get(protocol.name, {})
    return {f"{protocol.name}.{name}": _option_levels(sweep.place, protocol, name, given[name]) for name in given}


def _option_levels(place: str, protocol: SharingProtocol, name: str, given: Any) -> tuple[str, ...]:
    key = f"{place}[factors] {protocol.name}.{name}"
    if name not in protocol.options:
        raise BadInput(f"{key}: unknown; {protocol.name} has {', '.join(protocol.options) or 'no options'}")
    if not isinstance(given, list) or not given:
        raise BadInput(f"{key}: is not a list of levels (it is {abbreviate(given)})")
    levels = []
    for value in given:
        try:
            levels.append(DEFAULT if value == DEFAULT else protocol.options[name].level(value))
        except ValueError as error:
            raise BadInput(f"{key}: {error} (it is {abbreviate(value)})") from error
    if len(set(levels)) < len(levels):
        raise BadInput(f"{key}: has a level twice")
    return tuple(levels)


def _why_not(case: Case, protocol: SharingProtocol, tool: Tool, usual_client_sync: str) -> str:
    """Why a combination means nothing, or the same as another one; empty where it is a case."""
    if why := protocol.conflict(case.mount_options):
        return f"{case.protocol} with {why}"
    if tool.needs_mount and not protocol.mounted:
        return f"{case.protocol} with {case.tool}: {case.tool} needs a mounted share, {case.protocol} has none"
    server_syncs = protocol.server_syncs
    if (server_sync := case.option("server_sync")) not in server_syncs:
        has = ", ".join(server_syncs)
        return f"{case.protocol} with server_sync {server_sync}: {case.protocol} has {has} only"
    client_sync = case.option("client_sync")
    if not protocol.mounted and case.direction == "write" and client_sync != usual_client_sync:
        return f"{case.protocol} write with client_sync {client_sync}: the client flushes nothing of it either way"
    if case.option("server_cache") == "cold" and case.direction == "write":
        return "write with server_cache cold: a write reads nothing that could be in the cache"
    if case.option("server_cache") == "cold" and case.store == "ram":
        return "store ram with server_cache cold: there is no disk below the cache"
    return ""


def _check_names(sweep: Sweep, catalogue: Catalogue) -> None:
    """Raise BadInput for a name that nobody knows, with the key that it stands at."""
    asked: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
        "[factors] protocol": (catalogue.protocol, sweep.factors.protocol),
        "[factors] tool": (catalogue.tool, sweep.factors.tool),
        "[workload] kind": (catalogue.payload, (sweep.workload.kind,)),
    }
    for key, (find, names) in asked.items():
        for name in names:
            try:
                find(name)
            except BadInput as error:
                raise BadInput(f"{sweep.place}{key}: {error}") from error
    has = sweep.factors.protocol
    for name, options in sweep.factors.options.items():
        if name not in has:
            said = f"{name} is no protocol of this sweep, which has {', '.join(has)}"
            raise BadInput(f"{sweep.place}[factors] {name}.{next(iter(options), '')}: {said}: take it out, or add that")
