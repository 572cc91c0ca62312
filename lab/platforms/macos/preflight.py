"""What `lab check` asks a Mac about what would disturb a measurement; and outputs that are kept for the tests."""

import re
import shlex
from collections.abc import Callable

from lab.base.scripts import beside, read_script
from lab.base.untrusted import match_of
from lab.hosts.assumptions import Capture, Version
from lab.platforms.facts import Facts
from lab.platforms.macos import parsers
from lab.platforms.preflight import Disturbance, Looks, Preflight, judge_load, judge_swap
from lab.settings.tcp_reach import Reach, ReachByVersion

BUSY_PERCENT = 10.0  # of one core, as ps averages it over about a minute
BUSY = {
    "mds": "Spotlight", "mds_stores": "Spotlight", "mdworker": "Spotlight", "mdworker_shared": "Spotlight",
    "backupd": "Time Machine", "bird": "iCloud Drive", "cloudd": "iCloud", "photoanalysisd": "Photos",
    "mediaanalysisd": "Photos", "photolibraryd": "Photos", "softwareupdated": "a software update",
    "XProtectService": "XProtect", "XProtect": "XProtect", "XProtectPluginService": "XProtect",
    "corespotlightd": "Spotlight", "spotlightknowledged": "Spotlight", "fileproviderd": "a cloud's files",
    "ANECompilerService": "machine learning", "duetexpertd": "Siri", "bztransmit": "Backblaze",
    "Dropbox": "Dropbox", "OneDrive": "OneDrive",
}  # fmt: skip
INDEX_STATE = re.compile("ndexing|[Nn]o index|Index is|Spotlight server is disabled|Server search enabled|invalid path")
SOCKETFILTERFW = "/usr/libexec/ApplicationFirewall/socketfilterfw"
FIREWALL = read_script(__file__, "firewall.sh")
STATUS = "if command -v tmutil >/dev/null; then tmutil status; fi"  # none before 10.7


def parse_pmset(text: str) -> list[Disturbance]:
    """Low Power Mode, of ``pmset -g``. Idle sleep disturbs nothing: a run keeps its hosts awake."""
    values = dict(re.findall(r"^\s(\S+)\s+(\d+.*?)\s*$", text, re.MULTILINE))
    if "sleep" not in values:
        raise ValueError(f"no line sleep in what `pmset -g` printed: {text[:80]!r}")
    if values.get("lowpowermode") != "1" and values.get("powermode") != "1":
        return []
    return [Disturbance("Low Power Mode is on", "switch it off for the time of the run: System Settings > Battery")]


def parse_battery(text: str) -> list[Disturbance]:
    """Where the power comes from, of ``pmset -g batt``."""
    problem = f"no power source in what `pmset -g batt` printed: {text[:80]!r}"
    source = match_of(r"(?:Now|Currently) drawing from '(.*?)'", text, problem)
    if source[1] == "AC Power":
        return []
    return [Disturbance(f"it runs on {source[1]}", "plug it in, and keep its lid open")]


def parse_tmutil(text: str) -> list[Disturbance]:
    """A running backup, from ``tmutil status``; the text is empty if there is no tmutil."""
    running = re.search(r"^\s*Running = (\d);", text, re.MULTILINE)
    if text and not running:
        raise ValueError(f"no line Running in what `tmutil status` printed: {text[:80]!r}")
    if not running or running[1] == "0":
        return []
    remedy = "wait until it has ended, or stop it: `sudo tmutil stopbackup` (switch automatic backups off meanwhile)"
    return [Disturbance("Time Machine is backing up", remedy)]


def parse_processes(text: str) -> list[Disturbance]:
    """Services of macOS that are at work, of ``ps -A -o pcpu= -o comm=``."""
    shares: dict[str, float] = {}
    for percent, path in re.findall(r"^\s*(\d+[.,]\d+)\s+(.*?)\s*$", text, re.MULTILINE):
        name = path.rsplit("/", 1)[-1]
        service = "XProtect" if name.startswith("XProtectRemediator") else BUSY.get(name)
        if service:
            shares[service] = shares.get(service, 0.0) + float(percent.replace(",", "."))
    remedy = "wait until it is done: `top -o cpu` shows it"
    return [
        Disturbance(f"{service} is at work ({share:.0f} % of a core)", remedy)
        for service, share in sorted(shares.items())
        if share >= BUSY_PERCENT
    ]


