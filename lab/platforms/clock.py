"""A host's own clock: how long a transfer took, what was counted around it, and what was sampled meanwhile."""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import ClassVar

from lab.base.errors import LONGEST_LINE, HostError, TransferError, shorten
from lab.base.scripts import read_script
from lab.base.untrusted import first_line, quantity
from lab.hosts import Host, Result
from lab.hosts.command import shell_line
from lab.platforms.network import ANSWERS
from lab.platforms.part import Part
from lab.platforms.readings import Reading, Ticks
from lab.platforms.timing import TOGETHER, Armed, Counters, MountServer, Timing, parse_timing, values_of
from lab.settings.background import background_process
from lab.settings.operation import Setting

STOPWATCH = ANSWERS + read_script(__file__, "server_watch.pl") + read_script(__file__, "stopwatch.pl")
UNANSWERED = "unanswered"  # the word of server_watch.pl for a server that is gone
TAKE_SAMPLES = '[ ! -e "$1" ] || { cat "$1" && : > "$1"; }'  # a sampler appends: it goes on at the start of the file


class Clock(Part, ABC):
    """Times transfers and counts around them. That needs perl: every Mac and nearly every Linux has it.

    ``counts`` is Perl that defines ``counts($when, $interface)``: the lines that :meth:`parse_counters` reads, taken
    ``before`` or ``after`` a transfer. It dies if there is no such interface, and may use ``lines($path)``,
    ``printed(@command)`` and ``now()`` of stopwatch.pl. Platforms that mount shares also define ``moved($interface)``,
    the bytes of an interface in both directions. ``sampler`` is a Perl program that counts while bytes move, or empty;
    ``sampler_ready`` is a shell test of its file ``$1``.
    """

    counts: ClassVar[str]
    sampler: ClassVar[str] = ""
    sampler_ready: ClassVar[str] = '[ -e "$1" ]'
    watches: ClassVar[bool] = False  # whether counters() needs no more on the host than a shell

    def __init__(self, host: Host):
        super().__init__(host)
        self.directory, self.peer = "", ""

    @abstractmethod
    def parse_counters(self, lines: Iterable[str], interface: str) -> Counters:
        """The counters in the lines that ``counts`` returned. Raises ValueError."""

    def install(self, directory: str, interface: str, peer: str) -> None:
        """Put the stopwatch into the lab's ``directory``; the data link leads from ``interface`` to ``peer``."""
        self.watch(peer)
        self.directory = directory
        self.host.shell('umask 077; cat > "$1/stopwatch.pl"', directory, given=self.counts + STOPWATCH)

    def watch(self, peer: str) -> None:
        """Prepare to count on a host where nothing is changed; the data link leads to ``peer``."""
        self.peer = peer

    def counters(self, interface: str) -> Counters:
        """The counters now; the stopwatch must be installed."""
        words = self._stopwatch(interface, "", (), None)
        return self.read(lambda text: self.pick_counters(text, interface, "before"), *words)

    def count_ticks(self, seconds: int) -> Mapping[str, Ticks]:
        """The ticks of each core during the next seconds; empty if the platform does not count them."""
        return {}

    def pick_counters(self, text: str, interface: str, when: str) -> Counters:
        """The counters that the stopwatch printed, ``before`` or ``after``. Raises ValueError."""
        prefix = f"{when}|"
        lines = (line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix))
        return self.parse_counters(lines, interface)

    def time_transfer(
        self, interface: str, flush: str, argv: Sequence[str], deadline_s: float, server: MountServer | None = None
    ) -> Timing:
        """Time a transfer, and the flush of the file ``flush`` after it (none if empty), by this host's clock.

        A transfer over a mount of ``server`` ends within 15 s after that server stops answering. Raises TransferError
        if the transfer fails, DeadlineExceeded if it is stuck, HostError if the server is gone.
        """
        words = self._stopwatch(interface, flush, argv, server)
        result = self.host.run(*words, deadline_s=deadline_s, check=False, stop_mark=_gone_mark(server))
        return self._read_timing(interface, argv, deadline_s, server, result)

    @contextmanager
    def armed(
        self, interface: str, flush: str, argv: Sequence[str], deadline_s: float, server: MountServer | None = None
    ) -> Iterator[Armed]:
        """The same transfer, ready to start at a later instant (:class:`Armed`)."""
        words = self._stopwatch(interface, flush, argv, server, TOGETHER)
        with self.host.converse(*words, deadline_s=deadline_s) as dialogue:
            read = partial(self._read_timing, interface, argv, deadline_s, server)
            yield Armed(dialogue, _gone_mark(server), read)

    def _read_timing(
        self, interface: str, argv: Sequence[str], deadline_s: float, server: MountServer | None, result: Result
    ) -> Timing:
        """Read the stopwatch's report. Raises as :meth:`time_transfer` does."""
        if server and _gone_mark(server) in result.stdout:
            where = (
                f"the server at {server.address} no longer answers on port {server.port} ({server.protocol.upper()})"
            )
            remedy = "look whether that host is up, its file server runs, and the data link is there"
            why = "no byte moved, and it takes no connection, or small packets alone"
            raise HostError(f"{where}: {why}", remedy, host=self.host.name)
        values = values_of(result.stdout)
        if values.get("exit") != "0" or "flush_error" in values:
            what = values.get("flush_error") or f"exit code {values.get('exit', result.exit_code)}"
            last_lines = " / ".join(shorten(line, LONGEST_LINE) for line in result.stderr.strip().splitlines()[-3:])
            remedy = self.host.explain(f"{result.stderr}\n{what}")
            message = f"{argv[0]}: {first_line(what)}: {last_lines}"
            raise TransferError(message, remedy, host=self.host.name)
        counters = partial(self.pick_counters, result.stdout, interface)
        timing = self.parse(lambda _: parse_timing(values, deadline_s, counters), result)
        if timing.elapsed_s <= 0:  # only a wall clock can do that
            raise TransferError(f"{argv[0]}: the clock was set back while it ran", host=self.host.name)
        return replace(timing, printed=result.stderr)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """Start the sampler, which counts several times a second; nothing where the platform has none."""
        if self.sampler:
            program = f"{self.directory}/sampler.pl"
            self.host.shell('umask 077; cat > "$1"', program, given=self.sampler)
            argv = ("perl", program, self._samples_file, *self.sampler_words(interface))
            ready = shell_line(self.sampler_ready, self._samples_file)
            yield background_process(self.host.name, "sampler", argv, self.directory, ready, root=False)

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """The samples that were taken since the last call, oldest first. Raises LabFailure."""
        if not self.sampler or not self.directory:
            return ()
        result = self.host.shell(TAKE_SAMPLES, self._samples_file)
        return self.parse(lambda text: tuple(self.parse_samples(text, interface)), result)

    def sampler_words(self, interface: str) -> tuple[str, ...]:
        """The arguments of the sampler, after the file that it writes to."""
        return (interface,)

    def parse_samples(self, text: str, interface: str) -> Iterator[Reading]:
        """The readings in what the sampler wrote. Raises ValueError."""
        return iter(())

    @property
    def _samples_file(self) -> str:
        return f"{self.directory}/samples"

    def _stopwatch(
        self, interface: str, flush: str, argv: Sequence[str], server: MountServer | None, start: str = ""
    ) -> tuple[str, ...]:
        watched = server.words if server else ""
        return ("perl", f"{self.directory}/stopwatch.pl", interface, flush, watched, start, *argv)


def _gone_mark(server: MountServer | None) -> str:
    """The line that server_watch.pl prints once the server is gone; empty if no server is watched."""
    return f"{UNANSWERED} {server.address} {server.port}\n" if server else ""


def split_samples(text: str) -> Iterator[tuple[float, list[str]]]:
    """The time of each sample, and the lines after its ``@ SECONDS``; a cut last line is left out."""
    _, *samples = re.split("^@ ", text[: text.rfind("\n") + 1], flags=re.MULTILINE)
    for sample in samples:
        at_s, *lines = sample.splitlines()
        yield quantity(at_s), lines


def by_source(lines: Iterable[str]) -> dict[str, list[str]]:
    """Group lines ``SOURCE:line`` by the file or command that they came from, in order."""
    sources: dict[str, list[str]] = {}
    for line in lines:
        source, _, content = line.partition(":")
        sources.setdefault(source, []).append(content)
    return sources
