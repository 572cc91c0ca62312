"""The clock and the counters of a Linux host: /proc, /sys and ss."""

from collections.abc import Mapping

from lab.base.scripts import read_script
from lab.platforms.clock import Clock
from lab.platforms.linux import counters, tcp
from lab.platforms.readings import Ticks
from lab.platforms.timing import Counters

# $1 which lines, $2 the peer, then the files. One command, because it runs right before and right after a transfer
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
    sampler = read_script(__file__, "sampler.pl")
    parse_counters = staticmethod(counters.parse_counters)
    parse_samples = staticmethod(counters.parse_samples)

    def install(self, directory: str, interface: str, peer: str) -> None:
        """Put the list of counted files beside the stopwatch, and the peer whose connections are counted."""
        super().install(directory, interface, tcp.as_filter(peer))
        lines = "\n".join((counters.KEPT, self.peer, *counters.list_counted_files(interface)))
        self.host.shell('umask 077; cat > "$1/counted"', directory, given=f"{lines}\n")

    def counters(self, interface: str) -> Counters:
        """Without the stopwatch, whose perl takes ten times as long to start."""
        result = self.host.shell(COUNTS, counters.KEPT, self.peer, *counters.list_counted_files(interface))
        return self.parse(lambda text: self.parse_counters(text.splitlines(), interface), result)

    def count_ticks(self, seconds: int) -> Mapping[str, Ticks]:
        """See :meth:`Clock.count_ticks`."""
        return self.parse(counters.parse_ticks_spent, self.host.shell(COUNT_TICKS, str(seconds)))

    def sampler_words(self, interface: str) -> tuple[str, ...]:
        """See :meth:`Clock.sampler_words`."""
        return (self.peer, counters.KEPT, *counters.list_sampled_files(interface))
