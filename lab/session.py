"""Two hosts during a run: standing a case's settings up, and taking them down again.

Settings are kept from one case to the next as long as both want the same (:mod:`lab.ladder`); a read always gets a
fresh mount of the share, so that nothing of it is in the client's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from pydantic import SecretStr

from lab import platforms, protocols, workloads
from lab.config import Hosts
from lab.errors import CommandError, DeadlineExceeded, Unsupported
from lab.hosts import ROLES, Host
from lab.journal import Record
from lab.ladder import Ladder, Rung
from lab.levels import ABSENT, DEFAULT, protocol_of
from lab.mounts import real_path
from lab.platforms import Facts, Platform
from lab.protocols import Attached, Dialect, Protocol, Share, Side, durability, options_in_effect
from lab.settings import Settings
from lab.values import OPTIONS


@dataclass(frozen=True)
class Case:
    """One combination of levels. ``tcp_space`` is in bytes, or ``default`` for leaving the hosts as they are."""

    protocol: str
    tool: str
    direction: str
    mtu: int
    tcp_space: int | str
    store: str
    workload: str
    size_bytes: int
    options: tuple[tuple[str, str], ...] = tuple(OPTIONS.items())

    @property
    def case_id(self) -> str:
        """A readable name, the same in every run."""
        plain = f"{self.protocol}-{self.tool}-{self.direction}-{self.store}-mtu{self.mtu}-tcp{self.tcp_space}"
        chosen = (f"{name}={level}" for name, level in self.options if level != OPTIONS.get(name, DEFAULT))
        return "-".join([plain, *chosen])

    def option(self, name: str) -> str:
        """The level of one of OPTIONS, or of an option of a mount; ABSENT for one that this case has not."""
        return dict(self.options).get(name, ABSENT)

    @property
    def mount_options(self) -> dict[str, str]:
        """What the client is to be told of the mount: the options of the protocol, by their names there."""
        told = ((name.partition(".")[2], level) for name, level in self.options if protocol_of(name))
        return {name: level for name, level in told if level != DEFAULT}


def check_server_options(case: Case, protocol: Protocol, serve: str) -> None:
    """Raise Unsupported for a durability or a cache of the server that cannot be had."""
    level, able = case.option("server_sync"), protocol.server_syncs
    if level not in able:
        raise Unsupported(f"{protocol.name} cannot do server_sync = {level}: it can do {', '.join(able)}")
    if level != "default" and serve == "existing":
        raise Unsupported(
            f"server_sync = {level}: the lab changes nothing of a share that was there before: "
            f'give server_sync = ["default"] in the sweep, or serve = lab in [share] of the hosts file'
        )
    if (case.direction, case.store, case.option("server_cache")) == ("read", "ram", "cold"):
        raise Unsupported('server_cache = cold: what is on a RAM disk is in memory: give store = ["disk"]')


def at_home(path: str, home: str) -> str:
    """``path`` with the ``~`` that it begins with as a host's home folder; any other ``~`` is part of a name."""
    return home + path[1:] if path.startswith("~") else path


