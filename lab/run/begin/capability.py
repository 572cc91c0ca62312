"""Which cases of a sweep two hosts can do. Nothing is changed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from pydantic import SecretStr

from lab import protocols, workloads
from lab.base.errors import Absent, Closed, LabFailure, Unsupported
from lab.base.untrusted import listing
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.payload_size import ROOM
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.protocols import Driver, Protocol
from lab.protocols.options import SERVER_OPTIONS
from lab.results.trial import DISK
from lab.run.case import made_store
from lab.run.case.pair import Pair, at_home
from lab.run.case.sharing import Shares
from lab.run.ceilings.store_tools import check_room
from lab.stores import file_system
from lab.workloads import bonnie
from lab.workloads.fio import TOOL as FIO

STORE_TOOLS = {FIO.name: (FIO.programs, FIO.check), bonnie.NAME: (bonnie.PROGRAMS, bonnie.check)}


class Capability:
    """Asks each question once. Raises what a person can correct, and leaves out cases that nobody can make possible.

    A protocol that a server keeps closed is left out, too. ``closed`` has the reason and the remedy, by its name.
    """

    def __init__(self, shares: Shares):
        self.shares, self.pair = shares, shares.pair
        self._reasons: dict[tuple[object, ...], str] = {}
        self.closed: dict[str, str] = {}

    def left_out(self, cases: Iterable[Case]) -> dict[str, str]:
        """The cases that these hosts cannot do, by ``case_id``, and why.

        Raises Unsupported if something can be corrected, or no case is left.
        """
        cases = list(cases)
        if self.pair.tuned:
            self.pair.platforms[Role.CLIENT].network.check_probe(self.pair.server_seen.address)
        for role in self.pair.with_ram_disk:
            layout = getattr(self.pair.config, role).ram_disk_format
            self.pair.platforms[role].ram_disks.check(layout)
        reasons = {case.case_id: reason for case in cases if (reason := self._check(case))}
        if len(reasons) == len(cases):
            raise Unsupported("\n".join(dict.fromkeys(reasons.values())), several=True)
        return reasons

    def _check(self, case: Case) -> str:
        """Why a case is left out, or empty. Raises Unsupported if something can be corrected."""
        if case.is_local:
            return self._why_no_store(case)
        protocol = protocols.find(case.protocol)
        check_server(case, protocol, self.pair.config.share.serve)
        check_unseen_server(case, self.pair)
        asked = (case.protocol, case.tool, case.store, case.option("server_sync"), *case.mount_options.items())
        if asked not in self._reasons:
            self._reasons[asked] = self._why_left_out(case, protocol)
        self._check_hosts(case)
        return self._reasons[asked] or self._why_no_store(case)

    def _why_no_store(self, case: Case) -> str:
        """Why the store of a case is left out, or empty. Raises Unsupported if something can be corrected."""
        asked = ("store", case.store, *case.store_options.items())
        if asked not in self._reasons:
            self._reasons[asked] = ""
            if store := file_system(case.store):
                try:
                    server = self.pair.platforms[Role.SERVER]
                    made_store.check(server, store, case.store_options, self.pair.config.share)
                    check_programs(self.pair, Role.SERVER, store.programs, f"store {store.name}")
                except Absent as error:
                    self._reasons[asked] = str(error)
        return self._reasons[asked]

    def _why_left_out(self, case: Case, protocol: Protocol) -> str:
        try:
            drivers = {role: protocol.driver(self.pair.sides[role].platform) for role in self.pair.roles}
            self._check_client(case, drivers[Role.CLIENT])
            if self.pair.config.share.serve == "lab":
                self._check_lab_server(case, drivers[Role.SERVER])
        except Absent as error:
            return str(error)
        except Closed as error:
            self.closed[case.protocol] = str(error)
            return str(error)
        return ""

    def _check_client(self, case: Case, driver: Driver) -> None:
        """Raise Absent or Unsupported if the client lacks the tool, or cannot mount the share."""
        side, tool = self.pair.sides[Role.CLIENT], workloads.tool(case.tool)
        if tool.only_on not in ("", side.platform):
            raise Absent(f"client: {case.tool} is a program of {tool.only_on}, and the client runs {side.platform}")
        check_programs(self.pair, Role.CLIENT, tool.programs, case.tool)
        hosts, call = self.pair.hosts, self.pair.platforms[Role.CLIENT].programs.call(tool.program)
        tool.check(hosts[Role.CLIENT], call)
        if not protocols.find(case.protocol).mounted and Role.SERVER in self.pair.roles:
            tool.check_ends(hosts[Role.CLIENT], call, hosts[Role.SERVER])
        if self.pair.config.share.mounted:
            return
        check_programs(self.pair, Role.CLIENT, driver.attaches_with, case.protocol)
        driver.mount_method(side)
        if why := driver.cannot_attach(side, case.mount_options):
            raise Absent(f"client: {_describe(case, Role.CLIENT)}: {why}")

    def _check_lab_server(self, case: Case, driver: Driver) -> None:
        """Raise Absent or Unsupported if the server cannot serve the share."""
        side, config = self.pair.sides[Role.SERVER], self.pair.config
        check_programs(self.pair, Role.SERVER, driver.needs_to_serve(side, case.mount_options), case.protocol)
        if case.store == "ram":
            driver.check_ram_disk(side, config.server.ram_disk_format)
        check_sync(case, driver)
        driver.served_by(side, config.share.account)
        if why := driver.cannot_serve(side, self.shares.share(case)):
            raise Absent(f"server: {_describe(case, Role.SERVER)}: {why}")

    def _check_hosts(self, case: Case) -> None:
        """Raise Unsupported if a host cannot have the case's cache, MTU or TCP buffers."""
        if case.option("server_cache") == "cold":
            self.pair.platforms[Role.SERVER].files.check_cold_reads()
        for role in self.pair.roles:
            mtu = self.pair.facts[role].mtu
            if not self.pair.config.may_tune(role) and mtu != case.mtu:
                raise Unsupported(
                    f"{role}: its MTU is {mtu}, the sweep wants {case.mtu}, and the lab is not to change it",
                    f"give mtu = [{mtu}] in the sweep{self.pair.config.or_tune(role)}",
                )
            check_tcp_buffer(self.pair, role, case)


