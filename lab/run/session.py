"""Two hosts during a run: standing a case's settings up, and taking them down again.

Settings are kept from one case to the next as long as both want the same (:mod:`lab.settings.layers`); a read always
gets a fresh mount of the share, so that nothing of it is in the client's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product

from pydantic import SecretStr

from lab import platforms, protocols
from lab.base.errors import CommandError, DeadlineExceeded, Unsupported
from lab.design.case import Case
from lab.hosts import ROLES, Host
from lab.hosts.hosts_file import Hosts
from lab.hosts.mounts import real_path
from lab.platforms import Facts, Platform
from lab.protocols import Attached, Driver, Share, Side, durability_in_effect, options_in_effect
from lab.settings.changes import Settings
from lab.settings.journal import Record
from lab.settings.layers import Layer, Layers


def at_home(path: str, home: str) -> str:
    """``path`` with the ``~`` that it begins with as a host's home folder; any other ``~`` is part of a name."""
    return home + path[1:] if path.startswith("~") else path


class Session:
    """Two connected hosts during a run. What is changed on them, ``settings`` puts back."""

    def __init__(self, hosts: Mapping[str, Host], config: Hosts, settings: Settings, password: SecretStr, token: str):
        self.hosts, self.config, self.settings, self.token = hosts, config, settings, token
        self.password = password
        self.ladder = Layers(settings)
        self.platforms: dict[str, Platform] = {role: platforms.detect(hosts[role]) for role in ROLES}
        self.facts: dict[str, Facts] = {
            "client": self.platforms["client"].facts(config.server.data_address),
            "server": self.platforms["server"].facts(config.client.data_address),
        }
        self.sides = {role: self._side(role) for role in ROLES}
        self._base = len(settings.journal.open)
        self._boots: dict[str, str] = {}
        self.ram_disks: dict[str, str] = {}  # what each host's is, in words
        self.attached: Attached | None = None
        self._mount: Record | None = None
        self._used = False
        self.drivers: dict[str, Driver] = {}
        self.durability: Mapping[str, str] = {}  # of the server that runs, as read back; empty where it is not ours

    def _side(self, role: str) -> Side:
        config = getattr(self.config, role)
        facts = self.facts[role]
        # without links, as mounts and exports name it: /tmp of a Mac is /private/tmp
        base = real_path(self.hosts[role], at_home(config.mount_base, facts.home))
        folder = f"{base.rstrip('/')}/file-share-lab-{self.token}"
        return Side(self.hosts[role], facts.platform, config.data_address, folder, facts.user)

    def interface(self, role: str) -> str:
        """The data interface of a host: the one named in the hosts file, or the one that leads to its peer."""
        return getattr(self.config, role).interface or self.facts[role].interface

    def no_ops(self, cases: Iterable[Case]) -> Iterator[str]:
        """Where a sweep of TCP buffers will show nothing, because the sockets there get other sizes."""
        swept = sorted({case.protocol for case in cases if isinstance(case.tcp_space, int)})
        for role, name in product(self._tuned(), swept):
            reach = self.platforms[role].preflight.tcp_reach(self.facts[role], name, role)
            if reach.reaches is False:
                instead = f"; {reach.instead} would" if reach.instead else ""
                yield f"{role}: tcp_space changes nothing for {name}: {reach.why}{instead}"

    def check_programs(self, role: str, programs: Mapping[str, str], what: str) -> None:
        """Raise Unsupported for a program that ``what`` needs and the host lacks; values are Debian packages."""
        for program in self.platforms[role].programs.missing(programs) if programs else ():
            remedy = self.platforms[role].programs.how_to_install(programs[program])
            raise Unsupported(f"{role}: {what} needs {program}: {remedy}, or take it out of the sweep")

    def open(self) -> None:
        """Make the lab's own folder on both hosts, and the RAM disks."""
        self._base = len(self.settings.journal.open)
        self._boots = self._starts()
        for role in reversed(ROLES):
            side, platform = self.sides[role], self.platforms[role]
            self.settings.apply(platform.files.folder(side.directory, "755"))
            peer = self.sides["server" if role == "client" else "client"].address
            platform.clock.install(side.directory, self.interface(role), peer)
            self.settings.follow(platform.settings.awake(side.directory))
            if role in self.with_ram_disk():
                ram = f"{side.directory}/ram"
                side.host.run("mkdir", ram)
                config = getattr(self.config, role)
                made = self.settings.follow(platform.ram_disks.make(ram, config.ram_disk, config.ram_disk_format))
                self.ram_disks[role] = made
            self.settings.follow(platform.clock.sampling(self.interface(role)))

    def with_ram_disk(self) -> tuple[str, ...]:
        """The roles that get one."""
        return ROLES if self.config.share.serve == "lab" else ("client",)

    def recover(self) -> None:
        """After a failure: put back what stands, reach hosts that were lost, and open again on one that was restarted.

        Raises RestoreError, or HostError where a host stays out of reach: going on would measure something else.
        """
        self.ladder.step_down(0)
        for role in ROLES:
            self.settings.connections.ensure(role)
        if self._starts() != self._boots:
            self.settings.unwind(self._base)
            self.open()

    def _starts(self) -> dict[str, str]:
        """What tells each host's present start from every other one."""
        return {role: host_journal.boot for role, host_journal in self.settings.host_journals.items()}

    def share(self, case: Case) -> Share:
        """The share that a case uses."""
        given = self.config.share
        path = at_home(given.path or "", self.facts["server"].home)
        if given.serve == "lab":
            path = f"{self.sides['server'].directory}/ram" if case.store == "ram" else self._own_folder(path)
        level = case.option("server_sync")
        ours = given.serve == "lab"
        return Share(path, given.name, given.account, self.password, ours, level, options=case.mount_options)

    def _own_folder(self, path: str) -> str:
        return f"{path}/file-share-lab-{self.token}"

    def store(self, case: Case) -> str:
        """The folder on the server that the case's files are in; in a share that was there before, one of our own."""
        share = self.share(case)
        return share.path if share.served_by_lab else self._own_folder(share.path)

    def stand(self, case: Case) -> None:
        """Bring a case's settings about, changing as little as possible from the case before."""
        share, before = self.share(case), self.attached
        self.ladder.move([*self._network_rungs(case), *self._share_rungs(case, share)])
        self._used = self.attached is before

    def mount_anew(self) -> None:
        """Have the client forget what it cached of the share: it gets another mount, and nothing else is touched."""
        if self._mount and self._used:
            with self._explained():
                self.settings.renew(self._mount)

    def stand_on_network(self, case: Case) -> None:
        """Bring about the MTU and the TCP buffers of a case; a server that already stands on them may stay, idle."""
        rungs = self._network_rungs(case)
        if not self.ladder.stands_on(rungs):
            self.ladder.move(rungs)

    def try_mtu(self, value: int) -> None:
        """Set this MTU on both hosts, prove that the path carries it, and put it back. Raises LabFailure."""
        with self.settings.scope():
            self._set_mtu(value)

    def _network_rungs(self, case: Case) -> list[Layer]:
        return [
            (("mtu", case.mtu), partial(self._set_mtu, case.mtu)),
            (("tcp_space", case.tcp_space), partial(self._set_tcp_space, case.tcp_space)),
        ]

    def _share_rungs(self, case: Case, share: Share) -> list[Layer]:
        protocol = protocols.find(case.protocol)
        drivers = {role: protocol.driver(self.sides[role].platform) for role in ROLES}
        serving = ("serve", case.protocol, case.store, share.server_sync, share.options.get("server"))
        attaching = ("attach", case.protocol, case.store, tuple(share.options.items()))
        return [
            (serving, partial(self._serve, drivers, share, self.store(case))),
            (attaching, partial(self._attach, case.protocol, share)),
        ]

    def _set_mtu(self, value: int) -> None:
        """Server first, so that undoing in reverse ends with it; then prove that the path carries it."""
        for role in self._tuned():
            self.settings.apply(self.platforms[role].settings.mtu(self.interface(role), value))
        network = self.platforms["client"].network
        with self.settings.scope():
            self.settings.apply_all(network.probe_settings(value))
            network.prove_path(self.config.server.data_address, value)

    def _set_tcp_space(self, value: int | str) -> None:
        if isinstance(value, int):
            for role in self._tuned():
                self.settings.apply_all(self.platforms[role].settings.tcp_buffers(value))

    def _tuned(self) -> list[str]:
        return [role for role in reversed(ROLES) if self.config.tuned(role)]

    def _serve(self, drivers: dict[str, Driver], share: Share, store: str) -> None:
        self.drivers = drivers
        if not store.startswith(self.sides["server"].directory):
            self.settings.apply(self.platforms["server"].files.folder(store, "1777"))
        self.durability = {}
        with self._explained():
            if share.served_by_lab:
                share = replace(share, old_dialect=drivers["client"].old_dialect(self.sides["client"]))
                self.settings.follow(drivers["server"].serve(self.sides["server"], share))
                self.durability = durability_in_effect(drivers["server"], self.sides["server"], share)
            self.settings.follow(drivers["client"].prepare(self.sides["client"]))

    def _attach(self, name: str, share: Share) -> None:
        attach = self.drivers["client"].attach(self.sides["client"], self.sides["server"], share)
        mark = len(self.settings.journal.open)
        with self._explained():
            attached = self.settings.follow(attach)
        program = self.drivers["server"].server_program() if share.served_by_lab else ""
        found = options_in_effect(name, share, {**attached.options, **({"server": program} if program else {})})
        self.attached = replace(attached, effective={**attached.effective, **found})
        self._mount = self.settings.journal.open[-1] if len(self.settings.journal.open) > mark else None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Add what the driver knows about a failure to the words of the command that failed."""
        try:
            yield
        except DeadlineExceeded:
            raise
        except CommandError as error:
            hint = self.drivers[error.host].explain(error.output)
            if not hint:
                raise
            raise CommandError(error.host, error.argv, error.exit_code, error.output, hint) from error
