"""The clock and the counters of a Mac: netstat, ps, vm_stat, iostat and sysctl."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace

from lab.base.scripts import read_script
from lab.hosts.command import shell_line
from lab.platforms.clock import TAKE_SAMPLES, Clock, whole_lines
from lab.platforms.macos import counters
from lab.platforms.readings import Reading
from lab.platforms.timing import Counters, MountServer, Timing, grown
from lab.settings.background import background_process
from lab.settings.setting import Setting

SAMPLER = read_script(__file__, "sampler.pl")
COUNT_TCP = ("netstat", "-s", "-p", "tcp")


class MacClock(Clock):
    """Times and counts on a Mac."""

    counts = read_script(__file__, "counts.pl")

    def parse_counters(self, lines: Iterable[str], interface: str) -> Counters:
        """See :meth:`Clock.parse_counters`."""
        return counters.parse_counters(lines, interface)

    def counters(self, interface: str) -> Counters:
        """See :meth:`Clock.counters`; with what only root is told."""
        return replace(super().counters(interface), retransmits=self._count_resent())

    def time_transfer(
        self,
        interface: str,
        flush: str,
        argv: Sequence[str],
        deadline_s: float,
        server: MountServer | None = None,
    ) -> Timing:
        """See :meth:`Clock.time_transfer`; with what only root is told, which the transfer is not run as."""
        before = self._count_resent()
        timing = super().time_transfer(interface, flush, argv, deadline_s, server)
        return replace(timing, counted=replace(timing.counted, retransmits=grown(self._count_resent(), before)))

    def _count_resent(self) -> int | None:
        return counters.parse_resent(self.host.run(*COUNT_TCP, root=True).stdout)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """Four readings a second while bytes move, of which one tells of all cores: iostat counts whole seconds."""
        program, file = f"{self.directory}/sampler.pl", self._samples_file
        self.host.shell('umask 077; cat > "$1"', program, given=SAMPLER)
        argv = ("perl", program, file, interface)
        ready = shell_line('[ -e "$1" ]', file)
        yield background_process(self.host.name, "sampler", argv, self.directory, ready, root=False)

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """See :meth:`Clock.samples`."""
        result = self.host.shell(TAKE_SAMPLES, self._samples_file)
        return self.parse(lambda text: tuple(counters.parse_samples(whole_lines(text), interface)), result)

    @property
    def _samples_file(self) -> str:
        return f"{self.directory}/samples"
