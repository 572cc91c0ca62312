"""A host's operating system. To add one, write one file or folder in lab/platforms; nothing else names it.

The module, or the folder's ``__init__``, holds ``PLATFORM``: a subclass of :class:`Platform` that names itself, the
kernel that ``uname -s`` prints there, and its parts. A part is a small class of one purpose: docs/contributing/
add-a-platform.md lists them. Output that a part cannot read is a LabFailure, never a guess.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from lab.hosts import Host
from lab.platforms.clock import Clock
from lab.platforms.facts import Facts
from lab.platforms.files import Files, Programs
from lab.platforms.mounts import Mounts
from lab.platforms.network import Network
from lab.platforms.part import Part
from lab.platforms.preflight import Preflight
from lab.platforms.ram_disk import RamDisks
from lab.platforms.settings import SystemSettings


class Platform(Part, ABC):
    """An operating system: ``name`` is what drivers and messages call it, ``uname`` what ``uname -s`` prints."""

    name: ClassVar[str]
    uname: ClassVar[str]
    settings_class: ClassVar[type[SystemSettings]]
    ram_disks_class: ClassVar[type[RamDisks]]
    clock_class: ClassVar[type[Clock]]
    files_class: ClassVar[type[Files]]
    network_class: ClassVar[type[Network]]
    programs_class: ClassVar[type[Programs]] = Programs
    mounts_class: ClassVar[type[Mounts]] = Mounts
    preflight_class: ClassVar[type[Preflight]] = Preflight

    def __init__(self, host: Host):
        super().__init__(host)
        host.explain = self.explain
        self.settings = self.settings_class(host)
        self.ram_disks = self.ram_disks_class(host)
        self.clock = self.clock_class(host)
        self.files = self.files_class(host)
        self.network = self.network_class(host)
        self.programs = self.programs_class(host)
        self.mounts = self.mounts_class(host)
        self.preflight = self.preflight_class(host)

    @abstractmethod
    def facts(self, peer: str) -> Facts:
        """What this host is, and the interface to ``peer``. Raises LabFailure, also if ``peer`` is this host itself."""

    def explain(self, output: str) -> str:
        """The remedy for a failed command on this system, by what it printed; empty if unknown."""
        return ""
