"""What a hosts file is made of: the answers to the questions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HostAnswer:
    """The client or the server.

    ``host`` is what ssh is told; empty for this machine, and for a server that nobody logs in to. ``name`` is for
    people, ``user`` may be empty, ``address`` is the one on the link, ``interface`` that of this machine there.
    """

    host: str
    name: str
    user: str
    address: str
    interface: str = ""


@dataclass(frozen=True)
class ShareAnswer:
    """The share: its protocol, its name for SMB and AFP, and its folder on the server, where that is needed.

    ``by_lab``: there is none, and the lab serves one for the time of a run. ``guessed``: nobody has said the folder.
    ``mounted`` is a folder of this machine where it is mounted already; then name and path are empty.
    """

    protocol: str = ""
    name: str = ""
    path: str = ""
    by_lab: bool = False
    guessed: bool = False
    mounted: str = ""


@dataclass(frozen=True)
class AccountAnswer:
    """The account of the share, and where its password comes from."""

    name: str
    password: str


@dataclass(frozen=True)
class Answers:
    """All of them. ``sudo`` is how accounts other than root run root commands."""

    client: HostAnswer
    server: HostAnswer
    share: ShareAnswer
    account: AccountAnswer
    sudo: str

    def sudo_of(self, host: HostAnswer) -> str:
        """How root commands run on a host: root needs no sudo."""
        return "none" if host.user == "root" else self.sudo
