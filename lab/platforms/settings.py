"""What a run changes on a host for a case, and puts back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence

from lab.platforms.part import Part
from lab.settings.setting import Setting

MTU_REMEDY = (
    "the interface or its driver does not take it: give another mtu in the sweep; `lab check` says what both hosts take"
)
TCP_BUFFERS_REMEDY = "the kernel does not take it: give another tcp_space in the sweep, or default"


class SystemSettings(Part, ABC):
    """The settings of a system. Each method makes :class:`Setting` objects and changes nothing by itself."""

    @abstractmethod
    def mtu(self, interface: str, value: int) -> Setting:
        """The MTU of an interface, in bytes. It may cut the host off, so ``may_cut_off`` must be set."""

    @abstractmethod
    def tcp_buffers(self, size_bytes: int) -> Sequence[Setting]:
        """The buffers of new TCP connections, receiving and sending, pinned to this size: autotuning is off."""

    @abstractmethod
    def tcp_buffers_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """The sizes in bytes that pinned buffers have, of the ``state`` of :class:`Counters`. Raises LabFailure."""

    def awake(self, directory: str) -> Generator[Setting, None, None]:
        """What keeps this host from going to sleep; nothing by default.

        ``directory`` is the lab's own folder on the host, for logs and the like.
        """
        yield from ()
