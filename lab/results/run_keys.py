"""What stands in run.json, as types: the reader, the reference and the JSON Schema follow from them."""

from __future__ import annotations

from typing import Any, TypedDict

from lab.results.one_sided import ClientLink, MeasuredShare


class Load(TypedDict, total=False):
    """Cores that others than the lab used while a block was measured."""

    block: int
    """The number of the block, from 1."""
    client: float
    """Cores of the client; missing where that was not observed."""
    server: float
    """Cores of the server; missing where that was not observed."""


class RunKeys(TypedDict, total=False):
    """What a run was. Keys of other versions of the lab may stand here, too."""

    schema: int
    """The version of these files: this page describes {schema}. A newer one is refused, an older one is read."""
    name: str
    """The name of the sweep."""
    started_at: str
    """ISO 8601, UTC."""
    saved_as: str
    """The history that the run belongs to: `--save` of `lab measure`. Missing where it has none."""
    sweep_text: str
    """The sweep file as it was."""
    sweep_file: str
    """Its path, as it was given."""
    seed: int
    """That of the sweep."""
    ordering: str
    """`mirrored`: each second block has the order of the one before it backwards. Missing in older runs."""
    ceiling_shots: int
    """2: the link is measured before and after the trials of a network. Missing in older runs: 1."""
    payload_bytes: int
    """What a trial moves, where the sweep has `seconds`: chosen before the first trial."""
    left_out: dict[str, str]
    """The cases that these hosts cannot measure, by `case_id`, each with the reason."""
    closed: dict[str, str]
    """The protocols among them that somebody could open, each with the reason and what to do."""
    caveats: dict[str, str]
    """What figures with a store cannot tell, by store. Missing where there is nothing, and in older runs."""
    load: list[Load]
    """Cores of each host that [others used](../explanation/methods.md#foreign-load), by block."""
    title: str | None
    """`[lab] title` of the hosts file."""
    hosts: dict[str, dict[str, Any]]
    """The [facts of each host](#facts-of-a-host), by role, and the `transport` to it."""
    target: MeasuredShare
    """Of a run of `lab measure`: [the share](#target-and-link). Such a run has no `server` among its hosts."""
    link: ClientLink
    """Of a run of `lab measure`: [the client's end of the link](#target-and-link)."""
    code_version: str
    """The version of the lab, with the commit where it ran from a checkout."""
    instance: str | None
    """Which local lab the hosts were of; null for real machines."""
    hosts_file: str
    """The full path of the hosts file."""
    names: dict[str, list[str]]
    """The names of hosts, accounts, shares, folders and devices in that file, and of the controller, by kind: what
    `lab report` and `lab export` replace. Missing in older runs."""
    replaced: dict[str, int]
    """In a copy that `lab export` made alone: how many names of each kind were replaced."""
    hosts_digest: str
    """What tells the content of that file from every other, by the key of the controller's register."""
    id: str
    """The run's identity: the same when it is resumed, another for every other run. Missing in older runs, where an
    exported table has the name of the folder."""
    seal: str
    """Proves that this controller wrote the sweep and the hosts above ([what a run is restored
    by](../explanation/safety.md#only-runs-of-this-controller))."""
    emulated: str | None
    """A sentence where a host was an emulated Mac; else null."""
    ended: str | None
    """Why the run ended, and which effects are less precise than was asked."""
    finished_at: str | None
    """ISO 8601, UTC; missing while the run goes on, or where it was cut short."""
