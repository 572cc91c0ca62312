"""Linux: iproute2, /proc and /sys, tmpfs. Facts about its commands: docs/platforms.md."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from lab.commands import Command, command, script
from lab.errors import LabFailure
from lab.platforms import linux_noise, linux_packages
from lab.platforms.base import TOOLS, Facts, Platform, parse_facts
from lab.platforms.preflight import Medium, Noises, Reach
from lab.settings import Setting

SMALLEST_TCP_BUFFER = 4096  # the first field of tcp_rmem and tcp_wmem: what a socket keeps when memory runs out
FACTS = r"""
echo "hostname $(hostname)"
echo "kernel $(uname -r)"
echo "os $(. /etc/os-release 2>/dev/null; echo "$PRETTY_NAME")"
echo "cpu $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
echo "cores $(getconf _NPROCESSORS_ONLN)"
echo "user $(id -un)"
echo "uid $(id -u)"
echo "home $HOME"
sed -n 's/^MemTotal: *\([0-9]*\) kB/memory_kib \1/p; s/^MemAvailable: *\([0-9]*\) kB/available_kib \1/p' /proc/meminfo
for tool in "$@"; do
    command -v "$tool" >/dev/null && echo "tool $tool $("$tool" --version 2>/dev/null | sed -n '/./{p;q;}')"
