"""The port of a protocol on the server: taken where the lab's own server is to be, or without an answer."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from lab import protocols
from lab.base.errors import HostError, LabFailure
from lab.hosts import Role
from lab.run.case.ports import check_free, find_trouble


class Client:
    """A client's network, which knows one port that answers."""

    def __init__(self, port: int):
        self.port = port

    def answers(self, address: str, port: int) -> bool:
        return (address, port) == ("192.0.2.2", self.port)


@pytest.mark.parametrize(
    ("protocol", "serve", "platform", "port", "message"),
    [
        ("nfs", "lab", "linux", 2049, "another server answers at 192.0.2.2 port 2049, which the lab's own needs"),
        ("nfs", "lab", "linux", 445, ""),
        ("ssh", "lab", "linux", 22, ""),  # the lab's sshd has another port
        ("smb", "lab", "macos", 445, ""),  # a Mac shares by its own server
        ("smb", "existing", "", 445, ""),
        ("smb", "existing", "linux", 2049, "nothing answers the client at 192.0.2.2 port 445"),
    ],
)
def test_who_has_the_port(protocol: str, serve: str, platform: str, port: int, message: str) -> None:
    trouble = find_trouble(protocols.find(protocol), serve, platform, cast(Any, Client(port)), "192.0.2.2")
    assert (trouble or [""])[0] == message


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (Client(445).answers, "server: port 445 is taken by another server: the lab's own did not work (no mount)"),
        (Client(139).answers, ""),
        (Mock(side_effect=HostError("no perl", host="client")), ""),
    ],
    ids=["taken", "free", "nobody can tell"],
)
def test_another_server_on_the_port_explains_why_the_labs_own_failed(answers: Any, message: str) -> None:
    platforms = {Role.CLIENT: SimpleNamespace(network=SimpleNamespace(answers=answers))}
    pair: Any = SimpleNamespace(platforms=platforms, server_seen=SimpleNamespace(address="192.0.2.2"))
    with pytest.raises(LabFailure) if message else nullcontext() as caught:
        check_free(pair, 445, LabFailure("no mount"))
    assert not message or str(caught and caught.value).startswith(message)