def parse_firewall(text: str) -> list[Disturbance]:
    """What the Application Firewall blocks, from lines of socketfilterfw; the text is empty if there is none.

    Its words differ by version: block all is ``DISABLED!``, ``set to disabled`` or ``set to block all …``; stealth mode
    is ``disabled`` or ``off``.
    """
    states = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    state = re.search(r"State = ([012])\)", states.get("globalstate", ""))
    if text and not state:
        raise ValueError(f"no state in what `socketfilterfw --getglobalstate` printed: {text[:80]!r}")
    if not state or state[1] == "0":
        return []
    disturbances = []
    blocks = re.search(r"(?i)to block all|is blocking all|enabled|is on", states.get("blockall", ""))
    if state[1] == "2" or blocks:
        what = "its firewall blocks all incoming connections: shares and iperf3 here are out of reach"
        remedy = f"for the time of the run: `sudo {SOCKETFILTERFW} --setblockall off`, afterwards `on`"
        disturbances.append(Disturbance(what, remedy))
    else:
        what = (
            "its firewall is on: before a program that Apple has not signed is reached, the Mac asks on its own screen"
        )
        remedy = f"where this Mac is the server: `sudo {SOCKETFILTERFW} --add $(command -v iperf3)`, or answer there"
        disturbances.append(Disturbance(what, remedy, urgent=False))
    if re.search(r"(?i)enabled|is on", states.get("stealthmode", "")):
        what = "its firewall answers no ping (stealth mode): whether large packets pass cannot be seen"
        remedy = f"for the time of the run: `sudo {SOCKETFILTERFW} --setstealthmode off`, then `on`"
        disturbances.append(Disturbance(what, remedy))
    return disturbances


def parse_mdutil(text: str, folder: str) -> list[Disturbance]:
    """Whether Spotlight indexes the volume of a folder, and so each new file in it, of ``mdutil -s VOLUME``."""
    if not INDEX_STATE.search(text):
        raise ValueError(f"no state in what `mdutil -s` printed: {text[:80]!r}")
    if "Indexing enabled" not in text:
        return []
    # the volume is alone on the first line; indexing of the data volume is switched at /
    volume = text.split("\n")[0].strip().removesuffix(":")
    volume = shlex.quote("/" if volume == "/System/Volumes/Data" else volume)
    remedy = (
        f"for the time of the run: `sudo mdutil -i off {volume}`, afterwards `-i on`; the lab's RAM disk is left out"
    )
    return [Disturbance(f"Spotlight indexes what is written into {folder}", remedy, urgent=False)]


def parse_load(text: str) -> list[Disturbance]:
    """Parse ``sysctl vm.loadavg hw.ncpu``, which may print decimal commas in every locale."""
    pattern = r"^vm\.loadavg: \{ (\d+)[.,](\d+) .*\nhw\.ncpu: (\d+)$"
    match = match_of(pattern, text, f"the load cannot be read from {text[:80]!r}")
    return judge_load(float(f"{match[1]}.{match[2]}"), int(match[3]))


def parse_swap(text: str) -> list[Disturbance]:
    """The swap in use, of ``sysctl vm.swapusage``."""
    used = match_of(r"used = (\d+)[.,](\d+)M", text, f"the swap in use cannot be read from {text[:80]!r}")
    return judge_swap(round(float(f"{used[1]}.{used[2]}") * 1024**2))


