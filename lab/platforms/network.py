"""The network between a host and its peer: interfaces, packets and ports."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from lab.base.addresses import Interface, without_zone
from lab.base.errors import HostError, LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import first_line
from lab.hosts.command import run_perl
from lab.platforms.part import Part
from lab.settings.operation import Setting

# Headers of IPv4 (20 bytes) and IPv6 (40), each without options, and of ICMP (8)
PING_HEADERS_V4, PING_HEADERS_V6 = 28, 48
SMALL_BYTES = 56  # the payload of an ordinary ping
ORDINARY_MTU = 1500
SMALLEST_MTU = 576  # every IPv4 host takes such a packet (RFC 791)
BLACK_HOLE = "every switch and host on the way must carry the larger ones"
SAYS_SIZE = re.compile("too (long|big)|[Ff]rag")  # ping knows how much the path carries: TCP then sends no more
# $@ is an ordinary ping, which waits for its answer: up to 2 s, ping6 of a Mac up to 11 s
AWAIT = 'for try in 1 2 3 4 5 6 7 8 9 10; do "$@" >/dev/null 2>&1 && exit; sleep 1; done; :'
ANSWERS = read_script(__file__, "answers.pl")
CONNECT = ANSWERS + read_script(__file__, "connect.pl")


class BlackHole(LabFailure):
    """Large packets vanish on the way to the peer without any error, and smaller ones arrive."""


@dataclass(frozen=True)
class Medium:
    """What an interface is (None: not told). ``duplex`` is ``full`` or ``half``.

    A ``virtual`` interface has no hardware, not even below it, and the speed that it names is not real.
    """

    wireless: bool | None = None
    duplex: str | None = None
    virtual: bool = False


@dataclass(frozen=True)
class Radio:
    """A Wi-Fi interface's sending rate in bits per second, and its signal and noise in dBm; None if not told."""

    bits_per_s: int | None = None
    signal_dbm: int | None = None
    noise_dbm: int | None = None


class Network(Part, ABC):
    """The network as a host sees it; ``tunnels`` are prefixes of interfaces that encrypt or wrap what they send."""

    tunnels: ClassVar[tuple[str, ...]] = ()
    longest_ping: ClassVar[int] = 65535

    @abstractmethod
    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """One ping that must not be fragmented, and waits up to 2 s for its answer if it has an option for that."""

    @abstractmethod
    def listening(self, port: int) -> str:
        """A shell test whether some process of the host listens on this TCP port, on whatever address."""

    def check_probe(self, peer: str) -> None:
        """Raise Unsupported if no ping of this host can prove a path to an address."""

    def probe_settings(self, mtu: int) -> Sequence[Setting]:
        """What must be in effect while a path is proved for this MTU; nothing, by default."""
        return ()

    def prove_path(self, peer: str, mtu: int) -> None:
        """Raise LabFailure unless a packet of exactly ``mtu`` bytes, not fragmented, reaches ``peer``.

        A link may be down for seconds after its MTU has changed, so first a small packet has to get through.
        """
        self.host.shell(AWAIT, *self.ping_command(peer, SMALL_BYTES), deadline_s=150)
        if reason := self.path_refusal(peer, mtu):
            message = f"packets of MTU {mtu} do not reach {peer} in one piece ({reason})"
            raise LabFailure(message, "both ends and every switch between them must carry it", host=self.host.name)

    def path_refusal(self, peer: str, mtu: int) -> str:
        """Why a packet of exactly ``mtu`` bytes does not reach ``peer`` in one piece; empty where it does."""
        for _ in range(3):
            result = self.host.run(*self._ping_of(peer, mtu), check=False)
            if result.exit_code == 0:
                return ""
        return first_line(result.output.rpartition("\n")[2]) or "no reply"

    def pings(self, peer: str, mtu: int) -> dict[int, tuple[str, ...]]:
        """The pings that show a black hole, by size of packet: one of ``mtu`` bytes as far as possible, then less."""
        sizes = (min(mtu, self.longest_ping), *(size for size in (ORDINARY_MTU, SMALLEST_MTU) if size < mtu))
        return {size: self._ping_of(peer, size) for size in sizes}

    def find_black_hole(self, peer: str, mtu: int) -> BlackHole | None:
        """The error to raise if packets of this MTU vanish on the way to ``peer``, and smaller ones arrive."""
        (large, argv), *smaller = self.pings(peer, mtu).items()
        with suppress(HostError):
            results = [self.host.run(*argv, check=False) for _ in range(2)]
            if any(result.exit_code == 0 or SAYS_SIZE.search(result.output) for result in results):
                return None
            for size, ping in smaller:
                if self.host.run(*ping, check=False).exit_code == 0:
                    message = f"packets of {large} bytes do not arrive at {peer}, those of {size} do"
                    return BlackHole(message, f"{BLACK_HOLE}; else set MTU {size} on both ends", host=self.host.name)
        return None

    def _ping_of(self, peer: str, size: int) -> tuple[str, ...]:
        """The ping whose packet has exactly so many bytes."""
        return self.ping_command(peer, size - (PING_HEADERS_V6 if ":" in peer else PING_HEADERS_V4))

    def answers(self, address: str, port: int) -> bool:
        """Whether something takes TCP connections from this host there. Raises LabFailure where it cannot ask."""
        return self.host.run(*run_perl(CONNECT, address, str(port))).stdout.strip() == "yes"

    def kept_off(self) -> str:
        """How this system may keep the lab off the local network, and what to do; empty where nothing does."""
        return ""

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """The IP addresses of each interface; nothing where the platform cannot tell."""
        return {name: tuple(str(own.ip) for own in rows) for name, rows in self.networks().items()}

    def networks(self) -> dict[str, tuple[Interface, ...]]:
        """The addresses of each interface, with their networks; nothing where the platform cannot tell."""
        return {}

    def own_address(self, address: str) -> str:
        """A data address of this host. The zone of a link-local one is an interface that has it, if any has.

        Several interfaces may have the same address, such as a bridge and its port: then the zone is kept.
        """
        bare, has_zone, zone = address.partition("%")
        if not has_zone:
            return address
        holders = [name for name, own in self.addresses().items() if bare in map(without_zone, own)]
        return address if zone in holders or not holders else f"{bare}%{holders[0]}"

    def carrier_changes(self, interface: str) -> int | None:
        """How often an interface gained or lost its carrier since it is there; None where nothing counts it."""
        return None

    def is_tunnel(self, interface: str) -> bool:
        """Whether an interface encrypts or wraps what it sends, as a VPN does. Raises LabFailure."""
        return interface.startswith(self.tunnels)

    def medium(self, interface: str) -> Medium:
        """What an interface is; nothing where the platform cannot tell."""
        return Medium()

    def radio(self, interface: str) -> Radio:
        """The radio of a wireless interface; empty if the platform cannot tell. Raises LabFailure."""
        return Radio()
