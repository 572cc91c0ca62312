"""The port of a protocol on the server: another server may have it already, or nobody may answer."""

from lab.base.errors import LabFailure
from lab.hosts import Role
from lab.platforms.network import Network
from lab.protocols import Protocol
from lab.run.case.pair import Pair

STOP_IT = "stop it on the server, or measure it: [share] serve = existing"


def is_for_lab(protocol: Protocol, serve: str, server_platform: str) -> bool:
    """Whether a server of the lab's own needs the protocol's port.

    The lab's sshd listens at another port, and a Mac shares by the server of its system.
    """
    return serve == "lab" and protocol.mounted and protocol.driver(server_platform).own_server


def find_trouble(
    protocol: Protocol, serve: str, server_platform: str, client: Network, address: str
) -> tuple[str, str] | None:
    """What is wrong with the port at the server's address, as the client sees it, and what to do about it.

    The lab's own server must not run yet. Raises LabFailure if the client cannot ask.
    """
    for_lab = is_for_lab(protocol, serve, server_platform)
    if serve == "lab" and not for_lab:
        return None
    answers, where = client.answers(address, protocol.port), f"{address} port {protocol.port}"
    if for_lab and answers:
        return f"another server answers at {where}, which the lab's own needs", STOP_IT
    if not for_lab and not answers:
        remedy = "switch this kind of sharing on there and let it through the firewall, or leave it out of sweeps"
        return f"nothing answers the client at {where}", remedy
    return None


def check_free(pair: Pair, port: int, error: LabFailure) -> None:
    """Raise LabFailure if another server has the port, so that the lab's own, which is stopped now, met ``error``."""
    try:
        is_taken = pair.platforms[Role.CLIENT].network.answers(pair.server_seen.address, port)
    except LabFailure:  # the first error says more
        return
    if is_taken:
        message = f"port {port} is taken by another server: the lab's own did not work ({error.cause()})"
        raise LabFailure(message, STOP_IT, host=Role.SERVER) from error
