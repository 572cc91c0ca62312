"""How emulated Macs ask each other for their services: a broadcast, answered with one datagram by each Mac."""

import _socket
import select
import time

PORT = 5353
QUESTION = b"which services of emulated Macs?"
WAIT_S = 0.3  # an answer on one link comes sooner


class Service:
    """A service: its instance's name, its type, and where it is."""

    def __init__(self, name: str, kind: str, host: str, port: int):
        self.name, self.kind, self.host, self.port = name, kind, host, port

    @property
    def line(self) -> str:
        """As it is sent."""
        return f"{self.name}\t{self.kind}\t{self.host}\t{self.port}\n"


def ask(broadcast: str) -> list[Service]:
    """The services of all Macs that answer within a moment. Raises OSError."""
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    asking.setsockopt(_socket.SOL_SOCKET, _socket.SO_BROADCAST, 1)
    asking.sendto(QUESTION, (broadcast, PORT))
    services, deadline = [], time.monotonic() + WAIT_S
    while select.select([asking.fileno()], [], [], max(0.0, deadline - time.monotonic()))[0]:
        for line in asking.recv(4096).decode().splitlines():
            name, kind, host, port = line.split("\t")
            services.append(Service(name, kind, host, int(port)))
    asking.close()
    return services
