"""What a run changes on a host for a case, and puts back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from lab.base.errors import LabFailure
from lab.hosts.fields import Interface
from lab.platforms.part import Part
from lab.settings.operation import Operation
from lab.settings.setting import Setting

MTU_REMEDY = (
    "the interface or its driver does not take it: give another mtu in the sweep; `lab check` says what both hosts take"
)
TCP_BUFFERS_REMEDY = "the kernel does not take it: give another tcp_space in the sweep, or default"
SMALLEST_MTU, LARGEST_MTU = 68, 65535  # RFC 791; the length of an IP packet has 16 bits
LARGEST_NUMBER = 2**31 - 1  # of a sysctl


def check_range(operation: Operation, value: str, least: int, most: int) -> None:
    """Raise LabFailure where a number in a value of an operation is out of its range."""
    if not all(least <= int(number) <= most for number in value.split()):
        raise LabFailure(f"{operation.label}: {value!r:.100} is no value that it can have: {least} to {most}")


@dataclass(frozen=True)
class Mtu(Operation):
    """The MTU of an interface, in bytes; a subclass for each system reads and sets it."""

    values = "[0-9]{2,5}"
    may_cut_off = True

    interface: Interface
    """Its name."""

    @property
    def label(self) -> str:
        """See :attr:`Operation.label`."""
        return f"MTU of {self.interface}"

    def check(self, value: str) -> None:
        """See :meth:`Operation.check`."""
        super().check(value)
        check_range(self, value, SMALLEST_MTU, LARGEST_MTU)


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
        """The sizes in bytes that pinned buffers have, of the ``state`` of :class:`Counters`.

        Raises LookupError and ValueError where they cannot be read.
        """

    def awake(self, directory: str) -> Generator[Setting, None, None]:
        """What keeps this host from going to sleep; nothing by default.

        ``directory`` is the lab's own folder on the host, for logs and the like.
        """
        yield from ()
