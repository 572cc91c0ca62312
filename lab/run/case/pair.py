"""A client and the server of a run: connections, platforms, facts, and where each keeps the lab's own files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from lab import platforms
from lab.base.addresses import seen_from
from lab.base.errors import Unsupported
from lab.hosts import Host, Nobody, Role
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import Hosts
from lab.hosts.mounts import real_path
from lab.hosts.own_folder import lab_home, new_name
from lab.platforms import Facts, Platform
from lab.protocols import Side

T = TypeVar("T")


def at_home(path: str, home: str) -> str:
    """The path with a leading ``~`` replaced by the host's home folder; any other ``~`` is part of a name."""
    return home + path[1:] if path.startswith("~") else path


@dataclass(frozen=True)
class Pair:
    """Two hosts and what is known of them; nothing here changes them.

    A server that nobody logs in to has a side, but is not in ``hosts``, ``platforms`` and ``facts``. A server that is
    only watched has no folder of the lab's, and ``/`` in its place. ``store_name`` is the run's folder in the folder of
    the share, for store ``disk``.
    """

    hosts: Mapping[Role, Host]
    config: Hosts
    store_name: str
    platforms: Mapping[Role, Platform]
    facts: Mapping[Role, Facts]
    sides: Mapping[Role, Side]

    @classmethod
    def of(cls, hosts: Mapping[str, Host], config: Hosts) -> Pair:
        """Look at the server and the first client. Raises HostError, and Unsupported for an unknown platform."""
        detected = {role: platforms.detect(hosts[role]) for role in config.reached}
        configs: dict[Role, HostConfig] = {role: getattr(config, role) for role in Role}
        addresses = {role: configs[role].data_address for role in Role}
        addresses |= {role: platform.network.own_address(addresses[role]) for role, platform in detected.items()}
        facts = {
            role: platform.facts(seen_from(addresses[role], addresses[role.peer]))
            for role, platform in detected.items()
        }
        for role, of_host in facts.items():
            hosts[role].lacks_root = hosts[role].needs_no_sudo and not of_host.is_root
        sides = {
            role: _side(detected[role], configs[role], addresses[role], facts[role], role in config.changed)
            for role in facts
        }
        if Role.SERVER not in sides:
            sides[Role.SERVER] = _unreached(config.server)
        elif config.client.transport == "local":  # the client's ssh has the controller's settings
            sides[Role.SERVER] = replace(sides[Role.SERVER], ssh_name=config.server.login)
        return cls({role: hosts[role] for role in facts}, config, new_name(), detected, facts, sides)

    def beside(self, name: str, host: Host) -> Pair:
        """The same server with another client of the hosts file. Raises as :meth:`of` does."""
        config, platform = self.config.seen_by(name), platforms.detect(host)
        address = platform.network.own_address(config.client.data_address)
        facts = platform.facts(seen_from(address, config.server.data_address))
        host.lacks_root = host.needs_no_sudo and not facts.is_root
        return replace(
            self,
            hosts={**self.hosts, Role.CLIENT: host},
            config=config,
            platforms={**self.platforms, Role.CLIENT: platform},
            facts={**self.facts, Role.CLIENT: facts},
            sides={**self.sides, Role.CLIENT: _side(platform, config.client, address, facts)},
        )

    @property
    def server_seen(self) -> Side:
        """The server with the address by which the client reaches it."""
        server = self.sides[Role.SERVER]
        return replace(server, address=seen_from(self.sides[Role.CLIENT].address, server.address))

    def interface(self, role: Role) -> str:
        """The data interface of a host: the one named in the hosts file, else the one that leads to its peer."""
        configured: str | None = getattr(self.config, role).interface
        return configured or self.facts[role].interface

    @property
    def roles(self) -> tuple[Role, ...]:
        """The hosts that the lab runs commands on."""
        return self.config.reached

    def ask(self, question: Callable[[Role], T]) -> dict[Role, T]:
        """The answer of each host, all asked at the same time."""
        with ThreadPoolExecutor(len(self.roles)) as threads:
            return dict(zip(self.roles, threads.map(question, self.roles), strict=True))

    @property
    def tuned(self) -> list[Role]:
        """The hosts whose MTU and TCP buffers the lab may change; the server first."""
        return [role for role in reversed(self.roles) if self.config.may_tune(role)]

    @property
    def with_ram_disk(self) -> tuple[Role, ...]:
        """The hosts that get a RAM disk; the server only if the lab serves."""
        return self.roles if self.config.share.serve == "lab" else (Role.CLIENT,)


def _side(platform: Platform, config: HostConfig, address: str, facts: Facts, has_folder: bool = True) -> Side:
    # links are resolved, as mounts and exports do: /var of a Mac is /private/var
    host, base, folder = platform.host, config.mount_base, "/"
    if has_folder:
        home = lab_home(host) if base is None else real_path(host, at_home(base, facts.home))
        folder = f"{home.rstrip('/')}/{new_name()}"
    return Side(platform.host, platform.name, address, folder, facts.user, platform.network.listening)


def _unreached(config: HostConfig) -> Side:
    def listening(port: int) -> str:
        raise Unsupported("nobody logs in to the server, and so nobody can look what listens there", host=Role.SERVER)

    return Side(Nobody(Role.SERVER), "", config.data_address, "/", "", listening)
