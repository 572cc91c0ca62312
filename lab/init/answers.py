"""The answers to the questions of `lab init`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HostAnswer:
    """The client or the server.

    ``host`` is the name for ssh; empty for this machine, and for a server without a login. ``name`` is for people,
    ``user`` may be empty. ``address`` is on the measured link; ``interface`` is this machine's interface there.
    """

    host: str
    name: str
    user: str
    address: str
    interface: str = ""


@dataclass(frozen=True)
class ShareAnswer:
    """The share: its protocol, its name for SMB and AFP, and its folder on the server if that is needed.

    ``by_lab``: the lab serves a folder during a run. ``guessed``: the folder is a guess. ``mounted`` is the folder
    where this machine has mounted the share already; then name and path are empty.
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
    """All answers. ``sudo`` tells how accounts other than root run root commands."""

    client: HostAnswer
    server: HostAnswer
    share: ShareAnswer
    account: AccountAnswer
    sudo: str

    def sudo_of(self, host: HostAnswer) -> str:
        """How root commands run on a host: root needs no sudo."""
        return "none" if host.user == "root" else self.sudo