CAPTURES = (
    Capture(name="sw_vers", ask="sw_vers", parse=parsers.parse_sw_vers),
    Capture(name="sysctl-hardware", ask=f"sysctl {' '.join(parsers.HARDWARE)}", parse=parsers.parse_hardware),
    Capture(name="route", ask='route -n get "$2"', parse=parsers.parse_route),
    Capture(name="ifconfig-v", ask='ifconfig -v "$1"', parse=parsers.parse_ifconfig),
    Capture(name="networksetup-ports", ask="networksetup -listallhardwareports", parse=parsers.parse_ports),
    Capture(name="networksetup-mtu", ask='networksetup -listvalidMTUrange "$1"', parse=parsers.parse_mtu_range),
    Capture(name="vm_stat", ask="vm_stat", parse=parsers.parse_memory),
    Capture(name="hdiutil-info", ask="hdiutil info -plist", parse=parsers.parse_images),
    Capture(name="pmset", ask="pmset -g", parse=parse_pmset),
    Capture(name="pmset-batt", ask="pmset -g batt", parse=parse_battery),
    Capture(name="tmutil", ask=STATUS, parse=parse_tmutil),
    Capture(name="mdutil", ask="mdutil -s /", parse=lambda text: parse_mdutil(text, "/")),
    Capture(name="firewall", ask=FIREWALL, parse=parse_firewall),
    Capture(name="load", ask="sysctl vm.loadavg hw.ncpu", parse=parse_load),
    Capture(name="swap", ask="sysctl vm.swapusage", parse=parse_swap),
    Capture(name="launchctl-disabled", ask="launchctl print-disabled system", parse=str, root=True, since=(10, 10)),
)


NAMES = read_script(__file__, "names.sh")
# mdutil wants a volume: where the folder's file system is mounted is the last column, which may have blanks
INDEXED = r"""
volume=$(df -P "$1" | sed -n '2s/^.*% *\(\/.*\)$/\1/p') && mdutil -s "$volume"
"""
UNSCALED = (14, 0)  # from here on a buffer may be as large as the limit of the kernel


class MacPreflight(Preflight):
    """What a Mac can tell before a run."""

    assumption_files = (beside(__file__, "assumptions.toml"), beside(__file__, "assumptions_of_runs.toml"))
    captures = CAPTURES

    def disturbances(self, folder: str | None) -> Looks:
        looks: dict[str, Callable[[], list[Disturbance]]] = {
            "power": lambda: [
                *parse_pmset(self.host.run("pmset", "-g").stdout),
                *parse_battery(self.host.run("pmset", "-g", "batt").stdout),
            ],
            "backups and indexers": lambda: [
                *parse_tmutil(self.host.shell(STATUS).stdout),
                *parse_processes(self.host.run("ps", "-A", "-o", "pcpu=", "-o", "comm=").stdout),
            ],
            "firewall": lambda: parse_firewall(self.host.shell(FIREWALL, SOCKETFILTERFW).stdout),
            "load": lambda: parse_load(self.host.run("sysctl", "vm.loadavg", "hw.ncpu").stdout),
            "swap": lambda: parse_swap(self.host.run("sysctl", "vm.swapusage").stdout),
        }
        if folder is not None:
            looks["Spotlight"] = lambda: parse_mdutil(self.host.shell(INDEXED, folder).stdout, folder)
        return looks

    def names(self) -> dict[str, list[str]]:
        return parse_names(self.host.shell(NAMES, check=False).stdout)

    def version(self, facts: Facts) -> Version | None:
        return parse_version(facts.os)

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        return tcp_reach(facts.os, reach_by_version)


def parse_names(text: str) -> dict[str, list[str]]:
    """Names by kind, of lines ``kind name``."""
    names: dict[str, list[str]] = {}
    for line in text.splitlines():
        kind, _, name = line.partition(" ")
        names.setdefault(kind, []).append(name)
    return names


def tcp_reach(system: str, reach_by_version: ReachByVersion) -> Reach:
    """The reach at the version of ``system``, which is such as ``macOS 14.4 (23E214)``."""
    version = parse_version(system)
    if version is None:
        return Reach(None, f"its version cannot be read from {system!r}")
    begun = [since for since in reach_by_version if since <= version]
    return reach_by_version[max(begun)] if begun else Reach(None, "nothing is known about its sockets on this version")


def largest(system: str, limit: int) -> int:
    """The largest TCP buffer in bytes if kern.ipc.maxsockbuf is ``limit``.

    Before macOS 14 the kernel keeps room for the bookkeeping of each 2 KiB (xnu: uipc_socket2.c, tcp_usrreq.c).
    """
    version = parse_version(system)
    return limit if version and version >= UNSCALED else limit // 2304 * 2048


def parse_version(system: str) -> Version | None:
    """Major and minor version in the name of a system."""
    match = re.search(r"\b([0-9]{1,4})\.([0-9]{1,4})", system)
    return (int(match[1]), int(match[2])) if match else None