def describe_left_out(left_out: Mapping[str, str]) -> Iterator[str]:
    """A line for each reason why cases are left out, with their number."""
    for reason, count in Counter(left_out.values()).items():
        yield f"left out ({count} {'case' if count == 1 else 'cases'}): {reason}"


def describe_idle_buffers(pair: Pair, cases: Iterable[Case]) -> Iterator[str]:
    """A line for each host and protocol whose sockets ignore the TCP buffers of a sweep."""
    swept = sorted({case.protocol for case in cases if isinstance(case.tcp_space, int)})
    for role, name in product(pair.tuned, swept):
        platform = pair.platforms[role]
        reach_by_version = protocols.find(name).tcp_reach(platform.name, role)
        reach = platform.preflight.tcp_reach(pair.facts[role], reach_by_version)
        if reach.reaches is False:
            instead = f"; {reach.instead} would" if reach.instead else ""
            yield f"{role}: tcp_space changes nothing for {name}: {reach.why}{instead}"


def check_programs(pair: Pair, role: Role, programs: Mapping[str, str], task: str) -> None:
    """Raise Unsupported if the host lacks one of the ``programs`` (with their Debian packages) that a task needs."""
    platform = pair.platforms[role]
    for program in platform.programs.missing(programs) if programs else ():
        install = platform.programs.how_to_install(programs[program], "take it out of the sweep")
        raise Unsupported(f"{role}: {task} needs {program}", install)


def check_further_clients(pairs: Sequence[Pair], password: SecretStr, cases: Sequence[Case]) -> None:
    """Raise Unsupported if a further client cannot do a case that the first one can. Changes nothing."""
    shared = [case for case in cases if case.clients > 1]
    for pair in pairs if shared else ():
        host = pair.hosts[Role.CLIENT]
        host.run("true", root=True)
        check_programs(pair, Role.CLIENT, {"perl": "perl", "iperf3": "iperf3"}, "measuring")
        if lacking := Capability(Shares(pair, password)).left_out(shared):
            remedy = "take that out of the sweep, or give a client that can do it"
            raise Unsupported(next(iter(lacking.values())), remedy, host=host.name)


