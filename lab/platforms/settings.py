"""The system settings that a run changes for a case, and restores."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.base.errors import LabFailure
from lab.hosts.command import Command
from lab.hosts.fields import Interface
from lab.platforms.part import Part
from lab.settings.operation import Operation, Setting

MTU_REMEDY = (
    "the interface or its driver does not take it: give another mtu in the sweep; `lab check` says what both hosts take"
)
TCP_BUFFERS_REMEDY = "the kernel does not take it: give another tcp_space in the sweep, or default"
LARGEST_NUMBER = 2**31 - 1  # of a sysctl


class Number(Operation):
    """One number, or several, that a command sets."""

    least: ClassVar[int]
    """The smallest number that it can be."""
    most: ClassVar[int] = LARGEST_NUMBER
    """The largest number that it can be."""

    @abstractmethod
    def change(self, value: str) -> tuple[Command, ...]:
        """The commands that set it."""

    def check(self, value: str) -> None:
        super().check(value)
        if not all(self.least <= int(number) <= self.most for number in value.split()):
            raise LabFailure(f"{self.label}: {value!r:.100} is no value that it can have: {self.least} to {self.most}")

    def setting(self, role: str, value: str, remedy: str) -> Setting:
        """The setting that makes it ``value`` on a host; ``remedy`` says what to do if the host refuses."""
        return Setting(role, self, value, self.change(value), remedy)

    def _undo(self, old: str) -> tuple[Command, ...]:
        return self.change(old)


@dataclass(frozen=True)
class Mtu(Number):
    """The MTU of an interface, in bytes; each system has a subclass that reads and sets it."""

    values = "[0-9]{2,5}"
    label_format = "MTU of {interface}"
    least, most = 68, 65535  # RFC 791; the length of an IP packet has 16 bits
    may_cut_off = True

    interface: Interface
    """The name of the interface."""


class SystemSettings(Part, ABC):
    """The settings of a system. Each method makes :class:`Setting` objects and changes nothing by itself."""

    @abstractmethod
    def mtu(self, interface: str, value: int) -> Setting:
        """The MTU of an interface, in bytes. Its operation is a subclass of :class:`Mtu`."""

    @abstractmethod
    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """The buffers of new TCP connections, receiving and sending, pinned to this size: autotuning is off."""

    @staticmethod
    @abstractmethod
    def tcp_buffers_in(state: Mapping[str, str]) -> tuple[int, ...]:
        """The bytes of pinned buffers in the ``state`` of :class:`Counters`. Raises LookupError and ValueError."""

    def awake(self, directory: str) -> Generator[Setting, None, None]:
        """What keeps this host awake; nothing by default. ``directory`` is the lab's own folder, for logs."""
        yield from ()
