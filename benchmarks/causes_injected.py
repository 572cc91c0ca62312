"""Causes that `causes.py` injects into a local lab, each with a strength. They end when the lab goes down.

An injector is called once the hosts are up and, where somebody else serves the share, once that serves. It returns
further factors of a sweep, and keys ``hosts_…`` of the hosts file.
"""

import math
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.local_lab import Bench
from support.measured import SERVER, Scene
from support.other_servers import RESTART_SAMBA
from support.scarce import quota, slow_disk

from lab.stats import limit, time_budget
from lab.stats.client_alone import ENCRYPTION
from lab.stats.limit import BESIDE, LINK, LOSSES, WINDOW
from lab.stats.time_budget import START_UP

CLIENT = "10.99.0.1"
RATE_MBIT = 200  # of the link, unless a cause sets another
# $1 the share of packets in ten thousand. At the receiver: a packet dropped by its sender is no loss to TCP
LOSE = """
add table inet causes
add chain inet causes arrive { type filter hook input priority 0; }
add rule inet causes arrive iifname eth0 meta l4proto tcp meta length > 200 numgen random mod 10000 < %d drop
"""
# $1 seconds stopped, $2 seconds running
PAUSE = r"""
setsid sh -c 'while :; do
    pkill -STOP -x "smbd|ganesha.nfsd"; sleep "$1"; pkill -CONT -x "smbd|ganesha.nfsd"; sleep "$2"
done' sh "$1" "$2" >/dev/null 2>&1 </dev/null &
"""
SLICE_S = 0.09  # of a server that is paused in turns


@dataclass(frozen=True)
class Place:
    """A local lab; ``scene``: who measures from its client alone, or None; ``stack`` ends what the lab does not."""

    bench: Bench
    scene: Scene | None
    stack: ExitStack
    folder: Path

    def sh(self, host: str, script: str, *words: object) -> str:
        """Run a script in a host as root."""
        done = self.bench.execute(host, "sh", "-c", script, "sh", *map(str, words))
        if done.returncode != 0:
            raise SystemExit(f"{host}: {script.strip()[:200]}: {done.stderr[-500:]}")
        return done.stdout

    def enter_network(self, host: str, *command: str, given: str = "") -> None:
        """Run a program of this machine in the network of a host."""
        words = ["nsenter", f"--net=/proc/{self.bench.init(host)}/ns/net", *command]
        subprocess.run(words, input=given, text=True, check=True)


Injector = Callable[[Place, float], Mapping[str, Any]]


def rated(host: str) -> Injector:
    """A host's end sends at a share of the link's rate."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        rate = f"{strength * RATE_MBIT * 1000:.0f}kbit"
        place.sh(host, 'tc qdisc replace dev eth0 root tbf rate "$1" burst 32kb latency 50ms', rate)
        return {}

    return inject


def losing(host: str, scale: float = 1.0) -> Injector:
    """A host loses some percent of the packets that come in."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        place.enter_network(host, "nft", "-f", "-", given=LOSE % round(100 * strength * scale))
        return {}

    return inject


def flooded(sender: str) -> Injector:
    """Somebody else sends a share of the link's rate over it, by UDP, which does not give way."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        receiver, address = ("server", SERVER) if sender == "client" else ("client", CLIENT)
        place.sh(receiver, "setsid iperf3 -s -p 5999 >/dev/null 2>&1 </dev/null & sleep 0.5")
        flood = 'setsid iperf3 -c "$1" -p 5999 -u -b "$2" -l 1400 -t 3000 >/dev/null 2>&1 </dev/null & sleep 1'
        place.sh(sender, flood, address, f"{strength * RATE_MBIT:.1f}M")
        return {}

    return inject


def shrunk(host: str, scale: float = 1.0) -> Injector:
    """A host's TCP offers a window of so many KiB at most to connections to come."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        place.sh(host, 'ip route replace 10.99.0.0/24 dev eth0 window "$1"', round(strength * scale * 1024))
        return {}

    return inject


