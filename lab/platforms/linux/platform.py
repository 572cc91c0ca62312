"""Linux: iproute2, /proc and /sys. Facts about its commands: docs/reference/platforms.md."""

import re

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, from_json, word
from lab.hosts.fields import interface_name
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.linux.clock import LinuxClock
from lab.platforms.linux.files import LinuxFiles, LinuxPrograms
from lab.platforms.linux.mounts import LinuxMounts
from lab.platforms.linux.network import LinuxNetwork
from lab.platforms.linux.preflight import LinuxPreflight
from lab.platforms.linux.ram_disk import LinuxRamDisks
from lab.platforms.linux.settings import LinuxSettings
from lab.platforms.platform import Platform

FACTS = read_script(__file__, "facts.sh")


class Linux(Platform):
    """A Linux host, whether a NAS, a server or a host of the local lab."""

    name = "linux"
    uname = "Linux"
    settings_class = LinuxSettings
    ram_disks_class = LinuxRamDisks
    clock_class = LinuxClock
    files_class = LinuxFiles
    network_class = LinuxNetwork
    programs_class = LinuxPrograms
    mounts_class = LinuxMounts
    preflight_class = LinuxPreflight

    def facts(self, peer: str) -> Facts:
        values, tools = self.parse(parse_linux_facts, self.host.shell(FACTS, *TOOLS))
        interface = self.read(parse_route, "ip", "-j", "route", "get", peer)
        if not interface:
            remedy = f"is data_address {peer} of the other host right?"
            raise LabFailure(f"{peer} is an address of this host itself", remedy, host=self.host.name)
        mtu, mtu_min, mtu_max = self.read(parse_link, "ip", "-j", "-d", "link", "show", "dev", interface)
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
            mtu=mtu,
            mtu_min=mtu_min,
            mtu_max=mtu_max or None,
            link_bits_per_s=int(speed) * 10**6 if re.fullmatch(r"[1-9][0-9]{0,8}", speed) else None,
            tools=tools,
            congestion=values.get("congestion") or None,
        )


def parse_linux_facts(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """As :func:`parse_facts`, with what only Linux says."""
    values, tools = parse_facts(text, "os", "cpu", "cores", "memory_kib", "available_kib")
    for name in ("cores", "memory_kib", "available_kib"):
        count(values[name])
    if values.get("congestion"):
        word(values["congestion"], "[A-Za-z0-9_-]{1,15}")  # TCP_CA_NAME_MAX of the kernel is 16, with its NUL
    return values, tools


def parse_route(text: str) -> str:
    """The interface that leads to a peer, of ``ip -j route get``; empty where that is this machine itself."""
    try:
        route = from_json(text)[0]
        return "" if route.get("type") == "local" else interface_name(str(route["dev"]))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("no route") from error


def parse_link(text: str) -> tuple[int, int | None, int | None]:
    """MTU, its least and largest value (None: not told); old versions of ip print empty objects around the link."""
    try:
        link = next(link for link in from_json(text) if isinstance(link, dict) and "mtu" in link)
    except (TypeError, StopIteration) as error:
        raise ValueError("no interface") from error
    least, most = (link.get(name) for name in ("min_mtu", "max_mtu"))
    return count(link["mtu"]), None if least is None else count(least), None if most is None else count(most)


PLATFORM = Linux
