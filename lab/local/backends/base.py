"""What a backend is: it says what runs in the namespaces of a host, and how a command gets in there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from lab.local.state import Lab


class Backend(ABC):
    """One way to make a host.

    Every host has namespaces and a control group of its own, a root that is its own to write
    (:mod:`lab.local.overlay`), and an end of the data link: all that makes it up is in there, and ends with it. A
    backend says what that is.
    """

    name: ClassVar[str]
    own_kernel: ClassVar[bool]
    title: ClassVar[str]  # for messages and titles
    ram_disk: ClassVar[str]  # its size, as the hosts file has it
    ssh_address: ClassVar[str]  # where its sshd listens, as seen in the host's network namespace

    @abstractmethod
    def prepare(self) -> str:
        """Build what is built once and cached; returns why hosts cannot be made this way here, empty where they can.

        Raises BadInput, and LabFailure where something cannot be built.
        """

    @abstractmethod
    def layers(self) -> Sequence[Path]:
        """The folders that the host's root is made of, uppermost first."""

    @abstractmethod
    def furnish(self, lab: Lab, host: str) -> None:
        """Write the files that the host starts from into its root, once, before its first start. Raises LabFailure."""

    @abstractmethod
    def boot(self, lab: Lab, host: str) -> str:
        """The script that process 1 becomes, as a path in the host's root; empty where it becomes sshd."""

    @abstractmethod
    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """Make the link's end in the network of ``pid`` the host's own eth0. Raises LabFailure."""

    @abstractmethod
    def inside_command(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """The command on this machine that runs ``argv`` in the host, as root, with this terminal."""
