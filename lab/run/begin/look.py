"""The first look at the hosts of a run: what would disturb it, what they can do of its sweep, and the plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from operator import attrgetter

from pydantic import SecretStr

from lab import protocols
from lab.base.errors import HostLost, LabFailure
from lab.design.blocks import Ordering
from lab.design.case import Case
from lab.design.cost import CEILING_SHOTS
from lab.design.pace import Pace
from lab.design.plan import Plan, plan
from lab.design.plan_text import exceeds_cap
from lab.design.sweep_file import Sweep
from lab.hosts import Host, Role
from lab.hosts.hosts_file import Hosts
from lab.platforms.preflight import Disturbance
from lab.results.run_folder import RunFolder
from lab.root_helper import program as root_helper
from lab.run.begin import capability
from lab.run.case import made_store, ports
from lab.run.case.catalogue import CATALOGUE
from lab.run.case.pair import Pair, at_home
from lab.run.case.sharing import Shares
from lab.run.restore.vocabulary import line_format
from lab.run.restore.watched import check_may_change, describe_watched
from lab.settings import host_journal


def check_hosts(pair: Pair, sweep: Sweep, tell_left: Callable[[str], None] | None = None) -> None:
    """Raise LabFailure if a run cannot begin on these hosts, or could not be put back there. Changes nothing."""
    if pair.config.measures_link and not sweep.is_local:
        for role in pair.roles:
            capability.check_programs(pair, role, {"iperf3": "iperf3"}, "measuring the link")
    changed = {role: platform for role, platform in pair.platforms.items() if role in pair.config.changed}
    for platform in changed.values():
        check_may_change(platform)
    check_free({role: pair.hosts[role] for role in changed}, tell_left)
    pair.ask(lambda role: changed[role].files.rehearse_the_end() if role in changed else None)


@dataclass(frozen=True)
class Look:
    """The plan of what the hosts can do of a sweep.

    ``left_out`` has the reason for each case that they cannot do, by ``case_id``; ``closed`` for each protocol that is
    left out although somebody could correct that.
    """

    plan: Plan
    left_out: Mapping[str, str]
    closed: Mapping[str, str]


def look(
    pair: Pair,
    others: Sequence[Pair],
    password: SecretStr,
    sweep: Sweep,
    cases: Sequence[Case],
    tell: Callable[[str], None],
    usual: Pace,
) -> Look:
    """What the hosts can do of the cases of a sweep's grid. Changes nothing, and tells the user what to know.

    ``others`` are the server with each further client, ``usual`` is how fast these hosts were before. Raises
    LabFailure if a run is impossible.
    """
    for line in describe_unseen(pair.config):
        tell(line)
    able = capability.Capability(Shares(pair, password))
    left_out = able.left_out(cases)
    capability.check_store_tools(pair, sweep)
    for line in capability.describe_left_out(left_out):
        tell(line)  # before the plan, which may not be possible
    planned = plan(sweep, CATALOGUE, left_out, pace=usual, image_bytes=pair.config.share.image_size)
    for line in capability.describe_idle_buffers(pair, planned.cases):
        tell(line)
    if warning := exceeds_cap(sweep, planned):
        tell(warning)
    for line in describe_moment(pair, planned.cases):  # last: a refused sweep needs no quiet host
        tell(line)
    capability.check_further_clients(others, password, [case for case in cases if case.case_id not in left_out])
    return Look(planned, left_out, able.closed)


def describe_moment(pair: Pair, cases: Sequence[Case]) -> Iterator[str]:
    """A warning for each thing that would spoil these cases now: ports, and what else the hosts do."""
    yield from _describe_ports(pair, cases)
    for role, disturbances in pair.ask(partial(_urgent, pair)).items():
        for disturbance in disturbances:
            yield f"warning: {role}: {disturbance.what}: {disturbance.remedy}"


def _describe_ports(pair: Pair, cases: Sequence[Case]) -> Iterator[str]:
    """A warning for each protocol of the sweep whose port another server has, or where nothing answers."""
    share, server = pair.config.share, pair.sides[Role.SERVER].platform
    swept = [] if share.mounted else sorted({case.protocol for case in cases if not case.is_local})
    for protocol in filter(attrgetter("mounted"), map(protocols.find, swept)):
        client, address = pair.platforms[Role.CLIENT].network, pair.server_seen.address
        try:
            trouble = ports.find_trouble(protocol, share.serve, server, client, address)
        except HostLost:
            raise
        except LabFailure:  # `lab check` reports failed looks
            continue
        if trouble:
            yield f"warning: {protocol.name}: {trouble[0]}: {trouble[1]}"


def _urgent(pair: Pair, role: Role) -> list[Disturbance]:
    """What makes figures of a host worse now; `lab check` reports failed looks."""
    path = pair.config.share.path if role is Role.SERVER else None
    folder = at_home(path, pair.facts[role].home) if path else None
    disturbances: list[Disturbance] = []
    for look_for in pair.platforms[role].preflight.disturbances(folder).values():
        try:
            disturbances += [disturbance for disturbance in look_for() if disturbance.urgent]
        except HostLost:
            raise
        except (LabFailure, ValueError):
            continue
    return disturbances


def describe_unseen(config: Hosts) -> Iterator[str]:
    """A line for each thing that the lab cannot see or vary, and how to make that possible."""
    if config.server.is_reached and config.unseen:
        yield "; ".join(filter(None, describe_watched(config.unseen)))
    if not config.is_of_user:
        return
    if not config.server.is_reached:
        yield (
            "nobody logs in to the server: nothing of it can be varied, and neither its processor nor its disk is seen "
            "([server] host names a login; it needs no root)"
        )
    if not config.measures_link:
        yield (
            "no iperf3 is run on the server: what the link carries is known by the client's interface alone ([server] "
            "iperf3 = ADDRESS:PORT names one that listens)"
        )
    if config.share.mounted:
        yield f"somebody else mounted {config.share.mounted}: no option of the mount can be varied"


def check_free(hosts: Mapping[Role, Host] | Mapping[str, Host], tell_left: Callable[[str], None] | None = None) -> None:
    """Raise LabFailure if another run uses a host, or an earlier one left it changed. Changes nothing.

    Also if the helper of a narrow sudo is missing, or belongs to another version. If only files and mounts of the
    earlier run's own are left, ``tell_left`` gets a line about them instead.
    """
    for role, host in hosts.items():
        root_helper.check_installed(host)
        content = host_journal.read(host, line_format())
        if content.in_use:
            raise content.in_use
        names = ", ".join(record.name for record in content.records)
        if names and tell_left and all(record.operation.is_private for record in content.records):
            tell_left(f"{role}: left by an earlier run of another share: {names:.300}; `lab restore` puts it back")
        elif names:
            raise LabFailure(
                f"{role}: an earlier run left it changed ({names:.300})",
                "`lab restore`, by the account that began that run, puts it back; `lab restore --hosts FILE` does so "
                "from anywhere, by what the hosts have noted",
            )


def plan_of(folder: RunFolder, sweep: Sweep) -> Plan:
    """The plan of a run that has begun; its folder says what was left out, and the order of blocks."""
    return plan(sweep, CATALOGUE, folder.left_out, folder.ordering)


def describe_run(pair: Pair, others: Sequence[Pair], text: str, sweep: Sweep, first_look: Look) -> dict[str, object]:
    """The entries of run.json about the sweep, whose file has this ``text``, and about all hosts."""
    caveats = made_store.caveats_of(sweep)
    hosts = {
        role.value: asdict(facts) | {"transport": getattr(pair.config, role).transport}
        for role, facts in pair.facts.items()
    }
    more_hosts = {
        name: asdict(other.facts[Role.CLIENT]) | {"transport": other.config.client.transport}
        for name, other in zip(pair.config.more_clients, others, strict=True)
    }
    return {
        "sweep_text": text, "seed": sweep.seed, "ordering": Ordering.MIRRORED.value, "ceiling_shots": CEILING_SHOTS,
        "left_out": first_look.left_out, "title": pair.config.lab.title, "hosts": hosts | more_hosts,
        **({"caveats": caveats} if caveats else {}), "closed": first_look.closed,
    }  # fmt: skip
