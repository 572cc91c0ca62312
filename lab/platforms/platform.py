"""A host's operating system. To add one, write one file or folder in lab/platforms; nothing else names it.

The module, or the folder's ``__init__``, holds ``PLATFORM``: a subclass of :class:`Platform` that names itself, the
kernel that ``uname -s`` prints there, and its parts. A part is a small class of one purpose:

=================  ======================================  ====================================================
of a platform      class, module                           what must be written
=================  ======================================  ====================================================
``settings``       :class:`SystemSettings`, settings.py    the MTU, pinned TCP buffers and how they read back
``ram_disks``      :class:`RamDisks`, ram_disk.py          ``formats`` and making one
``clock``          :class:`Clock`, clock.py                ``counts``, in Perl, and the parser of its lines
``files``          :class:`Files`, files.py                dropping caches
``network``        :class:`Network`, network.py            a ping that must not be fragmented, a port in use
``programs``       :class:`Programs`, programs.py          nothing; ``calls`` and how to install, where it is known
``mounts``         :class:`Mounts`, mounts.py              nothing; the table of mounts, for folders to be measured
``preflight``      :class:`Preflight`, preflight.py        nothing; what would disturb a measurement, where it is known
=================  ======================================  ====================================================

So ``platform.clock.time_transfer(...)`` times a transfer, and ``platform.settings.mtu(...)`` is the MTU as a setting.
Each part has the ``host`` to run commands on, and ``read`` and ``parse`` for what they print. Output that cannot be
read is a LabFailure, never a guess. What takes effect only once it is applied is a :class:`Setting`: the lab writes it
down, applies it, reads it back, and undoes it at the end.

A protocol needs a driver for the platform before it is measured there (:mod:`lab.protocols.driver`); until then the
lab says that the protocol is not supported on it.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from lab.hosts import Host
from lab.platforms.clock import Clock
from lab.platforms.facts import Facts
from lab.platforms.files import Files
from lab.platforms.mounts import Mounts
from lab.platforms.network import Network
from lab.platforms.part import Part
from lab.platforms.preflight import Preflight
from lab.platforms.programs import Programs
from lab.platforms.ram_disk import RamDisks
from lab.platforms.settings import SystemSettings


class Platform(Part, ABC):
    """One host's operating system: its parts, its facts, and remedies for its failures.

    ``name`` is what hosts are called in messages and records, and what a driver is for; ``uname`` is what
    ``uname -s`` prints.
    """

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
        """What this host is; ``interface`` is the one that leads to the address ``peer``. Raises LabFailure.

        An address of the host itself as ``peer`` is an error: the data would never cross the link.
        """

    def explain(self, output: str) -> str:
        """The remedy for a failed command on this system, by what it printed; empty if unknown."""
        return ""
