"""The hosts of a hosts file, connected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from lab.base.errors import HostError
from lab.hosts.host import CommandLog, Host
from lab.hosts.hosts_file import Hosts
from lab.hosts.ssh import SshHost


@contextmanager
def connected(config: Hosts) -> Iterator[dict[str, Host]]:
    """The hosts that the lab runs commands on, connected, by name. Raises HostError."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(_connected(name, config, None)) for name in config.names}


@contextmanager
def reached(config: Hosts, log: CommandLog | None = None) -> Iterator[tuple[dict[str, Host], dict[str, str]]]:
    """Those hosts that can be connected to, by name; and for the others what is wrong."""
    with ExitStack() as stack:
        hosts: dict[str, Host] = {}
        gone: dict[str, str] = {}
        for name in config.names:
            try:
                hosts[name] = stack.enter_context(_connected(name, config, log))
            except HostError as error:
                gone[name] = error.on_one_line()
        yield hosts, gone


@contextmanager
def _connected(name: str, config: Hosts, log: CommandLog | None) -> Iterator[Host]:
    host = SshHost(name, config.section(name))
    try:
        host.log = log or host.log
        yield host
    finally:
        host.close()
