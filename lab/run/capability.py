"""What two hosts can do of a sweep: every case is looked at, and nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from lab import protocols, workloads
from lab.base.errors import Absent, Unsupported
from lab.design.case import Case
from lab.hosts import ROLES
from lab.protocols import Driver, Protocol
from lab.run.session import Session


class Capability:
    """Asks each thing once. What a person can correct is raised; for what nobody can, a case is left out."""

    def __init__(self, session: Session):
        self.session = session
        self._known: dict[tuple[object, ...], str] = {}

    def left_out(self, cases: Iterable[Case]) -> dict[str, str]:
        """The cases that these hosts will never do, by ``case_id``, and why.

        Raises Unsupported where something can be corrected, and where no case is left.
        """
        cases = list(cases)
        for role in self.session.with_ram_disk():
            layout = getattr(self.session.config, role).ram_disk_format
            self.session.platforms[role].ram_disks.check(layout)
        reasons = {case.case_id: reason for case in cases if (reason := self._check(case))}
        if len(reasons) == len(cases):
            raise Unsupported("; ".join(dict.fromkeys(reasons.values())))
        return reasons

    def _check(self, case: Case) -> str:
        """Why these hosts will never do this case, or empty. Raises Unsupported where something can be corrected."""
        protocol = protocols.find(case.protocol)
        check_server(case, protocol, self.session.config.share.serve)
        asked = (case.protocol, case.tool, case.store, case.option("server_sync"), *case.mount_options.items())
        if asked not in self._known:
            try:
                self._check_protocol(case, protocol)
                self._known[asked] = ""
            except Absent as error:
                self._known[asked] = str(error)
        self._check_hosts(case)
        return self._known[asked]

    def _check_protocol(self, case: Case, protocol: Protocol) -> None:
        session = self.session
        client, server = (protocol.driver(session.sides[role].platform) for role in ROLES)
        session.check_programs("client", workloads.tool(case.tool).programs, case.tool)
        session.check_programs("client", client.attaches_with, case.protocol)
        client.mount_method(session.sides["client"])
        if why := client.cannot_attach(session.sides["client"], case.mount_options):
            raise Absent(f"client: {_asked(case, 'client')}: {why}")
        if session.config.share.serve == "lab":
            self._check_server(case, server)

    def _check_server(self, case: Case, server: Driver) -> None:
        """What the lab is to serve, the server must be able to."""
        session, side = self.session, self.session.sides["server"]
        session.check_programs("server", server.needs_to_serve(side, case.mount_options), case.protocol)
        if case.store == "ram":
            session.platforms["server"].ram_disks.check(session.config.server.ram_disk_format, case.protocol)
        check_sync(case, server)
        server.served_by(side, session.config.share.account)
        if why := server.cannot_serve(side, session.share(case)):
            raise Absent(f"server: {_asked(case, 'server')}: {why}")

    def _check_hosts(self, case: Case) -> None:
        session = self.session
        if case.option("server_cache") == "cold" and not session.platforms["server"].files.can_read_cold():
            raise Unsupported("server_cache = cold: the server has no purge: install Xcode there, or leave cold out")
        for role in ROLES:
            mtu = session.facts[role].mtu
            if not session.config.tuned(role) and mtu != case.mtu:
                raise Unsupported(
                    f"{role}: its MTU is {mtu}, the sweep wants {case.mtu}, and the lab is not to change it: "
                    f"give mtu = [{mtu}] in the sweep, or tune = yes in [{role}] of the hosts file"
                )
            check_tcp_space(session, role, case)


def said(left_out: Mapping[str, str]) -> Iterator[str]:
    """What a person is told of the cases that are left out: each reason once."""
    for reason, count in Counter(left_out.values()).items():
        yield f"left out ({count} {'case' if count == 1 else 'cases'}): {reason}"


def check_server(case: Case, protocol: Protocol, serve: str) -> None:
    """Raise Unsupported for a durability, a program or a cache of the server that cannot be had."""
    level, able = case.option("server_sync"), protocol.server_syncs
    if level not in able:
        raise Unsupported(f"{protocol.name} cannot do server_sync = {level}: it can do {', '.join(able)}")
    asked = {"server_sync": level, f"{protocol.name}.server": case.mount_options.get("server", "default")}
    for name, level in asked.items() if serve == "existing" else ():
        if level != "default":
            raise Unsupported(
                f"{name} = {level}: the lab changes nothing of a share that was there before: "
                f'give {name} = ["default"] in the sweep, or serve = lab in [share] of the hosts file'
            )
    if (case.direction, case.store, case.option("server_cache")) == ("read", "ram", "cold"):
        raise Unsupported('server_cache = cold: what is on a RAM disk is in memory: give store = ["disk"]')


def check_sync(case: Case, server: Driver) -> None:
    """Raise Unsupported for a level of ``server_sync`` that the system's own server would have to be given."""
    if (level := case.option("server_sync")) != "default" and not server.own_server:
        raise Unsupported(
            f"server: server_sync = {level}: what serves {case.protocol} there is the system's own, without such a "
            f'setting that could be put back exactly: give server_sync = ["default"] in the sweep'
        )


def check_tcp_space(session: Session, role: str, case: Case) -> None:
    """Raise Unsupported for TCP buffers that are larger than a host takes."""
    most = session.facts[role].tcp_space_max
    if session.config.tuned(role) and isinstance(case.tcp_space, int) and most and case.tcp_space > most:
        raise Unsupported(f"{role}: tcp_space = {case.tcp_space} bytes: it takes at most {most}; lower it in the sweep")


def _asked(case: Case, role: str) -> str:
    """What a case asks of the client's mount, or of the server."""
    named = {f"{case.protocol}.{name}": level for name, level in case.mount_options.items()}
    of_server = {"server_sync", f"{case.protocol}.server"}
    levels = {"server_sync": case.option("server_sync")} | named
    asked = ", ".join(
        f"{name} = {level}"
        for name, level in levels.items()
        if level != "default" and (name in of_server) == (role == "server")
    )
    return f"{case.protocol} with {asked}" if asked else case.protocol
