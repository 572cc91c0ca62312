"""Two hosts during a run: standing a case's settings up, and taking them down again.

Settings are kept from one case to the next as long as both want the same (:mod:`lab.ladder`); a read always gets a
fresh attachment of the share, so that nothing of it is in the client's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pydantic import SecretStr

from lab import platforms, protocols, workloads
from lab.config import Hosts
from lab.errors import Unsupported
from lab.hosts import ROLES, Host
from lab.ladder import Ladder, Rung
from lab.platforms import Facts, Platform
from lab.protocols import Attached, Dialect, Share, Side
from lab.settings import Settings

LOWEST_ATTACH = 3  # the rung of the attachment: below it MTU, TCP buffers, server


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

    @property
    def case_id(self) -> str:
        """A readable name, the same in every run."""
        return f"{self.protocol}-{self.tool}-{self.direction}-{self.store}-mtu{self.mtu}-tcp{self.tcp_space}"


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
        self.attached: Attached | None = None
        self.dialects: dict[str, Dialect] = {}

    def _side(self, role: str) -> Side:
        config = getattr(self.config, role)
        facts = self.facts[role]
        folder = f"{at_home(config.mount_base, facts.home).rstrip('/')}/file-share-lab-{self.token}"
        return Side(self.hosts[role], facts.platform, config.data_address, folder, facts.user)

    def interface(self, role: str) -> str:
        """The data interface of a host: the one named in the hosts file, or the one that leads to its peer."""
        return getattr(self.config, role).interface or self.facts[role].interface

    def check_case(self, case: Case) -> None:
        """Raise Unsupported where a host lacks what the case needs. Changes nothing."""
        protocol = protocols.find(case.protocol)
        client, server = (protocol.dialect(self.sides[role].platform) for role in ROLES)
        self.check_programs("client", workloads.tool(case.tool).programs, case.tool)
        client.how(self.sides["client"])
        if self.config.share.serve == "lab":
            self.check_programs("server", server.serves_with, case.protocol)
        for role in ROLES:
            mtu = self.facts[role].mtu
            if not self.config.tuned(role) and mtu != case.mtu:
                raise Unsupported(
                    f"{role}: its MTU is {mtu}, the sweep wants {case.mtu}, and the lab is not to change it: "
                    f"give mtu = [{mtu}] in the sweep, or tune = yes in [{role}] of the hosts file"
                )

    def check_programs(self, role: str, programs: Mapping[str, str], what: str) -> None:
        """Raise Unsupported for a program that ``what`` needs and the host lacks; values are Debian packages."""
        for program, package in programs.items():
            if self.hosts[role].shell('command -v "$1"', program, check=False).exit_code != 0:
                raise Unsupported(
                    f"{role}: {what} needs {program}: `apt-get install {package}` there, or take it out of the sweep"
                )

    def open(self) -> None:
        """Make the lab's own folder on both hosts, and the RAM disks."""
        self._base = len(self.settings.journal.open)
        self._boots = self._starts()
        for role in reversed(ROLES):
            side, platform = self.sides[role], self.platforms[role]
            self.settings.apply(platform.folder(side.directory, "755"))
            platform.settle(side.directory)
            if role == "client" or self.config.share.serve == "lab":
                ram = f"{side.directory}/ram"
                side.host.run("mkdir", ram)
                self.settings.follow(platform.ram_disk(ram, getattr(self.config, role).ram_disk))

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
        return Share(path, given.name, given.account, self.password, given.serve == "lab")

    def _own_folder(self, path: str) -> str:
        return f"{path}/file-share-lab-{self.token}"

    def store(self, case: Case) -> str:
        """The folder on the server that the case's files are in; in a share that was there before, one of our own."""
        share = self.share(case)
        return share.path if share.served_by_lab else self._own_folder(share.path)

    def stand(self, case: Case) -> None:
        """Bring a case's settings about, changing as little as possible from the case before."""
        share = self.share(case)
        if case.direction == "read":
            self.ladder.step_down(LOWEST_ATTACH)
        self.ladder.move([*self._network_rungs(case), *self._share_rungs(case, share)])

    def stand_on_network(self, case: Case) -> None:
        """Bring about only the MTU and the TCP buffers of a case."""
        self.ladder.move(self._network_rungs(case))

    def _network_rungs(self, case: Case) -> list[Rung]:
        return [
            (("mtu", case.mtu), partial(self._set_mtu, case.mtu)),
            (("tcp_space", case.tcp_space), partial(self._set_tcp_space, case.tcp_space)),
        ]

    def _share_rungs(self, case: Case, share: Share) -> list[Rung]:
        protocol = protocols.find(case.protocol)
        dialects = {role: protocol.dialect(self.sides[role].platform) for role in ROLES}
        serving, attaching = ("serve", case.protocol, case.store), ("attach", case.protocol, case.store)
        return [
            (serving, partial(self._serve, dialects, share, self.store(case))),
            (attaching, partial(self._attach, share)),
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
        if share.served_by_lab:
            self.settings.follow(dialects["server"].serve(self.sides["server"], share))
        self.settings.follow(dialects["client"].prepare(self.sides["client"]))

    def _attach(self, share: Share) -> None:
        attach = self.dialects["client"].attach(self.sides["client"], self.sides["server"], share)
        self.attached = self.settings.follow(attach)
