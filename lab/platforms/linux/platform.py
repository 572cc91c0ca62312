"""Linux: iproute2, /proc and /sys. Facts about its commands: docs/reference/platforms.md."""

from __future__ import annotations

import re

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.platforms.facts import TOOLS, Facts
from lab.platforms.linux.clock import LinuxClock
from lab.platforms.linux.files import LinuxFiles
from lab.platforms.linux.mounts import LinuxMounts
from lab.platforms.linux.network import LinuxNetwork
from lab.platforms.linux.parsers import parse_link, parse_linux_facts, parse_route
from lab.platforms.linux.preflight import LinuxPreflight
from lab.platforms.linux.programs import LinuxPrograms
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
        """See :meth:`Platform.facts`."""
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


PLATFORM = Linux
