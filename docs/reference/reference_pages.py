"""The pages of the reference by name, and those that tell of the keys of files."""

import functools
from collections.abc import Callable, Iterator, Mapping

from assumption_pages import assumptions_page
from command_pages import commands_page, man_page
from described import keys, table
from dictionary_page import columns_csv, dictionary_page
from run_folder_pages import observed_page, run_folder_page
from volume_pages import volumes_page

from lab import protocols, stores, workloads
from lab.design import sweep_file, workload
from lab.design.catalogue import Option
from lab.fleet import fleet_file
from lab.hosts import host_config, hosts_file
from lab.hosts.role import MOST_CLIENTS
from lab.schemas import json_schemas


def sweep_page() -> Iterator[str]:
    """Keys of a sweep file."""
    yield """# Keys of a sweep file

A sweep is a TOML file. An unknown key is an error. `lab plan` says what it comes to.

KiB, MiB, GiB and TiB of a size are powers of 1024; kB, MB, GB and TB are powers of 1000. A letter alone, as in `64K`
or `1g`, is a power of 1024, as dd and iperf3 have it. Without a unit it is bytes.
"""
    yield "## Top level\n\n" + keys(sweep_file.Sweep, without=("workload", "factors"))
    yield "## [workload]\n\n" + keys(workload.Workload)
    yield "## [factors]\n\nEach key is a list of levels. The cases are their combinations, less the impossible ones.\n"
    yield keys(sweep_file.Factors)
    yield """## Options of a mount

In `[factors]` too, by protocol: `smb.signing = [false, true]`. An option multiplies the cases of its own protocol only.
The level `"default"` is what client and server agree on by themselves. Only a Linux client that mounts by its kernel
can be told options other than `client` and `server`.
"""
    yield _options(protocols.by_name())
    yield """## Options of a tool

In `[factors]` too, by tool: `dd.bs = ["64 KiB", "1 MiB"]`. An option multiplies the cases of its own tool only. The
level `"default"` is the one in the third column.
"""
    yield table(("key", "levels", "default", "meaning"), _tool_options())
    yield """## Stores, and options of a store

In `[factors]` too, by store: `ext4.data = ["ordered", "journal"]`. An option multiplies the cases of its own store
only. The level `"default"` leaves it to the file system ([how to compare](../how-to/compare-file-systems.md)).
"""
    by_name = sorted(stores.by_name().items())
    yield table(("store", "what the files lie on"), [(f"`{name}`", store.about) for name, store in by_name])
    yield _options(stores.by_name())
    yield "## Levels of server_sync\n\nWhat a server of each protocol can be told.\n"
    yield table(("protocol", "levels"), _server_syncs())


def _server_syncs() -> list[tuple[str, str]]:
    return sorted((protocol.name, _listed(protocol.server_syncs)) for protocol in protocols.by_name().values())


def _tool_options() -> list[tuple[str, ...]]:
    rows = [
        (f"`{tool.name}.{name}`", _levels(option), f"`{option.default}`", option.about)
        for tool in workloads.tools().values()
        for name, option in tool.options.items()
    ]
    return sorted(rows)


def _options(owners: Mapping[str, protocols.Protocol | stores.Store]) -> str:
    """The options of protocols, or of stores, by their keys in a sweep."""
    rows = [
        (f"`{owner}.{name}`", _levels(option), option.about)
        for owner in owners
        for name, option in owners[owner].options.items()
    ]
    return table(("key", "levels", "meaning"), sorted(rows))


def _levels(option: Option) -> str:
    """The levels of an option, in the words in which it refuses others."""
    refusals = []
    for no_level in (-1, 1):
        try:
            option.level(no_level)
        except ValueError as error:
            refusals.append(str(error))
    return max(refusals, key=lambda words: "default" in words).removeprefix("is not ")


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def hosts_page() -> Iterator[str]:
    """Keys of a hosts file."""
    yield """# Keys of a hosts file

`hosts.ini`, or what `--hosts` names: sections of `key = value`. A value ends at the end of its line; a comment may
follow it after a space. An unknown key is an error. The file that comes with the lab has a comment for each key.
[Sizes](sweep-file.md) are written as in a sweep. A file in a run folder or among results is not read
([safety](../explanation/safety.md#only-runs-of-this-controller)). `proxy_command` and `known_hosts` count only in
a file that `--hosts` names: a `hosts.ini` that lies in the current folder runs no program here.
"""
    yield "## [client] and [server]\n\n" + keys(host_config.HostConfig)
    yield f"""## [client.2] to [client.{MOST_CLIENTS}]

More clients of the same server, for sweeps with the factor `clients`; numbered without a gap. The keys are those of
`[client]`, and what such a section does not say is as there, but for `host`, `data_address`, `interface`,
`proxy_command` and `transport = local`.
"""
    yield "## [share]\n\n" + keys(hosts_file.ShareConfig)
    yield "## [lab]\n\nMay be left out.\n\n" + keys(hosts_file.LabConfig)


def fleet_page() -> Iterator[str]:
    """Keys of a fleet file."""
    yield """# Keys of a fleet file

A fleet is a TOML file: [how to run one](../how-to/run-a-fleet.md). An unknown key is an error. Names of files count
from its folder. It names hosts files, which name commands: like those it is not read where it lies among results.
"""
    yield "## Top level\n\n" + keys(fleet_file.Fleet, without=("pairs", "tasks"))
    yield "## [[pairs]]\n\nOne or more tables.\n\n" + keys(fleet_file.Pairs)
    yield "## [[tasks]]\n\nOne or more tables.\n\n" + keys(fleet_file.Tasks)


def schema_page(name: str) -> Iterator[str]:
    """A JSON Schema, as a file for who has the pages alone."""
    yield json_schemas.schema_text(name)


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands_page,
    "lab.1": man_page,
    "sweep-file.md": sweep_page,
    "hosts-file.md": hosts_page,
    "fleet-file.md": fleet_page,
    "run-folder.md": run_folder_page,
    "observed.md": observed_page,
    "assumptions.md": assumptions_page,
    "volumes.md": volumes_page,
    "data-dictionary.md": dictionary_page,
    "schema/columns.csv": columns_csv,
    **{f"schema/{name}.json": functools.partial(schema_page, name) for name in json_schemas.FILES},
}
