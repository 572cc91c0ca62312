"""The clock and the counters of a Mac: netstat, ps, vm_stat, iostat and sysctl."""

from collections.abc import Sequence
from dataclasses import replace

from lab.base.scripts import read_script
from lab.platforms.clock import Clock
from lab.platforms.macos import counters
from lab.platforms.timing import Counters, MountServer, Timing, grown

COUNT_TCP = ("netstat", "-s", "-p", "tcp")


class MacClock(Clock):
    """Times and counts on a Mac.

    The sampler takes four readings a second while bytes move. Only one of them has the cores: iostat counts whole
    seconds.
    """

    counts = read_script(__file__, "counts.pl")
    sampler = read_script(__file__, "sampler.pl")
    parse_counters = staticmethod(counters.parse_counters)
    parse_samples = staticmethod(counters.parse_samples)

    def counters(self, interface: str) -> Counters:
        """See :meth:`Clock.counters`; retransmits are read as root, because macOS tells nobody else."""
        return replace(super().counters(interface), retransmits=self._count_resent())

    def time_transfer(
        self, interface: str, flush: str, argv: Sequence[str], deadline_s: float, server: MountServer | None = None
    ) -> Timing:
        """See :meth:`Clock.time_transfer`; retransmits are read as root, but the transfer does not run as root."""
        before = self._count_resent()
        timing = super().time_transfer(interface, flush, argv, deadline_s, server)
        return replace(timing, counted=replace(timing.counted, retransmits=grown(self._count_resent(), before)))

    def _count_resent(self) -> int | None:
        return counters.parse_resent(self.host.run(*COUNT_TCP, root=True).stdout)
