"""macOS 10.6 and later: BSD tools, hdiutil RAM disks. Facts about its commands: docs/reference/platforms.md."""

from lab.base.addresses import without_zone
from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count
from lab.hosts import macos_privacy
from lab.hosts.command import NO_PERL, NO_PERL_ON_MAC
from lab.platforms.facts import TOOLS, Facts, parse_facts
from lab.platforms.macos import parsers
from lab.platforms.macos.clock import MacClock
from lab.platforms.macos.disk_images import MacRamDisks
from lab.platforms.macos.files import MacFiles, MacPrograms
from lab.platforms.macos.mounts import MacMounts
from lab.platforms.macos.network import MacNetwork
from lab.platforms.macos.preflight import MacPreflight, largest
from lab.platforms.macos.settings import MacSettings
from lab.platforms.platform import Platform

MAX_BUFFER = "kern.ipc.maxsockbuf"
FACTS = read_script(__file__, "facts.sh")
NAMED_TOOLS = [":".join([tool, *MacPrograms.other_names.get(tool, "").split()]) for tool in TOOLS]
# Facts to show beside results. Each command runs by itself, because older systems lack some. $@ names of sysctl
ABOUT = """
for name in "$@"; do sysctl "$name"; done 2>/dev/null
pmset -g batt; pmset -g
if command -v tmutil >/dev/null; then tmutil status; fi
mdutil -s /
:
"""


class MacOS(Platform):
    """A Mac, from Snow Leopard on."""

    name = "macos"
    uname = "Darwin"
    settings_class = MacSettings
    ram_disks_class = MacRamDisks
    clock_class = MacClock
    files_class = MacFiles
    network_class = MacNetwork
    programs_class = MacPrograms
    mounts_class = MacMounts
    preflight_class = MacPreflight

    def explain(self, output: str) -> str:
        if NO_PERL.search(output):
            return NO_PERL_ON_MAC
        return macos_privacy.explain(output, macos_privacy.starter_of(self.host))

    def facts(self, peer: str) -> Facts:
        values, tools = self.parse(parse_facts, self.host.shell(FACTS, *NAMED_TOOLS))
        memory_bytes, cores, processor = self.read(parsers.parse_hardware, "sysctl", *parsers.HARDWARE)
        family = ("-inet6",) if ":" in peer else ()
        interface = self.read(parsers.parse_route, "route", "-n", "get", *family, peer)
        link = self.read(parsers.parse_ifconfig, "ifconfig", "-v", interface)
        own = without_zone(peer) in link.addresses  # recent versions route to themselves through en0
        if interface == "lo0" or own:
            remedy = f"is data_address {peer} of the other host right?"
            raise LabFailure(f"{peer} is an address of this host itself", remedy, host=self.host.name)
        ranges = self.host.run("networksetup", "-listvalidMTUrange", interface, check=False).stdout
        mtu_min, mtu_max = parsers.parse_mtu_range(ranges)
        mtu_max = link.max_mtu or mtu_max  # ifconfig is the one that asks the driver itself
        system = self.read(parsers.parse_sw_vers, "sw_vers")
        return Facts(
            hostname=values["hostname"], platform=self.name, os=system, kernel=f"Darwin {values['kernel']}",
            cpu=processor, cores=cores, memory_bytes=memory_bytes,
            available_bytes=self.read(parsers.parse_memory, "vm_stat").available_bytes, user=values["user"],
            is_root=values["uid"] == "0", home=values["home"], interface=interface, mtu=link.mtu, mtu_min=mtu_min,
            mtu_max=mtu_max, link_bits_per_s=link.bits_per_s, tools=tools, tcp_space_max=self._tcp_space_max(system),
            about=parsers.parse_about(self.host.shell(ABOUT, *parsers.ABOUT_HARDWARE, check=False).stdout),
        )  # fmt: skip

    def _tcp_space_max(self, system: str) -> int | None:
        limit = parsers.parse_sysctl(self.host.run("sysctl", MAX_BUFFER, check=False).stdout).get(MAX_BUFFER)
        return largest(system, count(limit)) if limit else None


PLATFORM = MacOS
