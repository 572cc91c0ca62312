"""MTU and TCP buffers: set on both hosts, and the MTU proven on the path between them."""

from __future__ import annotations

from functools import partial

from lab.design.case import Case
from lab.hosts import Role
from lab.run.pair import Pair
from lab.settings.changes import Settings
from lab.settings.layers import Layer


def layers(pair: Pair, settings: Settings, case: Case) -> list[Layer]:
    """The layers of settings that a case needs of the network, the lowest first."""
    return [
        (("mtu", case.mtu), partial(set_mtu, pair, settings, case.mtu)),
        (("tcp_space", case.tcp_space), partial(set_tcp_buffers, pair, settings, case.tcp_space)),
    ]


def set_mtu(pair: Pair, settings: Settings, value: int) -> None:
    """Set the MTU, and prove that the path carries it. The server comes first, so that it is put back last."""
    for role in pair.tuned:
        settings.apply(pair.platforms[role].settings.mtu(pair.interface(role), value))
    if not pair.tuned:
        return  # the MTU is what it was, and who may not change it need not prove it
    network = pair.platforms[Role.CLIENT].network
    with settings.scope():
        settings.apply_all(network.probe_settings(value))
        network.prove_path(pair.config.server.data_address, value)


def set_tcp_buffers(pair: Pair, settings: Settings, value: int | str) -> None:
    """Pin the TCP buffers of both hosts to a number of bytes; any word leaves them as they are."""
    if isinstance(value, int):
        for role in pair.tuned:
            settings.apply_all(pair.platforms[role].settings.tcp_buffers(value))


def try_mtu(pair: Pair, settings: Settings, value: int) -> None:
    """Set this MTU on both hosts, prove that the path carries it, and put it back. Raises LabFailure."""
    with settings.scope():
        set_mtu(pair, settings, value)
