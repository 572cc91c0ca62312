"""What on either host would disturb a run, told before it begins: `lab check` warns of the same."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lab.base.errors import HostLost, LabFailure
from lab.hosts import Role
from lab.hosts.hosts_file import Hosts
from lab.platforms.preflight import Disturbance
from lab.run.case.pair import Pair, at_home


def describe_noises(pair: Pair) -> Iterator[str]:
    """A line for each thing that makes figures worse now; what cannot be looked at, `lab check` says."""
    with ThreadPoolExecutor(len(pair.roles)) as threads:
        by_role = dict(zip(pair.roles, threads.map(lambda role: _urgent(pair, role), pair.roles), strict=True))
    for role, noises in by_role.items():
        for noise in noises:
            yield f"warning: {role}: {noise.what}: {noise.remedy}"


def _urgent(pair: Pair, role: Role) -> list[Disturbance]:
    path = pair.config.share.path if role is Role.SERVER else None
    folder = at_home(path, pair.facts[role].home) if path else None
    noises: list[Disturbance] = []
    for listen in pair.platforms[role].preflight.disturbances(folder).values():
        try:
            noises += [noise for noise in listen() if noise.urgent]
        except HostLost:
            raise
        except (LabFailure, ValueError):
            continue
    return noises


def describe_unseen(config: Hosts) -> Iterator[str]:
    """A line for each thing that is lost, and what would bring it back."""
    if not config.server.is_reached:
        yield (
            "nobody logs in to the server: nothing of it can be varied, and neither its processor nor its disk is seen "
            "([server] host names a login; it needs no root)"
        )
    if not config.measures_link:
        yield (
            "no iperf3 at the server: what the link carries is known by the client's interface alone ([server] iperf3 "
            "= ADDRESS:PORT names one that listens)"
        )
    if config.share.mounted:
        yield f"somebody else mounted {config.share.mounted}: no option of the mount can be varied"
    if config.through_mount:
        yield "payloads are made, and compared, through the mount, outside the measured time"