def throttled(host: str, scale: float | None = None) -> Injector:
    """A host gets a share of one core."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        place.stack.enter_context(quota(place.bench.name, host, scale or strength))
        return {}

    return inject


def slow_stored(*, sync: bool = False, cold: bool = False, scale: float = 1.0) -> Injector:
    """The share lies on a disk of so many MB/s; ``sync``: the server waits for it; ``cold``: nothing is in memory."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        path = "/mnt/share/slow" if place.scene else "/srv/slow"
        speed = round(strength * scale * 1e6)
        place.stack.enter_context(slow_disk(place.bench.name, place.folder, path, speed))
        if not place.scene:
            return {"hosts_share_path": path, "size": "24 MiB"}
        place.sh(
            "server",
            f"chmod 777 {path}; sed -i '/labram/a strict sync = yes\\nsync always = yes' /run/servers/smb.conf",
        )
        place.sh("server", f"pkill -x smbd; while pgrep -x smbd; do sleep 0.1; done\n{RESTART_SAMBA}")
        if cold:
            drop = "while :; do echo 3 > /proc/sys/vm/drop_caches; sleep 0.2; done"
            process = subprocess.Popen(["/bin/sh", "-c", drop])
            place.stack.callback(process.wait)
            place.stack.callback(process.kill)
        return {"folder": "/slow"}

    return inject


def paused(place: Place, strength: float) -> Mapping[str, Any]:
    """The server's programs are stopped for a share of the time, in slices."""
    place.sh("server", PAUSE, f"{SLICE_S * strength:.4f}", f"{SLICE_S * (1 - strength):.4f}")
    return {}


def busy_core(place: Place, strength: float) -> Mapping[str, Any]:
    """Another program takes one core of this machine; seen from the client alone, one of its own."""
    if place.scene:
        place.sh("client", "setsid sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null &")
        return {}
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    place.stack.callback(process.wait)
    place.stack.callback(process.kill)
    return {}


def encrypted(place: Place, strength: float) -> Mapping[str, Any]:
    """Samba demands encryption; only where somebody else serves the share."""
    if place.scene:
        place.sh("server", "sed -i '/global/a server smb encrypt = required' /run/servers/smb.conf")
        place.sh("server", f"pkill -x smbd; while pgrep -x smbd; do sleep 0.1; done\n{RESTART_SAMBA}")
    return {}


def black_hole(place: Place, strength: float) -> Mapping[str, Any]:
    """Both ends have an MTU of 9000, and what lies between carries 1500: larger packets vanish without a word."""
    assert place.scene
    for host in ("client", "server"):
        place.sh(host, "ip link set eth0 mtu 9000; ethtool -K eth0 tso off gso off gro off")
    answers = f"lab\nWORKGROUP\n{place.scene.password}\n"
    mounted = place.scene.mount(f"smb://{SERVER}/labram", answers)
    place.sh("server", "ip link set eth0 mtu 1500")
    return {"target": mounted}


BOTH = ("write", "read")
WAY = (limit.ROUND_TRIPS, time_budget.ONE_REQUEST)
SIDE, CLIENT_CPU, SERVER_CPU = limit.SERVER, "client CPU", "server CPU"  # SIDE: the server's, as its client sees it
DISK = (limit.DISK, limit.FLUSH, SIDE)


@dataclass(frozen=True)
class Cause:
    """``inject(place, strength)`` makes it true and yields further factors of a sweep.

    ``right`` and ``half`` are names of verdicts; ``felt`` the directions that it slows down. ``options`` are those of
    ``lab local up``, with the strength as ``{}``. ``views``: what sees it, ``run``, ``measure`` or both.
    """

    name: str
    least: float
    most: float
    right: Sequence[str]
    inject: Injector = lambda place, strength: {}
    felt: Sequence[str] = BOTH
    half: Sequence[str] = ()
    options: Sequence[str] = ("--rate", "200mbit")
    views: Sequence[str] = ("run", "measure")
    factors: Mapping[str, Any] = field(default_factory=dict)

    def strength(self, chance: random.Random) -> float:
        """Drawn evenly on a logarithmic scale, with three digits."""
        return float(f"{math.exp(chance.uniform(math.log(self.least), math.log(self.most))):.3g}")


def paired(*causes: Injector) -> Injector:
    """Causes at the same time."""

    def inject(place: Place, strength: float) -> Mapping[str, Any]:
        return {key: value for cause in causes for key, value in cause(place, strength).items()}

    return inject