class Session:
    """Two connected hosts during a run. What is changed on them, ``settings`` puts back."""

    def __init__(self, hosts: Mapping[str, Host], config: Hosts, settings: Settings, password: SecretStr, token: str):
        self.hosts, self.config, self.settings, self.token = hosts, config, settings, token
        self.password = password
        self.ladder = Ladder(settings)
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
        self.dialects: dict[str, Dialect] = {}
        self._can_serve: set[str] = set()
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

    def check_case(self, case: Case) -> None:
        """Raise Unsupported where a host lacks what the case needs. Changes nothing."""
        protocol = protocols.find(case.protocol)
        client, server = (protocol.dialect(self.sides[role].platform) for role in ROLES)
        self.check_programs("client", workloads.tool(case.tool).programs, case.tool)
        self.check_programs("client", client.attaches_with, case.protocol)
        client.how(self.sides["client"])
        if case.mount_options and (why := client.takes_no_options(self.sides["client"])):
            names = ", ".join(f"{case.protocol}.{name}" for name in case.mount_options)
            raise Unsupported(f"client: {names}: {why}: take it out of the sweep")
        check_server_options(case, protocol, self.config.share.serve)
        if self.config.share.serve == "lab":
            self.check_programs("server", server.serves_with, case.protocol)
        for role in self._with_ram_disk():
            served = case.protocol if (role, case.store) == ("server", "ram") else ""
            self.platforms[role].check_ram_disk(getattr(self.config, role).ram_disk_format, served)
            self._check_sync(case, server)
            if case.protocol not in self._can_serve:  # which takes a Mac a while to tell
                server.served_by(self.sides["server"], self.config.share.account)
                self._can_serve.add(case.protocol)
        if case.option("server_cache") == "cold" and not self.platforms["server"].can_read_cold():
            raise Unsupported("server_cache = cold: the server has no purge: install Xcode there, or leave cold out")
        for role in ROLES:
            mtu = self.facts[role].mtu
            if not self.config.tuned(role) and mtu != case.mtu:
                raise Unsupported(
                    f"{role}: its MTU is {mtu}, the sweep wants {case.mtu}, and the lab is not to change it: "
                    f"give mtu = [{mtu}] in the sweep, or tune = yes in [{role}] of the hosts file"
                )
            self._check_tcp_space(role, case)

    def _check_tcp_space(self, role: str, case: Case) -> None:
        most = self.facts[role].tcp_space_max
        if self.config.tuned(role) and isinstance(case.tcp_space, int) and most and case.tcp_space > most:
            raise Unsupported(
                f"{role}: tcp_space = {case.tcp_space} bytes: it takes at most {most}; lower it in the sweep"
            )

    def no_ops(self, cases: Iterable[Case]) -> Iterator[str]:
        """Where a sweep of TCP buffers will show nothing, because the sockets there get other sizes."""
        swept = sorted({case.protocol for case in cases if isinstance(case.tcp_space, int)})
        for role, name in product(self._tuned(), swept):
            reach = self.platforms[role].tcp_reach(self.facts[role], name, role)
            if reach.reaches is False:
                instead = f"; {reach.instead} would" if reach.instead else ""
                yield f"{role}: tcp_space changes nothing for {name}: {reach.why}{instead}"

    def _check_sync(self, case: Case, server: Dialect) -> None:
        """Raise Unsupported for a level of ``server_sync`` that the system's own server would have to be given."""
        level = case.option("server_sync")
        if level != "default" and not server.own_server:
            raise Unsupported(
                f"server: server_sync = {level}: what serves {case.protocol} there is the system's own, without such a "
                f'setting that could be put back exactly: give server_sync = ["default"] in the sweep'
            )

    def check_programs(self, role: str, programs: Mapping[str, str], what: str) -> None:
        """Raise Unsupported for a program that ``what`` needs and the host lacks; values are Debian packages."""
        for program in self.platforms[role].lacking(programs) if programs else ():
            remedy = self.platforms[role].how_to_install(programs[program])
            raise Unsupported(f"{role}: {what} needs {program}: {remedy}, or take it out of the sweep")

    def open(self) -> None:
        """Make the lab's own folder on both hosts, and the RAM disks."""
        self._base = len(self.settings.journal.open)
        self._boots = self._starts()
        for role in reversed(ROLES):
            side, platform = self.sides[role], self.platforms[role]
            self.settings.apply(platform.folder(side.directory, "755"))
            peer = self.sides["server" if role == "client" else "client"].address
            platform.settle(side.directory, self.interface(role), peer)
            self.settings.follow(platform.awake())
            if role in self._with_ram_disk():
                ram = f"{side.directory}/ram"
                side.host.run("mkdir", ram)
                config = getattr(self.config, role)
                made = self.settings.follow(platform.ram_disk(ram, config.ram_disk, config.ram_disk_format))
                self.ram_disks[role] = made
            self.settings.follow(platform.sampling(self.interface(role)))

    def _with_ram_disk(self) -> tuple[str, ...]:
        return ROLES if self.config.share.serve == "lab" else ("client",)

    def recover(self) -> None:
        """After a failure: put back what stands, reach hosts that were lost, and open again on one that was restarted.

        Raises RestoreError, or HostError where a host stays out of reach: going on would measure something else.
        """
        self.ladder.step_down(0)
        for role in ROLES:
            self.settings.ensure(role)
        if self._starts() != self._boots:
            self.settings.unwind(self._base)
            self.open()

    def _starts(self) -> dict[str, str]:
        """What tells each host's present start from every other one."""
        return {role: ledger.boot for role, ledger in self.settings.ledgers.items()}

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

    def _network_rungs(self, case: Case) -> list[Rung]:
        return [
            (("mtu", case.mtu), partial(self._set_mtu, case.mtu)),
            (("tcp_space", case.tcp_space), partial(self._set_tcp_space, case.tcp_space)),
        ]

    def _share_rungs(self, case: Case, share: Share) -> list[Rung]:
        protocol = protocols.find(case.protocol)
        dialects = {role: protocol.dialect(self.sides[role].platform) for role in ROLES}
        serving = ("serve", case.protocol, case.store, share.server_sync)
        attaching = ("attach", case.protocol, case.store, tuple(share.options.items()))
        return [
            (serving, partial(self._serve, dialects, share, self.store(case))),
            (attaching, partial(self._attach, case.protocol, share)),
        ]

    def _set_mtu(self, value: int) -> None:
        """Server first, so that undoing in reverse ends with it; then prove that the path carries it."""
        for role in self._tuned():
            self.settings.apply(self.platforms[role].mtu(self.interface(role), value))
        client = self.platforms["client"]
        with self.settings.scope():
            self.settings.apply_all(client.probe_space(value))
            client.prove_path(self.config.server.data_address, value)

    def _set_tcp_space(self, value: int | str) -> None:
        if isinstance(value, int):
            for role in self._tuned():
                self.settings.apply_all(self.platforms[role].tcp_space(value))

    def _tuned(self) -> list[str]:
        return [role for role in reversed(ROLES) if self.config.tuned(role)]

    def _serve(self, dialects: dict[str, Dialect], share: Share, store: str) -> None:
        self.dialects = dialects
        if not store.startswith(self.sides["server"].directory):
            self.settings.apply(self.platforms["server"].folder(store, "1777"))
        self.durability = {}
        with self._explained():
            if share.served_by_lab:
                share = replace(share, offers=dialects["client"].needs(self.sides["client"]))
                self.settings.follow(dialects["server"].serve(self.sides["server"], share))
                self.durability = durability(dialects["server"], self.sides["server"], share)
            self.settings.follow(dialects["client"].prepare(self.sides["client"]))

    def _attach(self, name: str, share: Share) -> None:
        attach = self.dialects["client"].attach(self.sides["client"], self.sides["server"], share)
        mark = len(self.settings.journal.open)
        with self._explained():
            attached = self.settings.follow(attach)
        found = options_in_effect(name, share, attached)
        self.attached = replace(attached, effective={**attached.effective, **found})
        self._mount = self.settings.journal.open[-1] if len(self.settings.journal.open) > mark else None

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Add what the dialect knows about a failure to the words of the command that failed."""
        try:
            yield
        except DeadlineExceeded:
            raise
        except CommandError as error:
            hint = self.dialects[error.host].explain(error.output)
            if not hint:
                raise
            raise CommandError(error.host, error.argv, error.exit_code, error.output, hint) from error
