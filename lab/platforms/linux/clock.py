"""The clock and the counters of a Linux host: /proc, /sys and ss."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping

from lab.base.scripts import read_script
from lab.platforms.clock import TAKE_SAMPLES, Clock
from lab.platforms.linux import counters, sampler, tcp
from lab.platforms.readings import Reading, Ticks
from lab.platforms.timing import Counters
from lab.settings.setting import Setting

# $1 which lines, $2 the peer, then the files: one command, for it is sent right before and right after every transfer
COUNTS = r"""
kept=$1 peer=$2; shift 2
ss -tmin dst "$peer" 2>/dev/null | sed 's/^/ss:/'
grep -sE "$kept" /proc/[0-9]*/stat "$@"; :
"""
# Both copies come from one command: on a slow host a second one took 0.25 s to start, which looked like load
COUNT_TICKS = 'cat /proc/stat && echo && sleep "$1" && cat /proc/stat'


class LinuxClock(Clock):
    """Times and counts on a Linux host."""

    counts = read_script(__file__, "counts.pl")

    def install(self, directory: str, interface: str, peer: str) -> None:
        """With the stopwatch goes the list of what it reads, and whose connections."""
        super().install(directory, interface, tcp.as_filter(peer))
        lines = "\n".join((counters.KEPT, self.peer, *counters.list_counted_files(interface)))
        self.host.shell('umask 077; cat > "$1/counted"', directory, given=f"{lines}\n")

    def counters(self, interface: str) -> Counters:
        """Without the stopwatch, whose perl takes ten times as long to start."""
        result = self.host.shell(COUNTS, counters.KEPT, self.peer, *counters.list_counted_files(interface))
        return self.parse(lambda text: counters.parse_counters(text.splitlines(), interface), result)

    def count_ticks(self, seconds: int) -> Mapping[str, Ticks]:
        """See :meth:`Clock.count_ticks`."""
        return self.parse(counters.parse_ticks_spent, self.host.shell(COUNT_TICKS, str(seconds)))

    def parse_counters(self, lines: Iterable[str], interface: str) -> Counters:
        """See :meth:`Clock.parse_counters`."""
        return counters.parse_counters(lines, interface)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """See :mod:`lab.platforms.linux.sampler`."""
        yield from sampler.sampling(self.host, self.directory, interface, self.peer)

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """See :meth:`Clock.samples`."""
        result = self.host.shell(TAKE_SAMPLES, sampler.file_of(self.directory))
        return self.parse(lambda text: sampler.parse(text, interface), result)