done
echo end
"""
# a wireless interface has one of the two folders, an interface that is down no duplex
MEDIUM = r"""
cd "/sys/class/net/$1" || exit
if [ -e wireless ] || [ -e phy80211 ]; then echo wireless; else echo wired; fi
cat duplex 2>/dev/null; :
"""
MANAGERS = f'for name in {" ".join(linux_packages.INSTALL)}; do command -v "$name" >/dev/null && echo "$name"; done; :'


class Linux(Platform):
    """A Linux host, whether a NAS, a server or a host of the local lab."""

    name = "linux"
    uname = "Linux"

    def facts(self, peer: str) -> Facts:
        """See :meth:`Platform.facts`."""
        values, tools = parse_facts(self.host.shell(FACTS, *TOOLS).stdout)
        interface = parse_route(self.host.run("ip", "-j", "route", "get", peer).stdout, peer)
        link = parse_link(self.host.run("ip", "-j", "-d", "link", "show", "dev", interface).stdout)
        speed = self.host.run("cat", f"/sys/class/net/{interface}/speed", check=False).stdout.strip()
        return Facts(
            hostname=values["hostname"],
            platform=self.name,
            os=values["os"],
            kernel=f"Linux {values['kernel']}",
            cpu=values["cpu"],
            cores=int(values["cores"]),
            memory_bytes=int(values["memory_kib"]) * 1024,
            available_bytes=int(values["available_kib"]) * 1024,
            user=values["user"],
            is_root=values["uid"] == "0",
            home=values["home"],
            interface=interface,
            mtu=link["mtu"],
            mtu_min=link.get("min_mtu"),
            mtu_max=link.get("max_mtu") or None,
            link_bits_per_s=int(speed) * 10**6 if re.fullmatch(r"[1-9]\d*", speed) else None,
            tools=tools,
        )

    def mtu(self, interface: str, value: int) -> Setting:
        """See :meth:`Platform.mtu`."""
        return Setting(
            host=self.host.role,
            name=f"MTU of {interface}",
            read=command("cat", f"/sys/class/net/{interface}/mtu"),
            wanted=str(value),
            apply=(command("ip", "link", "set", "dev", interface, "mtu", str(value), root=True),),
            undo=lambda old: (command("ip", "link", "set", "dev", interface, "mtu", old, root=True),),
            may_cut_off=True,
        )

    def tcp_space(self, size_bytes: int) -> Sequence[Setting]:
        """Pin default and maximum of tcp_rmem and tcp_wmem, so that autotuning neither starts nor ends elsewhere."""
        value = f"{min(SMALLEST_TCP_BUFFER, size_bytes)}\t{size_bytes}\t{size_bytes}"
        return [self._sysctl(f"net.ipv4.{name}", value) for name in ("tcp_rmem", "tcp_wmem")]

    def tcp_space_in(self, state: Mapping[str, str]) -> tuple[int, ...]:
        """The third field is the maximum, which bounds what autotuning may make of a socket."""
        return tuple(int(state[name].split()[2]) for name in ("tcp_rmem", "tcp_wmem"))

    def _sysctl(self, name: str, value: str) -> Setting:
        path = f"/proc/sys/{name.replace('.', '/')}"
        write = 'printf "%s" "$2" > "$1"'  # not sysctl(8): that is missing on small systems
        return Setting(
            host=self.host.role,
            name=name,
            read=command("cat", path),
            wanted=value,
            apply=(script(write, path, value, root=True),),
            undo=lambda old: (script(write, path, old, root=True),),
        )

    def ram_disk(self, path: str, size_bytes: int) -> Generator[Setting, None, None]:
        """A tmpfs. Its memory is taken as it fills, so what is free is checked first."""
        free = int(self.host.shell("sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo").stdout) * 1024
        if size_bytes > free:
            raise LabFailure(
                f"{self.host.role}: a RAM disk of {size_bytes / 2**20:.0f} MiB does not fit: "
                f"{free / 2**20:.0f} MiB of memory are free; lower ram_disk in the hosts file, or the sweep's size"
            )
        yield Setting(
            host=self.host.role,
            name=f"RAM disk {path}",
            read=is_mounted(path),
            wanted="mounted",
            apply=(command("mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=1777", "lab", path, root=True),),
            undo=lambda _: (script('umount "$1" || { sleep 1; umount -l "$1"; }', path, root=True),),
        )

    def ping_command(self, peer: str, payload_bytes: int) -> tuple[str, ...]:
        """``-M do`` forbids fragments; ``-W`` is in seconds here."""
        return ("ping", "-n", "-M", "do", "-s", str(payload_bytes), "-c", "1", "-W", "2", peer)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """See :meth:`Platform.addresses`."""
        return parse_addresses(self.host.run("ip", "-j", "address", "show").stdout)

    def medium(self, interface: str) -> Medium:
        """See :meth:`Platform.medium`."""
        said = self.host.shell(MEDIUM, interface).stdout.split()
        return Medium("wireless" in said, next((word for word in said if word in ("full", "half")), None))

    def noises(self, folder: str | None) -> Noises:
        """See :meth:`Platform.noises`."""
        return linux_noise.noises(self.host)

    @classmethod
    def tcp_reach(cls, facts: Facts, protocol: str, role: str) -> Reach:
        """Every socket takes tcp_rmem and tcp_wmem unless its program sets sizes: none of those used here does."""
        return Reach(True, "its sockets take the sizes of the system")

    def how_to_install(self, package: str) -> str:
        """See :meth:`Platform.how_to_install`."""
        return linux_packages.how_to_install(package, self.host.shell(MANAGERS).stdout.split())

    def drop_caches(self) -> None:
        """Only clean pages can be dropped, so sync comes first."""
        self.host.shell("sync; echo 3 > /proc/sys/vm/drop_caches", root=True, deadline_s=120)

    def hash_command(self) -> tuple[str, ...]:
        """See :meth:`Platform.hash_command`."""
        return ("sha256sum", "--")


def is_mounted(path: str) -> Command:
    """A command that prints ``mounted`` or ``absent``: something is mounted at exactly this path.

    It reads the table and does not touch the path, for a mount whose server is dead may not be touched.
    """
    escaped = path.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("\n", "\\012")
    return script('if grep -qF " $1 " /proc/self/mounts; then echo mounted; else echo absent; fi', escaped)


def parse_route(text: str, peer: str) -> str:
    """The interface that leads to ``peer``, of ``ip -j route get``. Raises LabFailure for this machine itself."""
    try:
        route = json.loads(text)[0]
        if route.get("type") != "local":
            return str(route["dev"])
    except (ValueError, LookupError) as error:
        raise LabFailure(f"no route to {peer} can be read from what ip printed: {text[:200]!r}") from error
    raise LabFailure(f"{peer} is an address of this host itself; check data_address")


def parse_addresses(text: str) -> dict[str, tuple[str, ...]]:
    """The addresses of each interface, of ``ip -j address show``. Raises LabFailure."""
    try:
        links = [link for link in json.loads(text) if "ifname" in link]
        return {
            link["ifname"]: tuple(info["local"] for info in link.get("addr_info", ()) if "local" in info)
            for link in links
        }
    except (ValueError, TypeError) as error:
        raise LabFailure(f"no addresses can be read from what ip printed: {text[:200]!r}") from error


def parse_link(text: str) -> dict[str, Any]:
    """The one link of ``ip -j -d link show``; older versions print empty objects around it. Raises LabFailure."""
    try:
        return next(link for link in json.loads(text) if "mtu" in link)
    except (ValueError, TypeError, StopIteration) as error:
        raise LabFailure(f"no interface can be read from what ip printed: {text[:200]!r}") from error


PLATFORM = Linux
