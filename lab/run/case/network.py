"""MTU and TCP buffers on all hosts, and the proof that the path from each client carries the MTU."""

from collections.abc import Iterator, Sequence
from functools import partial

from lab.design.case import Case
from lab.hosts import Role
from lab.run.case.pair import Pair
from lab.settings.changes import Layer, Settings


def layers(pairs: Sequence[Pair], settings: Settings, case: Case) -> list[Layer]:
    """The layers of MTU and TCP buffers for a case, the lowest first; ``pairs`` are the clients of one server.

    Idle clients get them too, because then the next case may need no change.
    """
    return [
        (("mtu", case.mtu), partial(set_mtu, pairs, settings, case.mtu)),
        (("tcp_space", case.tcp_space), partial(set_tcp_buffers, pairs, settings, case.tcp_space)),
    ]


def _tuned(pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Role]]:
    """The hosts that may be tuned, each once; the server first, so that it is put back last."""
    yield from ((pairs[0], role) for role in pairs[0].tuned)
    yield from ((pair, Role.CLIENT) for pair in pairs[1:] if Role.CLIENT in pair.tuned)


def set_mtu(pairs: Sequence[Pair], settings: Settings, value: int) -> None:
    """Set the MTU, and prove that the path from each client carries it."""
    tuned = list(_tuned(pairs))
    for pair, role in tuned:
        settings.apply(pair.platforms[role].settings.mtu(pair.interface(role), value))
    for pair in pairs if tuned else ():  # an MTU that the lab may not change needs no proof
        network = pair.platforms[Role.CLIENT].network
        with settings.scope():
            settings.apply_all(network.probe_settings(value))
            network.prove_path(pair.server_seen.address, value)


def set_tcp_buffers(pairs: Sequence[Pair], settings: Settings, value: int | str) -> None:
    """Set the TCP buffers of all hosts to a number of bytes; ``default`` leaves them as they are."""
    if isinstance(value, int):
        for pair, role in _tuned(pairs):
            settings.apply_all(pair.platforms[role].settings.tcp_buffers(value))
