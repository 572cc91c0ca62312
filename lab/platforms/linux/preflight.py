"""What would disturb a measurement on a Linux host: power saving, sleep, backups, indexers, RAID checks, load, swap.

Everything is read from /proc and /sys, except whether systemd may sleep, which `systemctl is-enabled` reads from files.
"""

import re

from lab.base.scripts import read_script
from lab.base.untrusted import count, match_of
from lab.platforms.facts import Facts
from lab.platforms.preflight import Disturbance, Looks, Preflight, judge_load, judge_swap
from lab.settings.tcp_reach import SYSTEM, Reach, ReachByVersion

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
SLEEPERS = {"gsd-power": "GNOME", "org_kde_powerde": "KDE", "xfce4-power-man": "Xfce", "mate-power-mana": "MATE"}
PROCESSES = "cat /proc/[0-9]*/comm 2>/dev/null; :"
POWER = read_script(__file__, "power.sh")
SLEEP = PROCESSES + '\necho "sleep.target $(systemctl is-enabled sleep.target 2>/dev/null)"'
LOAD = 'cat /proc/loadavg; grep -c "^cpu[0-9]" /proc/stat'
MEMORY = "cat /proc/meminfo"
RAID = "cat /proc/mdstat /proc/nmdstat 2>/dev/null; :"  # nmdstat: Unraid's driver on other systems
UNRAID = {"check": "parity check", "recon": "rebuild", "clear": "clearing of a disk"}


class LinuxPreflight(Preflight):
    """What a Linux host can tell before a run."""

    def disturbances(self, folder: str | None) -> Looks:
        return {
            "power": lambda: parse_power(self.host.shell(POWER).stdout),
            "sleep": lambda: parse_sleep(self.host.shell(SLEEP).stdout),
            "backups and indexers": lambda: [
                *parse_processes(self.host.shell(PROCESSES).stdout),
                *parse_mdstat(self.host.shell(RAID).stdout),
            ],
            "load": lambda: parse_load(self.host.shell(LOAD).stdout),
            "swap": lambda: parse_meminfo(self.host.shell(MEMORY).stdout),
        }

    def tcp_reach(self, facts: Facts, reach_by_version: ReachByVersion) -> Reach:
        """Every socket takes tcp_rmem and tcp_wmem unless its program sets sizes: none of those used here does."""
        return SYSTEM


def parse_power(text: str) -> list[Disturbance]:
    """Parse lines ``governor DRIVER GOVERNOR`` and ``battery STATUS``.

    The governor powersave keeps the lowest frequency. With the drivers intel_pstate and amd-pstate-epp it is the usual
    one and follows the load (kernel: admin-guide/pm/intel_pstate, amd-pstate).
    """
    disturbances = []
    governors = re.findall(r"^governor (\S+) powersave$", text, re.MULTILINE)
    if set(governors) - {"intel_pstate", "amd-pstate-epp"}:
        what = "the CPU governor is powersave: the processor stays at its lowest frequency"
        remedy = "for the time of the run: `cpupower frequency-set -g performance` there"
        disturbances.append(Disturbance(what, remedy))
    if re.search(r"^battery Discharging$", text, re.MULTILINE):
        disturbances.append(Disturbance("it runs on its battery", "plug it in, and keep its lid open"))
    return disturbances


def parse_sleep(text: str) -> list[Disturbance]:
    """Whether a desktop may put the machine to sleep, from process names and the line ``sleep.target STATE``."""
    processes = set(text.splitlines())
    desktops = sorted({SLEEPERS[name] for name in processes & set(SLEEPERS)})
    if not desktops or "sleep.target masked" in processes or "systemd-inhibit" in processes:
        return []
    remedy = "in a terminal there, while it measures: `systemd-inhibit --what=idle:sleep sleep infinity`"
    return [Disturbance(f"{' and '.join(desktops)} may send it to sleep when nobody types", remedy)]


def parse_processes(text: str) -> list[Disturbance]:
    """Backups and the like that run, and indexers that wait for files, of process names."""
    names = set(text.splitlines())
    running = sorted({BACKUPS[name] for name in names & set(BACKUPS)})
    waiting = sorted({INDEXERS[name] for name in names & set(INDEXERS)})
    end, stop = "wait until it has ended, or stop it for the time of the run", "stop it for the time of the run"
    return [
        *(Disturbance(f"{name} is running", end) for name in running),
        *(Disturbance(f"{name} runs, and wakes up when files appear", stop, urgent=False) for name in waiting),
    ]


def parse_mdstat(text: str) -> list[Disturbance]:
    """Software RAID arrays that are being checked or rebuilt, of /proc/mdstat.

    Unraid's driver has lines ``name=value`` there; its mdResync is 0 while nothing runs.
    """
    blocks = re.split(r"^(md\S*) : ", text, flags=re.MULTILINE)
    disturbances = []
    for array, block in zip(blocks[1::2], blocks[2::2], strict=True):
        if busy := re.search(r"\b(resync|recovery|reshape|check)\s*=\s*([\d.]+%)", block):
            remedy = f"wait until it has ended; a check can be stopped: `echo idle > /sys/block/{array}/md/sync_action`"
            disturbances.append(Disturbance(f"the RAID array {array} is at {busy[2]} of a {busy[1]}", remedy))
    values = dict(re.findall(r"^mdResync(|Pos|Size|Action)=(.*)$", text, re.MULTILINE))
    active, done, size = (count(values.get(name, "0").strip()) for name in ("", "Pos", "Size"))
    if active:
        action = UNRAID.get(values.get("Action", "").split(" ")[0], "parity check or rebuild")
        what = f"the array of Unraid is at {100 * done / max(size, 1):.1f} % of a {action}"
        disturbances.append(Disturbance(what, "wait until it has ended, or pause it"))
    return disturbances


def parse_load(text: str) -> list[Disturbance]:
    """Parse /proc/loadavg, and the number of processors in the line after it."""
    match = match_of(r"\A([\d.]+) .*\n(\d+)\n\Z", text, f"the load cannot be read from {text[:80]!r}")
    return judge_load(float(match[1]), int(match[2]))


def parse_meminfo(text: str) -> list[Disturbance]:
    """The swap in use, of /proc/meminfo."""
    sizes = dict(re.findall(r"^(Swap(?:Total|Free)): *(\d+) kB$", text, re.MULTILINE))
    return judge_swap((int(sizes.get("SwapTotal", 0)) - int(sizes.get("SwapFree", 0))) * 1024)