FAR = ("--rate", "200mbit", "--delay", "{}ms")
NEAR_FAR = ("--rate", "200mbit", "--delay", "4ms")
ON_DISK: Mapping[str, Any] = {"store": ["disk"], "protocol": ["nfs"]}
BLOCKS: Mapping[str, Any] = {"tool": ["dd"], "dd.bs": ["4 KiB"], "size": "2 MiB"}
MAIL: Mapping[str, Any] = {"workload": {"kind": "tree", "profile": "mail", "size": "4 MiB"}}
CAUSES = (
    Cause("rate of the link", 40, 400, [LINK], options=("--rate", "{}mbit")),
    Cause("rate of the client's end", 0.1, 0.5, [LINK], rated("client"), felt=["write"]),
    Cause("rate of the server's end", 0.1, 0.5, [LINK], rated("server"), felt=["read"]),
    Cause("delay", 3, 15, WAY, half=[START_UP], options=FAR, factors={"size": "32 MiB"}),
    Cause("losses to the server", 1, 4, [LOSSES], losing("server"), felt=["write"], options=NEAR_FAR),
    Cause("losses to the client", 1, 4, [LOSSES], losing("client"), felt=["read"], options=NEAR_FAR),
    Cause("others write", 0.5, 0.9, [LINK, BESIDE], flooded("client"), felt=["write"]),
    Cause("others read", 0.5, 0.9, [LINK, BESIDE], flooded("server"), felt=["read"]),
    Cause("small window of the server", 8, 40, [WINDOW], shrunk("server"), felt=["write"], options=NEAR_FAR),
    Cause("small window of the client", 8, 40, [WINDOW], shrunk("client"), felt=["read"], options=NEAR_FAR),
    Cause("small requests", 3, 10, [time_budget.SMALL_REQUESTS, *WAY], half=[START_UP], options=FAR, views=["run"],
          factors=BLOCKS),
    Cause("slow disk, flushed", 3, 9, DISK, slow_stored(sync=True), felt=["write"], factors=ON_DISK),
    Cause("slow disk, cold", 3, 9, DISK, slow_stored(cold=True), felt=["read"],
          factors={**ON_DISK, "server_cache": ["cold"]}),
    Cause("quota of the server", 0.04, 0.1, [SERVER_CPU, SIDE], throttled("server")),
    Cause("quota of the client", 0.04, 0.1, [CLIENT_CPU], throttled("client")),
    Cause("busy core", 1, 1, [LINK], busy_core),
    Cause("encryption on a slow server", 0.06, 0.15, [SERVER_CPU, SIDE], paired(encrypted, throttled("server")),
          half=[ENCRYPTION], factors={"protocol": ["smb"]}),
    Cause("server paused", 0.6, 0.85, [SIDE], paused, half=[time_budget.ONE_REQUEST, time_budget.PROGRAMS]),
    Cause("small files", 3, 8, [*WAY, START_UP], options=FAR, factors=MAIL),
    Cause("start of a small file", 5, 15, [START_UP, *WAY], options=FAR, views=["run"],
          factors={"size": "1 MiB", "tool": ["rsync"]}),
    Cause("black hole", 1, 1, [], black_hole, views=["measure"]),
    Cause("delay and a small window", 10, 40, [WINDOW, *WAY], paired(shrunk("server"), shrunk("client")),
          options=NEAR_FAR),
    Cause("slow disk and quota of the client", 0.05, 0.1, [CLIENT_CPU, *DISK],
          paired(slow_stored(sync=True, scale=80), throttled("client")), felt=["write"], factors=ON_DISK),
    Cause("quotas of both", 0.05, 0.1, [CLIENT_CPU, SERVER_CPU, SIDE],
          paired(throttled("server"), throttled("client"))),
    Cause("pauses and a small window", 0.6, 0.8, [SIDE, WINDOW], paired(paused, shrunk("server", scale=40)),
          felt=["write"], half=WAY, options=NEAR_FAR),
    Cause("others and a delay", 0.5, 0.8, [LINK, BESIDE, *WAY], flooded("client"), felt=["write"], options=NEAR_FAR),
    Cause("busy core and a slow end", 0.1, 0.4, [LINK], paired(rated("client"), busy_core), felt=["write"]),
    Cause("busy core and delay", 5, 15, WAY, busy_core, half=[START_UP], options=FAR, factors={"size": "32 MiB"}),
    Cause("losses and a slow server", 1, 3, [LOSSES, SERVER_CPU, SIDE],
          paired(losing("server"), throttled("server", scale=0.05)), felt=["write"], options=NEAR_FAR),
)  # fmt: skip
