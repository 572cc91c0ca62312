"""The first look at the hosts of a run: what they can do of its sweep, and the plan of that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from pydantic import SecretStr

from lab.base.errors import LabFailure
from lab.design.blocks import Ordering
from lab.design.case import Case
from lab.design.cost import CEILING_SHOTS
from lab.design.pace import Pace
from lab.design.plan import Plan, plan
from lab.design.plan_text import exceeds_cap
from lab.design.sweep_file import Sweep
from lab.hosts import Host, Role
from lab.results.run_folder import RunFolder
from lab.root_helper import program as root_helper
from lab.run.begin import store_fit
from lab.run.begin.capability import (
    Capability,
    check_further_clients,
    check_programs,
    describe_idle_buffers,
    describe_left_out,
)
from lab.run.begin.warnings import describe_noises, describe_unseen
from lab.run.case import made_store
from lab.run.case.catalogue import CATALOGUE
from lab.run.case.pair import Pair
from lab.run.case.sharing import Shares
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal


@dataclass(frozen=True)
class Look:
    """The plan of what the hosts can do of a sweep.

    ``left_out`` are cases that they cannot do, by ``case_id``, and why; ``closed`` protocols that are left out though
    somebody could correct that, and why.
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
    """What the hosts can do of the cases of a sweep's grid. Changes nothing, and tells what a person should know.

    ``others`` are the server with each further client, ``usual`` is how fast these hosts were before. Raises
    LabFailure for what a run cannot do without.
    """
    for role in pair.roles:
        pair.hosts[role].run("true", root=True)
        iperf3 = {"iperf3": "iperf3"} if pair.config.measures_link and not sweep.is_local else {}
        check_programs(pair, role, {"perl": "perl", **iperf3}, "measuring")
    check_free(pair.hosts)
    for line in describe_unseen(pair.config):
        tell(line)
    capability = Capability(Shares(pair, password))
    left_out = capability.left_out(cases)
    store_fit.check_hosts(pair, sweep)
    for line in describe_left_out(left_out):
        tell(line)  # before a plan of the rest, which may not be possible
    planned = plan(sweep, CATALOGUE, left_out, pace=usual, image_bytes=pair.config.share.image_size)
    for line in describe_idle_buffers(pair, planned.cases):
        tell(line)
    if warning := exceeds_cap(sweep, planned):
        tell(warning)
    for line in describe_noises(pair):  # last: a sweep that is refused needs no quiet host
        tell(line)
    check_further_clients(others, password, [case for case in cases if case.case_id not in left_out])
    return Look(planned, left_out, capability.closed)


def check_free(hosts: Mapping[Role, Host] | Mapping[str, Host]) -> None:
    """Raise LabFailure where another run uses a host, or an earlier one left it changed. Changes nothing.

    So too where a helper of a narrow sudo is missing, or is that of another lab.
    """
    for role, host in hosts.items():
        root_helper.check_installed(host)
        content = host_journal.read(host, line_format())
        if content.in_use:
            raise content.in_use
        if content.records:
            names = ", ".join(record.name for record in content.records)
            raise LabFailure(
                f"{role}: an earlier run left it changed ({names:.300})",
                "`lab restore`, by the account that began that run, puts it back; `lab restore --hosts FILE` does so "
                "from anywhere, by what the hosts have noted",
            )


def plan_of(folder: RunFolder, sweep: Sweep) -> Plan:
    """The plan of a run that has begun: its folder says what was left out, and in which order blocks go."""
    return plan(sweep, CATALOGUE, folder.left_out, folder.ordering)


def describe_run(pair: Pair, others: Sequence[Pair], text: str, sweep: Sweep, seen: Look) -> dict[str, object]:
    """What run.json says of the sweep, whose file has this ``text``, and of all hosts."""
    caveats = made_store.caveats_of(sweep)
    return {
        "sweep_text": text,
        "seed": sweep.seed,
        "ordering": Ordering.MIRRORED.value,
        "ceiling_shots": CEILING_SHOTS,
        "left_out": seen.left_out,
        "title": pair.config.lab.title,
        "hosts": {
            role.value: asdict(facts) | {"transport": getattr(pair.config, role).transport}
            for role, facts in pair.facts.items()
        }
        | {
            name: asdict(other.facts[Role.CLIENT]) | {"transport": other.config.client.transport}
            for name, other in zip(pair.config.more_clients, others, strict=True)
        },
        **({"caveats": caveats} if caveats else {}),
        "closed": seen.closed,
    }
