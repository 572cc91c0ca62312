"""The interface of a backend."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from lab.local.state import Lab


class Backend(ABC):
    """A way to make a host.

    Every host has namespaces, a control group, a root that it can write (:mod:`lab.local.overlay`), and an end of the
    data link. A backend decides what runs in there. All of it ends with the host.
    """

    name: ClassVar[str]
    own_kernel: ClassVar[bool]
    title: ClassVar[str]  # for messages and titles
    ram_disk: ClassVar[str]  # its size, as the hosts file has it
    ssh_address: ClassVar[str]  # where its sshd listens, as seen in the host's network namespace

    @abstractmethod
    def prepare(self) -> str:
        """Build what is built once; why the backend does not work here, or empty. Raises BadInput, LabFailure."""

    @abstractmethod
    def layers(self) -> Sequence[Path]:
        """The folders that the host's root is made of, uppermost first."""

    @abstractmethod
    def furnish(self, lab: Lab, host: str) -> None:
        """Write the files that the host needs into its root, once, before its first start. Raises LabFailure."""

    @abstractmethod
    def boot(self, lab: Lab, host: str) -> str:
        """The script that process 1 becomes, as a path in the host's root; empty if it becomes sshd."""

    @abstractmethod
    def plug_in(self, lab: Lab, host: str, pid: int) -> None:
        """Make the end of the link in the network of ``pid`` the host's eth0. Raises LabFailure."""

    @abstractmethod
    def inside_command(self, lab: Lab, host: str, argv: Sequence[str]) -> list[str]:
        """The command on this machine that runs ``argv`` in the host as root at this terminal."""
