"""What every platform can be asked: facts, settings, and the few acts around a timed transfer."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar, TypeVar

from lab.base.errors import LabFailure, TransferError, Unsupported, abridged
from lab.base.untrusted import count, first_line
from lab.hosts import Host, Result
from lab.hosts.command import script
from lab.platforms.facts import Facts
from lab.platforms.findings import Medium, Noises, Reach
from lab.platforms.readings import Reading
from lab.platforms.timing import STOPWATCH, Counters, Timing, parse_timing, values_of
from lab.settings.setting import Setting

PING_HEADERS = 28  # IPv4 header without options 20 bytes, ICMP header 8
SMALL_BYTES = 56  # the payload of an ordinary ping
# $@ is such a ping, which waits up to 2 s for its answer
AWAIT = 'for try in 1 2 3 4 5 6 7 8 9 10; do "$@" >/dev/null 2>&1 && exit; sleep 1; done; :'
LACKING = 'for name in "$@"; do command -v "$name" >/dev/null || echo "$name"; done; :'
# perl's clock has fractions. It is on nearly every host, and its absence is a finding of its own
EPOCH = "perl -MTime::HiRes=time -e 'printf \"%.3f\\n\", time' 2>/dev/null || date +%s"
# $1 address, $2 port
ANSWERS = r"""
exec perl -e '
    my $class = eval { require IO::Socket::IP; "IO::Socket::IP" };
    if (!$class) { require IO::Socket::INET; $class = "IO::Socket::INET" }
    my $socket = $class->new(PeerHost => $ARGV[0], PeerPort => $ARGV[1], Proto => "tcp", Timeout => 3);
    print $socket ? "yes\n" : "no\n";
