"""macOS 10.6 and later: BSD tools, hdiutil RAM disks. Facts about its commands: docs/reference/platforms.md."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.base.errors import LabFailure
from lab.base.untrusted import count
from lab.hosts import macos_privacy
from lab.hosts.command import Command, command, script
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.findings import Medium, Noises, Reach
from lab.platforms.macos import counters as macos_counts
from lab.platforms.macos import noise, tcp
from lab.platforms.macos.parsers import (
    ABOUT_HARDWARE,
    HARDWARE,
    parse_about,
    parse_addresses,
    parse_hardware,
    parse_ifconfig,
    parse_max_mtu,
    parse_mtu_range,
    parse_ports,
    parse_route,
    parse_sizes,
    parse_sw_vers,
    parse_sysctl,
    parse_vm_stat,
)
from lab.platforms.macos.ram_disk import RamDisks
from lab.platforms.platform import MTU_REMEDY, TAKE_SAMPLES, TCP_SPACE_REMEDY, whole_lines
from lab.platforms.readings import Reading
from lab.platforms.timing import Counters, Timing, grown
from lab.settings.background import background_process
from lab.settings.setting import Setting

WIRELESS = ("Wi-Fi", "AirPort")  # AirPort up to 10.6
WITH_MACOS = ("perl", "rsync", "openssh-client", "openssh-server")
LONGEST_PROBE = 16384  # bytes; longer than every jumbo frame
MAX_BUFFER = "kern.ipc.maxsockbuf"
RAW_SOCKET = ("net.inet.raw.maxdgram", "net.inet.raw.recvspace")
FACTS = r"""
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
"""
# What is good to have beside figures, each command by itself: an older system lacks some. $@ names of sysctl
ABOUT = """
for name in "$@"; do sysctl "$name"; done 2>/dev/null
pmset -g batt; pmset -g
if command -v tmutil >/dev/null; then tmutil status; fi
mdutil -s /
:
"""
READ_MTU = r"""ifconfig "$1" | sed -n '1s/.* mtu \([0-9][0-9]*\).*/\1/p' | grep ."""
# Some drivers take the link down for seconds when the MTU changes, and may do so just after ifconfig has returned.
AWAIT_LINK = """
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    ifconfig "$1" | grep -q "status: inactive" || exit 0
done
echo "$1: the link did not come back" >&2
exit 1
"""
SAMPLER = Path(__file__).with_name("sampler.pl").read_text(encoding="utf-8")


class MacOS(RamDisks):
    """A Mac, from Snow Leopard on."""

    name = "macos"
    uname = "Darwin"

    def explain(self, said: str) -> str:
        """See :mod:`lab.hosts.macos_privacy`."""
        return macos_privacy.explain(said)

    def facts(self, peer: str) -> Facts:
        """See :meth:`Platform.facts`."""
        values, tools = self._parsed(parse_facts, self.host.shell(FACTS, *TOOLS))
        memory_bytes, cores, processor = self._read(parse_hardware, "sysctl", *HARDWARE)
        interface = self._read(parse_route, "route", "-n", "get", peer)
        link = self._read(parse_ifconfig, "ifconfig", interface)
        if interface == "lo0" or peer in link.addresses:  # recent versions route to themselves through en0
            raise LabFailure(f"{self.host.role}: {peer} is an address of this host itself; check data_address")
        mtu_min, mtu_max = self._mtu_range(interface)
        system = self._read(parse_sw_vers, "sw_vers")
        return Facts(
            hostname=values["hostname"],
            platform=self.name,
            os=system,
            kernel=f"Darwin {values['kernel']}",
            cpu=processor,
            cores=cores,
            memory_bytes=memory_bytes,
            available_bytes=self._read(parse_vm_stat, "vm_stat"),
            user=values["user"],
            is_root=values["uid"] == "0",
            home=values["home"],
            interface=interface,
            mtu=link.mtu,
            mtu_min=mtu_min,
            mtu_max=mtu_max,
            link_bits_per_s=link.bits_per_s,
            tools=tools,
            tcp_space_max=self._tcp_space_max(system),
            about=parse_about(self.host.shell(ABOUT, *ABOUT_HARDWARE, check=False).stdout),
        )

    def _tcp_space_max(self, system: str) -> int | None:
        limit = parse_sysctl(self.host.run("sysctl", MAX_BUFFER, check=False).stdout).get(MAX_BUFFER)
        return tcp.largest(system, count(limit)) if limit else None

    def _mtu_range(self, interface: str) -> tuple[int | None, int | None]:
        """What the driver takes, as far as anything tells; ifconfig is the one that asks the driver itself."""
        said = self.host.run("networksetup", "-listvalidMTUrange", interface, check=False).stdout
        least, most = parse_mtu_range(said)
        return least, parse_max_mtu(self.host.run("ifconfig", "-v", interface, check=False).stdout) or most

    def mtu(self, interface: str, value: int) -> Setting:
        """See :meth:`Platform.mtu`. ifconfig only warns of a refusal and exits 0: what reads back decides."""

        def change(to: str) -> tuple[Command, ...]:
            return command("ifconfig", interface, "mtu", to, root=True), script(AWAIT_LINK, interface, deadline_s=60)

        return Setting(
            host=self.host.role,
            name=f"MTU of {interface}",
            read=script(READ_MTU, interface),
            wanted=str(value),
            apply=change(str(value)),
            undo=change,
            may_cut_off=True,
            remedy=MTU_REMEDY,
        )

    def tcp_space(self, size_bytes: int) -> Sequence[Setting]:
        """The starting sizes, and whatever keeps them from changing on this version.

        10.6 and 10.7 raise small buffers while few sockets exist (sockthreshold) and know no autotuning; 10.8 to 10.15
        switch it off each way; from 11 on that switch is gone for sending, and its ceiling is lowered instead.
        """
        pins = [f"net.inet.tcp.{name}" for name in ("sockthreshold", "doautorcvbuf", "doautosndbuf", "autosndbufmax")]
        # An unknown name prints nothing on standard output, whatever the version and the exit code.
        loop = 'for name in "$@"; do sysctl "$name" 2>/dev/null; done; :'
        known = self._parsed(parse_sysctl, self.host.shell(loop, *pins))
        threshold, receive, send, send_max = (name in known for name in pins)
        if not (threshold or (receive and (send or send_max))):
            raise LabFailure(f"{self.host.role}: TCP buffers cannot be pinned: of {pins}, sysctl knows only {known}")
        wanted = {name: "0" for name in pins[:3] if name in known}
        if send_max and not send:
            wanted[pins[3]] = str(size_bytes)
        wanted |= {f"net.inet.tcp.{name}": str(size_bytes) for name in ("sendspace", "recvspace")}
        return [self._sysctl(name, value, TCP_SPACE_REMEDY) for name, value in wanted.items()]

    def tcp_space_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """See :meth:`Platform.tcp_space_in`."""
        try:
            return tuple(count(state[name]) for name in ("recvspace", "sendspace"))
        except (LookupError, ValueError) as error:
            raise LabFailure(f"{self.host.role}: the TCP buffers cannot be read from {dict(state)}") from error

    def _sysctl(self, name: str, value: str, remedy: str) -> Setting:
        def change(to: str) -> tuple[Command, ...]:
            return (command("sysctl", "-w", f"{name}={to}", root=True),)  # without -w, 10.6 to 10.9 refuse

        return Setting(
            host=self.host.role,
            name=name,
            read=script('sysctl -n "$1" | grep "^[0-9]"', name),  # an unknown name may exit 0
            wanted=value,
            apply=change(value),
            undo=change,
            remedy=remedy,
        )

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-D`` forbids fragments; ``-W`` is in milliseconds here."""
        return ("ping", "-n", "-D", "-s", str(payload_bytes), "-c", "1", "-W", "2000", peer)

    def probe_space(self, mtu: int) -> Sequence[Setting]:
        """What must be in effect while a path is proved for this MTU: sockets that hold such a packet.

        They hold 8192 bytes, and of a longer packet ping says what it also says of an MTU that is too small:
        "Message too long" (xnu: raw_ip.c, ip_icmp.c).
        """
        sizes = self._read(lambda text: parse_sizes(text, RAW_SOCKET), "sysctl", *RAW_SOCKET)
        small = [name for name, size in sizes.items() if size < mtu]
        remedy = f"without it no ping here proves an MTU of {mtu}: leave that out of the sweep"
        return [self._sysctl(name, str(max(LONGEST_PROBE, mtu)), remedy) for name in small]

    def prove_path(self, peer: str, mtu: int) -> None:
        """See :meth:`Platform.prove_path`; the settings of :meth:`probe_space` must be in effect, which is checked."""
        missing = " and ".join(setting.name for setting in self.probe_space(mtu))
        if missing:
            raise LabFailure(f"{self.host.role}: ping cannot send {mtu} bytes at once: {missing} must be raised first")
        super().prove_path(peer, mtu)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """See :meth:`Platform.addresses`."""
        return self._read(parse_addresses, "ifconfig", "-a")

    def medium(self, interface: str) -> Medium:
        """See :meth:`Platform.medium`; ifconfig shows a Wi-Fi card like any other."""
        port = self._read(parse_ports, "networksetup", "-listallhardwareports").get(interface)
        duplex = self._read(parse_ifconfig, "ifconfig", interface).duplex
        return Medium(None if port is None else port in WIRELESS, duplex)

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Platform.noises`."""
        return noise.noises(self.host, folder)

    @classmethod
    def tcp_reach(cls, facts: Facts, protocol: str, role: str) -> Reach:
        """See :mod:`lab.platforms.macos.tcp`."""
        return tcp.tcp_reach(facts.os, protocol, role)

    def how_to_install(self, package: str) -> str:
        """Everything but iperf3 comes with macOS, in folders that are in every PATH; Homebrew has the rest."""
        if package in WITH_MACOS:
            return f"{package} comes with macOS: find out where it went, or `brew install {package}` there"
        if self.lacking(["brew"]):
            return f"install Homebrew there (https://brew.sh), then `brew install {package}`"
        return f"`brew install {package}` there"

    def parse_counts(self, lines: Iterable[str], interface: str) -> Counters:
        """See :meth:`Platform.parse_counts`."""
        return macos_counts.parse_counters(lines, interface)

    def counters(self, interface: str) -> Counters:
        """See :meth:`Platform.counters`; with what only root is told."""
        return replace(super().counters(interface), retransmits=self._resent())

    def timed(self, interface: str, flush: str, argv: Sequence[str], deadline_s: float) -> Timing:
        """See :meth:`Platform.timed`; with what only root is told, which the transfer is not run as."""
        before = self._resent()
        timing = super().timed(interface, flush, argv, deadline_s)
        return replace(timing, counted=replace(timing.counted, retransmits=grown(self._resent(), before)))

    def _resent(self) -> int | None:
        return macos_counts.parse_resent(self.host.run("netstat", "-s", "-p", "tcp", root=True).stdout)

    def sampling(self, interface: str) -> Generator[Setting, None, None]:
        """A reading a second, which is as often as iostat tells of the processor."""
        program, file = f"{self.directory}/sampler.pl", self._samples_file
        self.host.shell('umask 077; cat > "$1"', program, given=SAMPLER)
        argv = ("perl", program, file, interface)
        yield background_process(self.host.role, "sampler", argv, self.directory, ready=f"[ -e '{file}' ]", root=False)

    def samples(self, interface: str) -> tuple[Reading, ...]:
        """See :meth:`Platform.samples`."""
        result = self.host.shell(TAKE_SAMPLES, self._samples_file)
        return self._parsed(lambda text: tuple(macos_counts.parse_samples(whole_lines(text), interface)), result)

    @property
    def _samples_file(self) -> str:
        return f"{self.directory}/samples"

    def awake(self) -> Generator[Setting, None, None]:
        """Whatever of the two this version has; -s holds on mains only, as it says itself."""
        argv = ("/bin/sh", "-c", "command -v caffeinate >/dev/null && exec caffeinate -i -s; exec pmset noidle")
        yield background_process(self.host.role, "awake", argv, self.directory, root=False)

    def drop_caches(self) -> None:
        """Write out and forget what is cached of every mounted volume, network volumes included (purge(8)).

        Before 10.9 purge comes with Xcode only. Without it a sync must do: what is cached of a share goes with its
        mount.
        """
        self.host.shell("if command -v purge >/dev/null; then purge; else sync; fi", root=True, deadline_s=120)

    def can_read_cold(self) -> bool:
        """See :meth:`Platform.can_read_cold`."""
        return not self.lacking(["purge"])


PLATFORM = MacOS