def check_server(case: Case, protocol: Protocol, serve: str) -> None:
    """Raise Unsupported for a durability, an option or a cache that no such server can have."""
    level, able = case.option("server_sync"), protocol.server_syncs
    if level not in able:
        raise Unsupported(f"{protocol.name} cannot do server_sync = {level}", f"it can do {', '.join(able)}")
    options = {f"{protocol.name}.{name}": case.mount_options.get(name, "default") for name in SERVER_OPTIONS}
    asked = {"server_sync": level, **options}
    for name, level in asked.items() if serve == "existing" else ():
        if level != "default":
            raise Unsupported(
                f"{name} = {level}: the lab changes nothing of a share that was there before",
                f'give {name} = ["default"] in the sweep, or serve = lab in [share] of the hosts file',
            )
    if (case.direction, case.store, case.option("server_cache")) == (Direction.READ, "ram", "cold"):
        raise Unsupported("server_cache = cold: what is on a RAM disk is in memory", 'give store = ["disk"]')


def check_unseen_server(case: Case, pair: Pair) -> None:
    """Raise Unsupported for what needs a server that the lab may change, root there, or a mount of the lab's own."""
    share, unseen = pair.config.share, pair.config.unseen
    if case.option("server_cache") == "cold":
        if unseen:
            raise Unsupported(f"server_cache = cold: {unseen.message}", "leave it out of the sweep")
        if pair.hosts[Role.SERVER].lacks_root:
            raise Unsupported("server_cache = cold: only root empties the server's cache", "leave it out of the sweep")
    if unseen and case.protocol == "ssh":
        raise Unsupported(f"ssh: {unseen.message}", unseen.remedy)
    if share.mounted and case.mount_options:
        options = listing(f"{case.protocol}.{name}" for name in case.mount_options)
        problem = f"{options}: {share.mounted} was mounted by somebody else"
        raise Unsupported(problem, "leave that out, or let the lab mount the share")


def check_sync(case: Case, server: Driver) -> None:
    """Raise Unsupported for a level of ``server_sync`` if the system's own server serves."""
    if (level := case.option("server_sync")) != "default" and not server.own_server:
        raise Unsupported(
            f"server: server_sync = {level}: what serves {case.protocol} there is the system's own, without such a "
            f"setting that could be put back exactly",
            'give server_sync = ["default"] in the sweep',
        )


def check_tcp_buffer(pair: Pair, role: Role, case: Case) -> None:
    """Raise Unsupported for TCP buffers that are larger than a host takes."""
    most = pair.facts[role].tcp_space_max
    if pair.config.may_tune(role) and isinstance(case.tcp_space, int) and most and case.tcp_space > most:
        problem = f"{role}: tcp_space = {case.tcp_space} bytes: it takes at most {most}"
        raise Unsupported(problem, "lower it in the sweep")


def _describe(case: Case, role: Role) -> str:
    """A case's options of the client's mount, or of the server."""
    mount = {f"{case.protocol}.{name}": level for name, level in case.mount_options.items()}
    server_options = {"server_sync", *(f"{case.protocol}.{name}" for name in SERVER_OPTIONS)}
    levels = {"server_sync": case.option("server_sync")} | mount
    asked = ", ".join(
        f"{name} = {level}"
        for name, level in levels.items()
        if level != "default" and (name in server_options) == (role is Role.SERVER)
    )
    return f"{case.protocol} with {asked}" if asked else case.protocol


def check_store_tools(pair: Pair, sweep: Sweep) -> None:
    """Raise Unsupported if the server lacks a tool that measures its store, has another version, or has no room."""
    if not any(map(made_store.is_measured, sweep.factors.names("store"))) or pair.config.through_mount:
        return
    server, facts = pair.platforms[Role.SERVER], pair.facts[Role.SERVER]
    for name in sweep.store_tools:
        if name in STORE_TOOLS:
            programs, check = STORE_TOOLS[name]
            check_programs(pair, Role.SERVER, programs, "store_tools")
            check(pair.hosts[Role.SERVER], server.programs.call(name))
    if bonnie.NAME not in sweep.store_tools:
        return
    size_bytes = bonnie.file_bytes(sweep.bonnie_size, facts.memory_bytes)
    room_bytes = made_store.least_room(sweep, pair.config.share.image_size)
    if room_bytes is not None and room_bytes < size_bytes * ROOM:
        raise Unsupported(
            f"bonnie++ needs {round(size_bytes * ROOM)} bytes, and the smallest store that the lab makes has room for "
            f"{room_bytes}",
            "a smaller bonnie_size in the sweep, or a larger image_size in [share] of the hosts file",
            host=Role.SERVER,
        )
    if DISK in sweep.factors.of("store"):
        try:
            check_room(pair, at_home(pair.config.share.path or "", facts.home), size_bytes, bonnie.NAME)
        except LabFailure as error:
            raise Unsupported(error.message, error.remedy, host=error.host) from error
