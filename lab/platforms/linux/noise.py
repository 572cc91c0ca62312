"""What on a Linux host would disturb a measurement: power saving, sleep, backups, indexers, RAID checks, load, swap.

Everything is read from /proc and /sys, except whether systemd may sleep, which `systemctl is-enabled` reads from files.
"""

from __future__ import annotations

import re

from lab.base.scripts import read_script
from lab.hosts import Host
from lab.platforms.findings import Noise, Noises, load_noise, swap_noise

# A process is known by the first 15 characters of its name
BACKUPS = {
    "restic": "restic", "borg": "borg", "duplicity": "duplicity", "rsnapshot": "rsnapshot", "timeshift": "timeshift",
    "rclone": "rclone", "rsync": "an rsync of somebody else's", "btrfs": "a scrub or balance of btrfs",
    "updatedb": "updatedb", "updatedb.plocat": "updatedb", "updatedb.mlocat": "updatedb",
    "apt-get": "an installation by apt", "dpkg": "an installation by dpkg", "dnf": "an installation by dnf",
    "synoindexd": "the indexer of DSM", "fsck": "a check of a file system", "e2fsck": "a check of a file system",
}  # fmt: skip
INDEXERS = {
    "tracker-miner-f": "GNOME's indexer (tracker-miner-fs)", "localsearch-3": "GNOME's indexer (localsearch)",
    "baloo_file": "KDE's indexer (baloo)", "baloo_file_extr": "KDE's indexer (baloo)",
}  # fmt: skip
SLEEPERS = {
    "gsd-power": "GNOME", "org_kde_powerde": "KDE", "xfce4-power-man": "Xfce",
    "mate-power-mana": "MATE",
}  # fmt: skip
PROCESSES = "cat /proc/[0-9]*/comm 2>/dev/null; :"
POWER = read_script(__file__, "power.sh")
SLEEP = PROCESSES + '\necho "sleep.target $(systemctl is-enabled sleep.target 2>/dev/null)"'
LOAD = "cat /proc/loadavg; getconf _NPROCESSORS_ONLN"
MEMORY = "cat /proc/meminfo"
RAID = "cat /proc/mdstat 2>/dev/null; :"


def noises(host: Host) -> Noises:
    """The looks at a Linux host; each raises LabFailure, or ValueError for what it cannot read."""
    return {
        "power": lambda: parse_power(host.shell(POWER).stdout),
        "sleep": lambda: parse_sleep(host.shell(SLEEP).stdout),
        "backups and indexers": lambda: [
            *parse_processes(host.shell(PROCESSES).stdout),
            *parse_mdstat(host.shell(RAID).stdout),
        ],
        "load": lambda: parse_load(host.shell(LOAD).stdout),
        "swap": lambda: parse_meminfo(host.shell(MEMORY).stdout),
    }


def parse_power(text: str) -> list[Noise]:
    """Of lines ``governor DRIVER GOVERNOR`` and ``battery STATUS``.

    The governor powersave keeps the lowest frequency, but not with the drivers intel_pstate and amd-pstate-epp, where
    it is the usual one and follows the load (kernel: admin-guide/pm/intel_pstate, amd-pstate).
    """
    noises = []
    governors = re.findall(r"^governor (\S+) powersave$", text, re.MULTILINE)
    if set(governors) - {"intel_pstate", "amd-pstate-epp"}:
        remedy = "for the time of the run: `cpupower frequency-set -g performance` there"
        noises.append(Noise("the CPU governor is powersave: the processor stays at its lowest frequency", remedy))
    if re.search(r"^battery Discharging$", text, re.MULTILINE):
        noises.append(Noise("it runs on its battery", "plug it in, and keep its lid open"))
    return noises


def parse_sleep(text: str) -> list[Noise]:
    """Whether a desktop may send the machine to sleep: of process names, and of the line ``sleep.target STATE``."""
    processes = set(text.splitlines())
    desktops = sorted({SLEEPERS[name] for name in processes & set(SLEEPERS)})
    if not desktops or "sleep.target masked" in processes or "systemd-inhibit" in processes:
        return []
    remedy = "in a terminal there, while it measures: `systemd-inhibit --what=idle:sleep sleep infinity`"
    return [Noise(f"{' and '.join(desktops)} may send it to sleep when nobody types", remedy)]


def parse_processes(text: str) -> list[Noise]:
    """Backups and the like that run, and indexers that wait for files, of process names."""
    names = set(text.splitlines())
    running = sorted({BACKUPS[name] for name in names & set(BACKUPS)})
    waiting = sorted({INDEXERS[name] for name in names & set(INDEXERS)})
    noises = [
        Noise(f"{name} is running", "wait until it has ended, or stop it for the time of the run") for name in running
    ]
    noises += [
        Noise(f"{name} runs, and wakes up when files appear", "stop it for the time of the run", urgent=False)
        for name in waiting
    ]
    return noises


def parse_mdstat(text: str) -> list[Noise]:
    """Software RAID arrays that are being checked or rebuilt, of /proc/mdstat."""
    blocks = re.split(r"^(md\S*) : ", text, flags=re.MULTILINE)
    noises = []
    for array, block in zip(blocks[1::2], blocks[2::2], strict=True):
        if busy := re.search(r"\b(resync|recovery|reshape|check)\s*=\s*([\d.]+%)", block):
            remedy = f"wait until it has ended; a check can be stopped: `echo idle > /sys/block/{array}/md/sync_action`"
            noises.append(Noise(f"the RAID array {array} is at {busy[2]} of a {busy[1]}", remedy))
    return noises


def parse_load(text: str) -> list[Noise]:
    """Of /proc/loadavg, and the number of processors in the line after it."""
    match = re.fullmatch(r"([\d.]+) .*\n(\d+)\n", text)
    if not match:
        raise ValueError(f"the load cannot be read from {text[:80]!r}")
    return load_noise(float(match[1]), int(match[2]))


def parse_meminfo(text: str) -> list[Noise]:
    """The swap in use, of /proc/meminfo."""
    sizes = dict(re.findall(r"^(Swap(?:Total|Free)): *(\d+) kB$", text, re.MULTILINE))
    return swap_noise((int(sizes.get("SwapTotal", 0)) - int(sizes.get("SwapFree", 0))) * 1024)
