"""What on a Mac would disturb a measurement: power, Time Machine, Spotlight, busy services, firewall, load, swap."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.platforms.findings import Noise, Noises, load_noise, swap_noise

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
# mdutil wants a volume: where the folder's file system is mounted is the last column, which may have blanks
INDEXED = r"""
volume=$(df -P "$1" | sed -n '2s/^.*% *\(\/.*\)$/\1/p') && mdutil -s "$volume"
"""
INDEX_STATE = re.compile("ndexing|No index|no index|Spotlight server is disabled|Server search enabled|invalid path")
SOCKETFILTERFW = "/usr/libexec/ApplicationFirewall/socketfilterfw"
FIREWALL = read_script(__file__, "firewall.sh")
STATUS = "if command -v tmutil >/dev/null; then tmutil status; fi"  # none before 10.7


def noises(host: Host, folder: str | None) -> Noises:
    """The looks at a Mac; ``folder`` is one on a disk that shared files are in.

    Each raises LabFailure, or ValueError for what it cannot read.
    """
    looks: dict[str, Callable[[], list[Noise]]] = {
        "power": lambda: [
            *parse_pmset(host.run("pmset", "-g").stdout),
            *parse_battery(host.run("pmset", "-g", "batt").stdout),
        ],
        "backups and indexers": lambda: [
            *parse_tmutil(host.shell(STATUS).stdout),
            *parse_processes(host.run("ps", "-A", "-o", "pcpu=", "-o", "comm=").stdout),
        ],
        "firewall": lambda: parse_firewall(host.shell(FIREWALL, SOCKETFILTERFW).stdout),
        "load": lambda: parse_load(host.run("sysctl", "vm.loadavg", "hw.ncpu").stdout),
        "swap": lambda: parse_swap(host.run("sysctl", "vm.swapusage").stdout),
    }
    if folder is not None:
        looks["Spotlight"] = lambda: parse_mdutil(host.shell(INDEXED, folder).stdout, folder)
    return looks


def parse_pmset(text: str) -> list[Noise]:
    """Low Power Mode, of ``pmset -g``. Idle sleep is no noise: a run keeps its hosts awake."""
    values = dict(re.findall(r"^\s(\S+)\s+(\d+.*?)\s*$", text, re.MULTILINE))
    if "sleep" not in values:
        raise ValueError(f"no line sleep in what `pmset -g` printed: {text[:80]!r}")
    if values.get("lowpowermode") != "1" and values.get("powermode") != "1":
        return []
    return [Noise("Low Power Mode is on", "switch it off for the time of the run: System Settings > Battery")]


def parse_battery(text: str) -> list[Noise]:
    """Where the power comes from, of ``pmset -g batt``."""
    source = re.search(r"(?:Now|Currently) drawing from '(.*?)'", text)
    if not source:
        raise ValueError(f"no power source in what `pmset -g batt` printed: {text[:80]!r}")
    if source[1] == "AC Power":
        return []
    return [Noise(f"it runs on {source[1]}", "plug it in, and keep its lid open")]


def parse_tmutil(text: str) -> list[Noise]:
    """A backup that is running, of ``tmutil status``; of no text at all, where there is no tmutil."""
    running = re.search(r"^\s*Running = (\d);", text, re.MULTILINE)
    if text and not running:
        raise ValueError(f"no line Running in what `tmutil status` printed: {text[:80]!r}")
    if not running or running[1] == "0":
        return []
    remedy = "wait until it has ended, or stop it: `sudo tmutil stopbackup` (switch automatic backups off meanwhile)"
    return [Noise("Time Machine is backing up", remedy)]


def parse_processes(text: str) -> list[Noise]:
    """Services of macOS that are at work, of ``ps -A -o pcpu= -o comm=``."""
    shares: dict[str, float] = {}
    for percent, path in re.findall(r"^\s*(\d+[.,]\d+)\s+(.*?)\s*$", text, re.MULTILINE):
        name = path.rsplit("/", 1)[-1]
        service = "XProtect" if name.startswith("XProtectRemediator") else BUSY.get(name)
        if service:
            shares[service] = shares.get(service, 0.0) + float(percent.replace(",", "."))
    remedy = "wait until it is done: `top -o cpu` shows it"
    return [
        Noise(f"{service} is at work ({share:.0f} % of a core)", remedy)
        for service, share in sorted(shares.items())
        if share >= BUSY_PERCENT
    ]


def parse_firewall(text: str) -> list[Noise]:
    """What the Application Firewall keeps out, of lines of socketfilterfw; of no text at all, where there is none.

    Its words differ by version: block all is ``DISABLED!``, ``set to disabled`` or ``set to block all …``; stealth mode
    is ``disabled`` or ``off``.
    """
    states = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    state = re.search(r"State = ([012])\)", states.get("globalstate", ""))
    if text and not state:
        raise ValueError(f"no state in what `socketfilterfw --getglobalstate` printed: {text[:80]!r}")
    if not state or state[1] == "0":
        return []
    noises = []
    blocks = re.search(r"(?i)to block all|is blocking all|enabled|is on", states.get("blockall", ""))
    if state[1] == "2" or blocks:
        remedy = f"for the time of the run: `sudo {SOCKETFILTERFW} --setblockall off`, afterwards `on`"
        noises.append(
            Noise("its firewall blocks all incoming connections: shares and iperf3 here are out of reach", remedy)
        )
    else:
        what = (
            "its firewall is on: before a program that Apple has not signed is reached, the Mac asks on its own screen"
        )
        remedy = f"where this Mac is the server: `sudo {SOCKETFILTERFW} --add $(command -v iperf3)`, or answer there"
        noises.append(Noise(what, remedy, urgent=False))
    if re.search(r"(?i)enabled|is on", states.get("stealthmode", "")):
        what = "its firewall answers no ping (stealth mode): whether large packets pass cannot be seen"
        noises.append(Noise(what, f"for the time of the run: `sudo {SOCKETFILTERFW} --setstealthmode off`, then `on`"))
    return noises


def parse_mdutil(text: str, folder: str) -> list[Noise]:
    """Whether Spotlight indexes the volume of a folder, and so each new file in it, of ``mdutil -s VOLUME``."""
    if not INDEX_STATE.search(text):
        raise ValueError(f"no state in what `mdutil -s` printed: {text[:80]!r}")
    if "Indexing enabled" not in text:
        return []
    # the volume stands alone on the first line; that of the user's data takes no switch of its own
    volume = text.split("\n")[0].strip().removesuffix(":")
    volume = shlex.quote("/" if volume == "/System/Volumes/Data" else volume)
    remedy = (
        f"for the time of the run: `sudo mdutil -i off {volume}`, afterwards `-i on`; the lab's RAM disk is left out"
    )
    return [Noise(f"Spotlight indexes what is written into {folder}", remedy, urgent=False)]


def parse_load(text: str) -> list[Noise]:
    """Of ``sysctl vm.loadavg hw.ncpu``; decimal commas may stand there, whatever the locale of the command."""
    match = re.search(r"^vm\.loadavg: \{ (\d+)[.,](\d+) .*\nhw\.ncpu: (\d+)$", text, re.MULTILINE)
    if not match:
        raise ValueError(f"the load cannot be read from {text[:80]!r}")
    return load_noise(float(f"{match[1]}.{match[2]}"), int(match[3]))


def parse_swap(text: str) -> list[Noise]:
    """The swap in use, of ``sysctl vm.swapusage``."""
    used = re.search(r"used = (\d+)[.,](\d+)M", text)
    if not used:
        raise ValueError(f"the swap in use cannot be read from {text[:80]!r}")
    return swap_noise(round(float(f"{used[1]}.{used[2]}") * 1024**2))
