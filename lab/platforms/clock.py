"""A host's own clock: how long a transfer took, what was counted around it, and what was sampled meanwhile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import ClassVar

from lab.base.errors import LONGEST_LINE, HostError, TransferError, shorten
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts import Host, Result
from lab.platforms.armed import TOGETHER, Armed
from lab.platforms.network import ANSWERS
from lab.platforms.part import Part
from lab.platforms.readings import Reading, Ticks
from lab.platforms.timing import Counters, MountServer, Timing, parse_timing, values_of
from lab.settings.setting import Setting

STOPWATCH = ANSWERS + read_script(__file__, "server_watch.pl") + read_script(__file__, "stopwatch.pl")
UNANSWERED = "unanswered"  # what the watch in the stopwatch says of a server
TAKE_SAMPLES = '[ ! -e "$1" ] || { cat "$1" && : > "$1"; }'  # a sampler appends, so it goes on from the beginning


class Clock(Part, ABC):
    """Times and counts. A host needs perl: every Mac and nearly every Linux has it.

    ``counts`` is Perl that defines ``counts($when, $interface)``: the lines that :meth:`parse_counters` reads, taken
    ``before`` or ``after`` a transfer. It dies where there is no such interface. It may use what stopwatch.pl defines:
    ``lines($path)``, ``printed(@command)`` and ``now()``. Where shares are mounted it also defines
    ``moved($interface)``, the bytes of an interface, both ways.
    """

    counts: ClassVar[str]

    def __init__(self, host: Host):
        super().__init__(host)
        self.directory, self.peer = "", ""

    @abstractmethod
    def parse_counters(self, lines: Iterable[str], interface: str) -> Counters:
        """The counters in the lines that ``counts`` returned. Raises ValueError."""

    def install(self, directory: str, interface: str, peer: str) -> None:
        """Put the stopwatch into the lab's own folder on the host, which exists.

        ``interface`` is that of the data link, ``peer`` the other host's address on it.
        """
        self.directory, self.peer = directory, peer
        self.host.shell('umask 077; cat > "$1/stopwatch.pl"', directory, given=self.counts + STOPWATCH)

    def counters(self, interface: str) -> Counters:
        """The counters as they stand now; the stopwatch must be installed."""
        return self.read(
            lambda text: self.pick_counters(text, interface, "before"), *self._stopwatch(interface, "", (), None)
        )

    def count_ticks(self, seconds: int) -> Mapping[str, Ticks]:
        """What each core of the machine does for so many seconds from now on; empty where the platform cannot tell."""
        return {}

    def pick_counters(self, text: str, interface: str, when: str) -> Counters:
        """The counters that the stopwatch printed, ``before`` or ``after``. Raises ValueError."""
        prefix = f"{when}|"
        lines = (line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix))
        return self.parse_counters(lines, interface)

    def time_transfer(
        self,
        interface: str,
        flush: str,
        argv: Sequence[str],
        deadline_s: float,
        server: MountServer | None = None,
    ) -> Timing:
        """Run a transfer, then flush the file ``flush`` (none if empty), under this host's own clock.

        Over a mount of ``server`` it ends, within 15 s, where that server no longer answers. Raises TransferError where
        the transfer fails; DeadlineExceeded where it is stuck; HostError where the server is gone.
        """
        words = self._stopwatch(interface, flush, argv, server)
        result = self.host.run(*words, deadline_s=deadline_s, check=False, stop_mark=_gone_mark(server))
        return self._read_timing(interface, argv, deadline_s, server, result)

    @contextmanager
    def armed(
        self,
        interface: str,
        flush: str,
        argv: Sequence[str],
        deadline_s: float,
        server: MountServer | None = None,
    ) -> Iterator[Armed]:
        """The same transfer, ready to start at an instant that is still to be told (:class:`Armed`)."""
        words = self._stopwatch(interface, flush, argv, server, TOGETHER)
        with self.host.converse(*words, deadline_s=deadline_s) as dialogue:
            read = partial(self._read_timing, interface, argv, deadline_s, server)
            yield Armed(dialogue, _gone_mark(server), read)

    def _read_timing(
        self,
        interface: str,
        argv: Sequence[str],
        deadline_s: float,
        server: MountServer | None,
        result: Result,
    ) -> Timing:
        """What the stopwatch says of a transfer. Raises as :meth:`time_transfer` does."""
        if server and _gone_mark(server) in result.stdout:
            raise self._gone(server)
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

    def _gone(self, server: MountServer) -> HostError:
        where = f"{server.address} no longer answers on port {server.port} ({server.protocol.upper()})"
        return HostError(
            f"the server at {where}: no byte moved, and it takes no connection",
            "look whether that host is up, its file server runs, and the data link is there",
            host=self.host.name,
        )

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """What counts several times a second from here on; nothing by default."""
        yield from ()

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """What was sampled since this was asked for last, oldest first. Raises LabFailure."""
        return ()

    def _stopwatch(
        self, interface: str, flush: str, argv: Sequence[str], server: MountServer | None, start: str = ""
    ) -> tuple[str, ...]:
        watched = server.words if server else ""
        return ("perl", f"{self.directory}/stopwatch.pl", interface, flush, watched, start, *argv)


def _gone_mark(server: MountServer | None) -> str:
    """What the watch in the stopwatch prints of a server that no longer answers; empty where none is watched."""
    return f"{UNANSWERED} {server.words}\n" if server else ""


def whole_lines(text: str) -> list[str]:
    """The lines of a file that somebody is writing: the last may be cut short, and is left out."""
    return text[: text.rfind("\n") + 1].splitlines()


def by_source(lines: Iterable[str]) -> dict[str, list[str]]:
    """Lines ``SOURCE:line``, in order, by the file or the command that they came from."""
    sources: dict[str, list[str]] = {}
    for line in lines:
        source, _, content = line.partition(":")
        sources.setdefault(source, []).append(content)
    return sources
