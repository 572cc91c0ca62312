"""The keys of run.json as types, from which the reference and the JSON Schema follow; and its key ``load``."""

from collections.abc import Mapping
from typing import Any, TypedDict

from lab.results.one_sided import ClientLink, MeasuredShare

# Cores. A local lab needs 0.13 to 0.35 outside its hosts (delay relay, soft interrupts, controller) on two idle cores;
# a program of one thread that never waits needs 1
DISTURBED_CORES = 0.5


class Load(TypedDict, total=False):
    """Cores that other programs than the lab's used while a block was measured."""

    block: int  #: The number of the block, from 1.
    client: float  #: Cores of the client; missing if not observed.
    server: float  #: Cores of the server; missing if not observed.


class RunKeys(TypedDict, total=False):
    """What a run was. It may have keys of other versions of the lab, too."""

    schema: int
    """The version of these files: this page describes {schema}. A newer one is refused, an older one is read."""
    name: str  #: The name of the sweep.
    started_at: str  #: ISO 8601, UTC.
    saved_as: str  #: The history of the run, by `--save` of `lab measure`. Missing without one.
    sweep_text: str  #: The sweep file as it was.
    sweep_file: str  #: Its path, as it was given.
    seed: int  #: The sweep's seed.
    ordering: str  #: `mirrored`: each second block has the order of the one before it backwards. Missing in older runs.
    ceiling_shots: int  #: 2: the link is measured before and after the trials of a network. Missing in older runs: 1.
    payload_bytes: int  #: What a trial moves, chosen before the first trial, if the sweep has `seconds`.
    left_out: dict[str, str]  #: The cases that these hosts cannot measure, by `case_id`, each with the reason.
    closed: dict[str, str]  #: The protocols among them that somebody could open, each with the reason and what to do.
    caveats: dict[str, str]  #: What figures with a store cannot tell, by store. Missing for nothing, and in older runs.
    load: list[Load]  #: Cores of each host that [others used](../explanation/methods.md#foreign-load), by block.
    title: str | None  #: `[lab] title` of the hosts file.
    hosts: dict[str, dict[str, Any]]  #: The [facts of each host](#facts-of-a-host), by role, and the `transport` to it.
    target: MeasuredShare
    """In a run of `lab measure`: [the share](#target-and-link). Such a run has no `server` among its hosts."""
    link: ClientLink  #: In a run of `lab measure`: [the client's end of the link](#target-and-link).
    code_version: str  #: The version of the lab, with the commit if it ran from a checkout.
    instance: str | None  #: The local lab of the hosts; null for real machines.
    hosts_file: str  #: The full path of the hosts file.
    names: dict[str, list[str]]
    """The names of hosts, accounts, shares, folders and devices in that file, and of the controller, by kind: what
    `lab report` and `lab export` replace. Missing in older runs."""
    replaced: dict[str, int]  #: Only in a copy by `lab export`: how many names of each kind were replaced.
    hosts_digest: str  #: A hash of that file's content, with the key of the controller's register.
    id: str
    """The run's identity: the same when it is resumed, another for every other run. Missing in older runs, where an
    exported table has the name of the folder."""
    seal: str
    """Proves that this controller wrote the sweep and the hosts above ([what a run is restored
    by](../explanation/safety.md#only-runs-of-this-controller))."""
    emulated: str | None  #: A sentence if a host was an emulated Mac; else null.
    ended: str | None  #: Why the run ended, and which effects are less precise than was asked.
    failed: bool  #: Whether an error ended it. Missing in older runs.
    finished_at: str | None  #: ISO 8601, UTC; missing while the run goes on, or if it was killed.


def is_load(value: list[object]) -> bool:
    """Whether a lab could have written this list: the cores that others used on the hosts in some blocks."""
    return all(isinstance(entry, dict) and _is_entry(entry) for entry in value)


def _is_entry(entry: Mapping[str, object]) -> bool:
    return (
        type(entry.get("block")) is int
        and entry.keys() <= Load.__annotations__.keys()
        and all(isinstance(cores, int | float) and type(cores) is not bool and cores >= 0 for cores in entry.values())
    )


def load_by_block(run: Mapping[str, Any]) -> dict[int, dict[str, float]]:
    """The cores that others used, by block and role; empty if that was not observed."""
    entries = [dict(entry) for entry in run.get("load", [])]
    return {entry.pop("block"): entry for entry in entries}


def as_entries(loads: Mapping[int, Mapping[str, float]]) -> list[dict[str, float]]:
    """The same as run.json has it."""
    return [{"block": block, **cores} for block, cores in sorted(loads.items()) if cores]