' "$1" "$2"
"""
TAKE_SAMPLES = '[ ! -e "$1" ] || { cat "$1" && : > "$1"; }'  # a sampler appends, so it goes on from the beginning
# What to do where a value is refused
MTU_REMEDY = (
    "the interface or its driver does not take it: give another mtu in the sweep; `lab check` says what both hosts take"
)
TCP_SPACE_REMEDY = "the kernel does not take it: give another tcp_space in the sweep, or default"
T = TypeVar("T")


class Platform(ABC):
    """One host's operating system. A subclass names itself and the kernel that ``uname -s`` prints."""

    name: ClassVar[str]
    uname: ClassVar[str]
    ram_disk_formats: ClassVar[tuple[str, ...]]

    def __init__(self, host: Host):
        self.host = host
        host.explain = self.explain
        self.directory, self.peer = "", ""

    @abstractmethod
    def facts(self, peer: str) -> Facts:
        """What this host is; ``interface`` is the one that leads to the address ``peer``."""

    @abstractmethod
    def mtu(self, interface: str, value: int) -> Setting:
        """The MTU of an interface, in bytes."""

    @abstractmethod
    def tcp_space(self, size_bytes: int) -> Sequence[Setting]:
        """The buffers of new TCP connections, both directions, pinned to this size."""

    @abstractmethod
    def tcp_space_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """The sizes that pinned buffers have, of the ``state`` of :class:`Counters`; receiving and sending."""

    @abstractmethod
    def ram_disk(self, path: str, size_bytes: int, layout: str | None = None) -> Generator[Setting, None, str]:
        """A RAM disk mounted at ``path``, writable by everybody; ``path`` must exist. Returns what it is, in words.

        ``layout`` is one of ``ram_disk_formats``, or None for what this platform does by itself.
        """

    @abstractmethod
    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """One ping that must not be fragmented."""

    @abstractmethod
    def drop_caches(self) -> None:
        """Forget file data that is cached in this host's memory."""

    def can_read_cold(self) -> bool:
        """Whether :meth:`drop_caches` makes this host read its own disk again."""
        return True

    def folder(self, path: str, mode: str) -> Setting:
        """A new folder of the lab's own in one that exists; removed with what it holds, not beyond a mount point."""
        return Setting(
            host=self.host.role,
            name=f"folder {path}",
            read=script('if [ -e "$1" ]; then echo present; else echo absent; fi', path),
            wanted="present",
            apply=(script('mkdir -m "$1" "$2"', mode, path),),
            undo=lambda _: (script('find "$1" -xdev -mindepth 1 -delete; rmdir "$1"', path, root=True),),
            volatile=False,
            holds=True,
        )

    def explain(self, said: str) -> str:
        """What to do about what a failed command said here, where this system has reasons of its own; else empty."""
        return ""

    def check_ram_disk(self, layout: str | None, serves: str = "") -> None:
        """Raise Unsupported for a format that RAM disks here do not have, or that the protocol ``serves`` cannot share.

        ``serves`` is empty for a RAM disk that nothing shares.
        """
        if layout is not None and layout not in self.ram_disk_formats:
            role, able = self.host.role, ", ".join(self.ram_disk_formats)
            raise Unsupported(
                f"{role}: ram_disk_format = {layout}: on {self.name} it can be {able}: correct it in [{role}], "
                f"or leave it out"
            )

    # What `lab check` asks for: nothing of it changes anything. A platform that cannot tell says nothing.

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """The IP addresses of each interface."""
        return {}

    def medium(self, interface: str) -> Medium:
        """What an interface is."""
        return Medium()

    def noises(self, folder: str | None) -> Noises:
        """The looks for what would disturb a measurement; ``folder`` is one on a disk that shared files are in.

        Each raises LabFailure, or ValueError for what it cannot read.
        """
        return {}

    @classmethod
    def tcp_reach(cls, facts: Facts, protocol: str, role: str) -> Reach:
        """Whether TCP buffers reach the sockets of a protocol on a host of this platform; needs no connection."""
        return Reach(None, f"nothing is known about {cls.name}")

    def how_to_install(self, package: str) -> str:
        """How a program gets there; ``package`` is its name in Debian."""
        return f"install what Debian calls {package} there"

    def lacking(self, programs: Iterable[str]) -> list[str]:
        """Those of these programs that the host does not have."""
        return self.host.shell(LACKING, *programs).stdout.split()

    def epoch(self) -> str:
        """What this host's clock says, in seconds since 1970; without a fraction where it has no perl."""
        return self.host.shell(EPOCH).stdout

    def answers(self, address: str, port: int) -> bool:
        """Whether something takes TCP connections from this host there. Raises LabFailure where there is no perl."""
        return self.host.shell(ANSWERS, address, str(port)).stdout.strip() == "yes"

    def probe_space(self, mtu: int) -> Sequence[Setting]:
        """What must be in effect while a path is proven for this MTU; nothing, on most platforms."""
        return ()

    def prove_path(self, peer: str, mtu: int) -> None:
        """Raise LabFailure unless a packet of exactly ``mtu`` bytes reaches ``peer`` in one piece.

        An interface takes any MTU it likes; only a packet that may not be fragmented shows what the path carries. A
        link may be down for seconds after its MTU has changed, so first a small packet has to get through.
        """
        self.host.shell(AWAIT, *self.ping_command(peer, SMALL_BYTES), deadline_s=60)
        if reason := self.path_refusal(peer, mtu):
            raise LabFailure(
                f"{self.host.role}: packets of MTU {mtu} do not reach {peer} in one piece ({reason}): "
                f"both ends and every switch between them must carry it"
            )

    def path_refusal(self, peer: str, mtu: int) -> str:
        """Why a packet of exactly ``mtu`` bytes does not reach ``peer`` in one piece; empty where it does."""
        argv = self.ping_command(peer, mtu - PING_HEADERS)
        for _ in range(3):
            result = self.host.run(*argv, check=False)
            if result.exit_code == 0:
                return ""
        return first_line(result.output.rpartition("\n")[2]) or "no reply"

    def free_bytes(self, path: str) -> int:
        """Bytes that are free in the file system that holds ``path``. Raises LabFailure."""
        return self._read(parse_df, "df", "-Pk", "--", path)

    def remove_files(self, *paths: str) -> None:
        """Remove files that the lab made; a missing one is no error."""
        # root: what a client wrote belongs to whatever account the server keeps for it
        self.host.run("rm", "-f", "--", *paths, root=True)

    def settle(self, directory: str, interface: str, peer: str) -> None:
        """Put what the lab needs on this host into its work directory, which exists.

        ``interface`` is that of the data link, ``peer`` the other host's address on it.
        """
        self.directory, self.peer = directory, peer
        self.host.shell('umask 077; cat > "$1/stopwatch.pl"', directory, given=STOPWATCH)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """What counts several times a second, from here on; nothing where the platform has no such thing."""
        yield from ()

    def awake(self) -> Generator[Setting, None, None]:
        """What keeps this host from going to sleep, from here on; nothing where the platform has no such thing."""
        yield from ()

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """What was sampled since this was asked for last, oldest first. Raises LabFailure."""
        return ()

    def _stopwatch(self, interface: str, flush: str, argv: Sequence[str]) -> tuple[str, ...]:
        return ("perl", f"{self.directory}/stopwatch.pl", interface, flush, *argv)

    def counters(self, interface: str) -> Counters:
        """The counters as they stand now; the host must be settled."""
        return self._read(lambda text: self.counted(text, interface, "before"), *self._stopwatch(interface, "", ()))

    @abstractmethod
    def parse_counts(self, lines: Iterable[str], interface: str) -> Counters:
        """The counters in what this platform counts, as the stopwatch prints it. Raises ValueError."""

    def counted(self, text: str, interface: str, when: str) -> Counters:
        """The counters that the stopwatch printed, ``before`` or ``after``. Raises ValueError."""
        prefix = f"{when}|"
        lines = (line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix))
        return self.parse_counts(lines, interface)

    def timed(self, interface: str, flush: str, argv: Sequence[str], deadline_s: float) -> Timing:
        """Run a transfer, then flush the file ``flush`` (none if empty), under this host's own clock.

        Raises TransferError where it fails; DeadlineExceeded where it is stuck.
        """
        result = self.host.run(*self._stopwatch(interface, flush, argv), deadline_s=deadline_s, check=False)
        values = values_of(result.stdout)
        if values.get("exit") != "0" or "flush_error" in values:
            what = values.get("flush_error") or f"exit code {values.get('exit', result.exit_code)}"
            said = " / ".join(map(first_line, result.stderr.strip().splitlines()[-3:]))
            hint = self.explain(f"{result.stderr}\n{what}")
            raise TransferError(f"{self.host.role}: {argv[0]}: {first_line(what)}: {said}{hint and f'; {hint}'}")
        counters = partial(self.counted, result.stdout, interface)
        timing = self._parsed(lambda _: parse_timing(values, deadline_s, counters), result)
        if timing.elapsed_s <= 0:  # only a wall clock can do that
            raise TransferError(f"{self.host.role}: {argv[0]}: the clock was set back while it ran")
        return timing

    def _read(self, parser: Callable[[str], T], *argv: str) -> T:
        return self._parsed(parser, self.host.run(*argv))

    def _parsed(self, parser: Callable[[str], T], result: Result) -> T:
        """What a parser makes of what a command printed. Raises LabFailure, with both, where it cannot be true."""
        try:
            return parser(result.stdout)
        except ValueError as error:
            said = "\n".join(f"    {first_line(line)}" for line in result.output[:5000].splitlines()[:6])
            raise LabFailure(f"{self.host.role}: {abridged(result.argv)}: {error}; it printed:\n{said}") from error


def whole_lines(text: str) -> list[str]:
    """The lines of a file that somebody is writing: the last may be cut short, and is left out."""
    return text[: text.rfind("\n") + 1].splitlines()


def parse_df(text: str) -> int:
    """Bytes that are free, of ``df -Pk``. Raises ValueError."""
    found = re.search(r"\s([0-9]+)\s+([0-9]+)\s+([0-9]+)\s+([0-9]+%|-)\s+/", text)  # a device may have spaces
    if not found:
        raise ValueError("no line with the free space")
    return count(found[3]) * 1024
