"""The link between both hosts: how large its packets may be, and whether those of today's size get through."""

from collections.abc import Iterator

from lab.check.finding import Finding, examine
from lab.check.machine import Machine
from lab.platforms import Facts

ORDINARY_MTU, JUMBO_MTU = 1500, 9000
SMALLEST_MTU = 576  # every IPv4 host takes such a packet (RFC 791)
SEGMENT = "other machines on the segment that do not carry jumbo frames may lose a host while it has such an MTU"
TRY_JUMBO = f"`lab check --jumbo` raises the MTU of both for a moment and tries it; {SEGMENT}"


def findings(client: Machine, server: Machine) -> Iterator[Finding]:
    """Everything about the link. Raises HostError where a connection is lost."""
    if client.facts is None or server.facts is None:
        yield Finding(
            "note", "link", "not looked at: that needs the facts of both hosts", "solve the problems above first"
        )
        return
    yield from _check_mtu(client.facts, server.facts)
    mtu = min(client.facts.mtu, server.facts.mtu)
    yield from examine("link path", lambda: _check_path(client, server, mtu))


def _check_mtu(client: Facts, server: Facts) -> Iterator[Finding]:
    """What both interfaces could carry. Only a packet shows what lies between them."""
    subject = "link MTU"
    if client.mtu != server.mtu:
        message = f"the client's is {client.mtu}, the server's {server.mtu}: large packets may get lost one way"
        yield Finding("warning", subject, message, "set both to the same, as a run does where it may tune the host")
    limits = [limit or "an unknown MTU" for limit in (client.mtu_max, server.mtu_max)]
    today = (
        f"today {client.mtu} and {server.mtu}; the interfaces take up to {limits[0]} (client) and {limits[1]} (server)"
    )
    if min(client.mtu_max or JUMBO_MTU, server.mtu_max or JUMBO_MTU) < JUMBO_MTU:
        yield Finding(
            "note", subject, f"{today}: this pair cannot do {JUMBO_MTU}", f"leave MTU {JUMBO_MTU} out of sweeps"
        )
    elif min(client.mtu, server.mtu) >= JUMBO_MTU:
        yield Finding("ok", subject, today)
    else:
        yield Finding("note", subject, f"{today}; only trying tells if the path carries {JUMBO_MTU}", TRY_JUMBO)


def _check_path(client: Machine, server: Machine, mtu: int) -> Iterator[Finding]:
    """Whether a packet of today's MTU gets through and its answer back, sent by whoever can send it unchanged."""
    subject = "link path"
    for sender, receiver in ((client, server), (server, client)):
        if sender.platform.network.probe_settings(mtu):
            continue
        address = receiver.config.data_address
        reason = sender.platform.network.path_refusal(address, mtu)
        if not reason:
            yield Finding("ok", subject, f"packets of MTU {mtu} cross it in one piece, and back")
        elif small := sender.platform.network.path_refusal(address, SMALLEST_MTU):
            message = f"the {sender.role} gets no answer to a ping of {address}: {small}"
            remedy = "look at both data_address, at the cable, and at firewalls, which must let ping through"
            yield Finding("problem", subject, message, remedy)
        else:
            message = f"packets of MTU {mtu} do not cross it, of {SMALLEST_MTU} they do: {reason}"
            remedy = f"set the MTU of both hosts to {ORDINARY_MTU}, or have every switch between them carry more"
            yield Finding("problem", subject, message, remedy)
        return
    message = f"ping cannot send {mtu} bytes at once on either host before its socket buffers are raised"
    yield Finding("note", subject, message, "a run raises them, and proves the path for each MTU")
