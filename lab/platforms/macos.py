"""macOS 10.6 and later: BSD tools, hdiutil RAM disks. Facts about its commands: docs/platforms.md."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from lab.commands import Command, command, script
from lab.errors import LabFailure
from lab.platforms import macos_noise, macos_tcp
from lab.platforms.base import TOOLS, Facts, Platform, parse_facts
from lab.platforms.macos_output import (
    HARDWARE,
    SECTOR_BYTES,
    image_sectors,
    parse_addresses,
    parse_hardware,
    parse_ifconfig,
    parse_images,
    parse_max_mtu,
    parse_ports,
    parse_route,
    parse_sizes,
    parse_sw_vers,
    parse_sysctl,
    parse_vm_stat,
    prove_ours,
)
from lab.platforms.preflight import Medium, Noises, Reach
from lab.settings import Setting
from lab.untrusted import count

WIRELESS = ("Wi-Fi", "AirPort")  # AirPort up to 10.6
WITH_MACOS = ("perl", "rsync", "openssh-client", "openssh-server")
LONGEST_PROBE = 16384  # bytes; longer than every jumbo frame
IMAGES = ("hdiutil", "info", "-plist")
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
ATTACH = 'for try in 1 2 3; do hdiutil attach -nomount "$1" && exit; sleep 2; done; exit 1'  # it may be busy
RAM_IMAGE = Path(__file__).with_name("ram_image.pl").read_text(encoding="utf-8")
UNMOUNT = 'for try in 1 2 3; do umount "$1" && exit; sleep 1; done; umount -f "$1"'


class MacOS(Platform):
    """A Mac, from Snow Leopard on."""

    name = "macos"
    uname = "Darwin"

    def facts(self, peer: str) -> Facts:
        """See :meth:`Platform.facts`."""
        values, tools = self._parsed(parse_facts, self.host.shell(FACTS, *TOOLS))
        memory_bytes, cores, processor = self._read(parse_hardware, "sysctl", *HARDWARE)
        interface = self._read(parse_route, "route", "-n", "get", peer)
        link = self._read(parse_ifconfig, "ifconfig", interface)
        if interface == "lo0" or peer in link.addresses:  # recent versions route to themselves through en0
            raise LabFailure(f"{self.host.role}: {peer} is an address of this host itself; check data_address")
        return Facts(
            hostname=values["hostname"],
            platform=self.name,
            os=self._read(parse_sw_vers, "sw_vers"),
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
            mtu_max=parse_max_mtu(self.host.run("ifconfig", "-v", interface, check=False).stdout),
            link_bits_per_s=link.bits_per_s,
            tools=tools,
        )

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
        return [self._sysctl(name, value) for name, value in wanted.items()]

    def tcp_space_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """See :meth:`Platform.tcp_space_in`."""
        try:
            return tuple(count(state[name]) for name in ("recvspace", "sendspace"))
        except (LookupError, ValueError) as error:
            raise LabFailure(f"{self.host.role}: the TCP buffers cannot be read from {dict(state)}") from error

    def _sysctl(self, name: str, value: str) -> Setting:
        def change(to: str) -> tuple[Command, ...]:
            return (command("sysctl", "-w", f"{name}={to}", root=True),)  # without -w, 10.6 to 10.9 refuse

        return Setting(
            host=self.host.role,
            name=name,
            read=script('sysctl -n "$1" | grep "^[0-9]"', name),  # an unknown name may exit 0
            wanted=value,
            apply=change(value),
            undo=change,
        )

    def ram_disk(self, path: str, size_bytes: int) -> Generator[Setting, None, None]:
        """A RAM image with HFS+, the only file system that every macOS shares over AFP; up to 2.5 % of it are its own.

        The device is written to only after hdiutil says that it is the image just attached, by us, of just this size,
        and that nothing of it is mounted. Its memory is taken as it fills, so what is free is checked first.
        """
        place = self.host.shell('cd "$1" && pwd -P', path).stdout.rstrip("\n")  # as mount and hdiutil print it
        if is_mounted(place).run(self.host) != "absent":
            raise LabFailure(f"{self.host.role}: something is mounted at {place} already; unmount it")
        uid = self._read(lambda text: count(text.strip()), "id", "-u")
        sectors = image_sectors(size_bytes, place, {image.path for image in self._read(parse_images, *IMAGES)})
        free = self._read(parse_vm_stat, "vm_stat")
        if sectors * SECTOR_BYTES > free:
            raise LabFailure(
                f"{self.host.role}: a RAM disk of {size_bytes / 2**20:.0f} MiB does not fit: "
                f"{free / 2**20:.0f} MiB of memory are free; lower ram_disk in the hosts file, or the sweep's size"
            )
        yield self._ram_image(sectors, place)
        device = self._read(lambda text: prove_ours(parse_images(text), sectors, uid), *IMAGES)
        yield self._ram_volume(device, place)

    def _ram_image(self, sectors: int, place: str) -> Setting:
        def find(act: str, deadline_s: float) -> Command:
            return command("perl", "-e", RAM_IMAGE, act, str(sectors), place, deadline_s=deadline_s)

        return Setting(
            host=self.host.role,
            name=f"RAM image ram://{sectors}",
            read=find("state", 60),
            wanted="attached",
            apply=(script(ATTACH, f"ram://{sectors}", deadline_s=120),),
            undo=lambda _: (find("detach", 180),),
        )

    def _ram_volume(self, device: str, place: str) -> Setting:
        return Setting(
            host=self.host.role,
            name=f"RAM disk {place}",
            read=is_mounted(place),
            wanted="mounted",
            apply=(
                # Not as root: a user may write to the RAM images that are their own, and to no other disk.
                command("newfs_hfs", "-v", "lab", device.replace("/dev/", "/dev/r"), deadline_s=120),
                command("mount", "-t", "hfs", "-o", "noatime", device, place, root=True),
                script('touch "$1/.metadata_never_index" && chmod 1777 "$1"', place, root=True),  # no Spotlight
            ),
            undo=lambda _: (script(UNMOUNT, place, root=True, deadline_s=120),),
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
        return [self._sysctl(name, str(max(LONGEST_PROBE, mtu))) for name in small]

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
        return macos_noise.noises(self.host, folder)

    @classmethod
    def tcp_reach(cls, facts: Facts, protocol: str, role: str) -> Reach:
        """See :mod:`lab.platforms.macos_tcp`."""
        return macos_tcp.tcp_reach(facts.os, protocol, role)

    def how_to_install(self, package: str) -> str:
        """Everything but iperf3 comes with macOS, in folders that are in every PATH; Homebrew has the rest."""
        if package in WITH_MACOS:
            return f"{package} comes with macOS: find out where it went, or `brew install {package}` there"
        if self.lacking(["brew"]):
            return f"install Homebrew there (https://brew.sh), then `brew install {package}`"
        return f"`brew install {package}` there"

    def drop_caches(self) -> None:
        """Write out and forget what is cached of every mounted volume, network volumes included (purge(8))."""
        self.host.run("purge", root=True, deadline_s=120)

    def hash_command(self) -> tuple[str, ...]:
        """See :meth:`Platform.hash_command`."""
        return ("shasum", "-a", "256", "--")


def is_mounted(path: str) -> Command:
    """A command that prints ``mounted`` or ``absent``: something is mounted at exactly this path, which has no links.

    It reads the table and does not touch the path, for a mount whose server is dead may not be touched.
    """
    table = 'table=$(mount) || exit; case $table in *" on $1 ("*) echo mounted ;; *) echo absent ;; esac'
    return script(table, path)


PLATFORM = MacOS
