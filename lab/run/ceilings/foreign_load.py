"""The load on the hosts' processors from other programs than the lab, by block: a busy machine is no slow share.

The hosts of a local lab, and their link, are control groups of one machine. What its cores did during a transfer, less
the use of these groups, is the load of others. A host that is a machine of its own has no such groups. Its cores are
read before and after each block, while the lab is idle.
"""

from collections.abc import Iterable, Mapping

from lab.base.errors import HostLost, LabFailure
from lab.hosts import ROLES, Role
from lab.results.observed import HostUsage, Observed
from lab.results.run_keys import DISTURBED_CORES
from lab.results.trial import CEILINGS, Trial
from lab.run.case.pair import Pair
from lab.run.transfer.usage import busy_share

OTHERS = "others used {hosts}"
QUIET_S = 1  # how long cores are counted while the lab is idle: a hundred ticks

Load = dict[str, float]  # cores, by role; a host that does not count them is missing


def cores_busy(usage: HostUsage) -> float | None:
    """Cores of the whole machine that were not free; stolen time counts. None if that is unknown."""
    shares = (usage.user, usage.system, usage.softirq, usage.steal)
    if usage.cores is None or None in shares:
        return None
    return usage.cores * sum(share for share in shares if share is not None)


def cores_of_others(observed: Observed) -> float | None:
    """Cores that neither hosts nor link used during a transfer inside one machine; None if not counted."""
    client, server = observed.client, observed.server
    if client is None or server is None or client.cpu_cores is None or server.cpu_cores is None:
        return None
    busy = cores_busy(client)
    if busy is None:
        return None
    rows = observed.together.clients or () if observed.together else ()
    times = [(row.cpu_s or 0.0, (row.ended_s or 0.0) - (row.started_s or 0.0)) for row in rows[1:]]
    further_clients = sum(cpu_s / seconds for cpu_s, seconds in times if seconds > 0)
    return max(0.0, busy - client.cpu_cores - server.cpu_cores - (client.link_cores or 0.0) - further_clients)


def load_of_transfers(trials: Iterable[Trial]) -> Load:
    """The mean load during the transfers of a block inside one machine, weighted by the time of each."""
    seconds = cores = 0.0
    for trial in trials:
        others = cores_of_others(trial.observed) if trial.protocol not in CEILINGS else None
        if others is not None and trial.elapsed_s:
            seconds, cores = seconds + trial.elapsed_s, cores + others * trial.elapsed_s
    return dict.fromkeys(map(str, ROLES), round(cores / seconds, 2)) if seconds else {}


def measure_load(pair: Pair) -> Load:
    """The load on two machines while the lab is idle for QUIET_S, without a host whose count fails."""

    def busy_cores(role: Role) -> float | None:
        try:
            ticks = pair.platforms[role].clock.count_ticks(QUIET_S)
        except HostLost:
            raise
        except LabFailure:
            return None
        return round(sum(map(busy_share, ticks.values())), 2) if ticks else None

    return {role.value: load for role, load in pair.ask(busy_cores).items() if load is not None}


def mean(loads: Iterable[Load]) -> Load:
    """The mean of several readings of the same hosts."""
    known = [load for load in loads if load]
    return {role: round(sum(load[role] for load in known) / len(known), 2) for role in (known[0] if known else {})}


def disturbance(load: Mapping[str, float]) -> str:
    """Whether others disturbed a block with this load, on which host and how much; empty if not."""
    hosts = [f"{cores:.1f} cores of the {role}" for role, cores in load.items() if cores > DISTURBED_CORES]
    return OTHERS.format(hosts=" and ".join(hosts)) if hosts else ""
