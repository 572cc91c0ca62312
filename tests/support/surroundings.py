"""What `lab init` might find: a laptop with two links, a NAS on both, and a Mac in ~/.ssh/config.

``python -m support.surroundings`` is `lab` in these surroundings; its `lab check` has one invented finding."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Interface
from unittest.mock import patch

from lab.check import doctor
from lab.check.finding import Finding
from lab.cli.main import main
from lab.init import surroundings
from lab.init.interview import interview
from lab.init.questions import Answers, Questions
from lab.init.services import Machine
from lab.init.shares import Share
from lab.init.surroundings import Mounted, OwnAddress, Surroundings

NAS = Machine("Big NAS", "nas.local", ("192.168.77.2", "192.168.1.5"), ("AFP", "SMB"))
BOX = Machine("box", "box.local", ("192.168.1.9",), ("SSH",))
MYSELF = Machine("laptop", "laptop.local", ("192.168.1.20", "192.168.77.1"), ("SMB", "SSH"))
SERVICES = {"192.168.77.2": {"SMB", "AFP", "NFS"}, "192.168.1.5": {"AFP"}, "192.168.1.9": {"SSH"}, "192.0.2.3": {"SSH"}}
NAMES = {"mini.example": "192.0.2.3", "nas.local": "192.168.1.5", "box": "192.168.1.9", "here": "127.0.0.1"}


def towards(peer: str) -> str | None:
    """The laptop reaches its own networks, 192.0.2.0/24, and itself."""
    via = {"192.168.77.": "192.168.77.1", "192.168.1.": "192.168.1.20", "192.0.2.": "192.168.1.20", "127.": "127.0.0.1"}
    if peer in ("192.168.1.20", "192.168.77.1"):
        return peer
    return next((address for network, address in via.items() if peer.startswith(network)), None)


def shown(address: str, services: frozenset[str]) -> list[Share]:
    if address == "192.168.77.2" and "SMB" in services:
        return [Share("smb", "media"), Share("smb", "Time Machine"), Share("nfs", "/volume1/two words")]
    return []


OWN = [OwnAddress("en0", IPv4Interface("192.168.1.20/24")), OwnAddress("en7", IPv4Interface("192.168.77.1/24"))]
SURROUNDINGS = Surroundings(
    account="jane", is_administrator=True, own_addresses=OWN, machines=[NAS, MYSELF, BOX], ssh_hosts=["mini"],
    mounts=[], resolve=lambda name: name if name[0].isdigit() else NAMES.get(name), address_towards=towards,
    open_services=lambda address: frozenset(SERVICES.get(address, ())), list_shares=shown,
    ssh_options=lambda host: {"hostname": "mini.example", "user": "joe"} if host == "mini" else {},
)  # fmt: skip
NOTHING_FOUND = replace(SURROUNDINGS, machines=[], ssh_hosts=[], list_shares=lambda address, services: [])


MEDIA = Mounted("/Volumes/media", "smb", "media (SMB)", "nas.local", "192.168.77.2")
WITH_MOUNT = replace(SURROUNDINGS, mounts=[MEDIA])


def interviewed(lines: Sequence[str], place: Surroundings = SURROUNDINGS) -> tuple[Answers, list[str]]:
    """The answers of a person who types these lines, and the screen; every line must be used."""
    screen: list[str] = []
    typed = iter(lines)

    def read(prompt: str) -> str:
        screen.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    answers = interview(Questions(read, screen.append), place)
    assert list(typed) == []
    return answers, screen


if __name__ == "__main__":
    with (
        patch.object(surroundings, "look_around", lambda _: SURROUNDINGS),
        patch.object(doctor, "check", lambda *_: ([Finding("ok", "client SSH", "this machine")], {})),
    ):
        raise SystemExit(main(sys.argv[1:]))
