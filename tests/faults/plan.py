"""Which sweeps are broken, where, and how: the cells of the matrix, from a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from .cell import Baseline, Cell
from .inject import KINDS, WHENS, Fault

SWEEP = """
name = "{name}"
blocks = 1
seed = {seed}
ceiling_seconds = 1.0
[workload]
size = "1 MiB"
[factors]
{factors}
"""
# As short as can be; together they send every kind of command that the lab has for a Linux host.
SWEEPS = {
    "network": """
protocol = ["ssh"]
tool = ["rsync"]
direction = ["write"]
mtu = [1500, 9000]
tcp_space = ["64 KiB"]
""",
    "smb": """
protocol = ["smb"]
direction = ["write", "read"]
mtu = [9000]
""",
    "nfs": """
protocol = ["nfs"]
direction = ["read"]
""",
    "afp": """
protocol = ["afp"]
direction = ["write"]
store = ["disk"]
""",
    "image": """
protocol = ["nfs"]
direction = ["read"]
store = ["ext4"]
""",
    "device": """
protocol = ["nfs"]
direction = ["read"]
store = ["btrfs"]
btrfs.disk = ["named"]
""",
}
# What only a Mac as the server has, and what only Linux has
OF_MACS = {
    "volume": """
protocol = ["nfs"]
direction = ["read"]
store = ["apfs"]
"""
}
OF_LINUX = ("image", "device")
# `lab restore` itself, after a run of this sweep was killed once this command had its effect: then most is changed.
RESTORE = "restore"
KILLED = ("smb", "-- check")
NAMES = (*SWEEPS, *OF_MACS, RESTORE)
# The sample for the test suite: (sweep, part of a command, kind, when). The first such command on the server.
SAMPLE = (
    ("network", "mkdir -m", "SIGKILL", "after"),
    ("network", "mount -t tmpfs", "hang", "after"),
    ("network", "ip link set dev eth0 mtu 9000", "SIGKILL", "after"),
    ("network", "ip link set dev eth0 mtu 9000", "error", "after"),
    ("network", "net/ipv4/tcp_rmem 4096", "reboot-server", "after"),
    ("network", "net/ipv4/tcp_rmem 4096", "SIGTERM", "before"),
    ("network", "ss -tmin", "full-controller", "before"),
    ("network", "-- check", "error", "after"),
    ("network", "-- check", "lost", "after"),
    ("smb", "smbpasswd", "hang", "before"),
    ("smb", "smbpasswd", "full-server", "after"),
    ("smb", "smbstatus --json", "server-killed", "before"),
    ("smb", "-- make", "SIGINT", "after"),
    ("smb", "ss -tmin", "reboot-client", "before"),
    ("image", "lazy_itable_init", "SIGKILL", "after"),
    ("device", "mkfs.btrfs", "SIGKILL", "after"),
    ("restore", "ip link set dev eth0 mtu 1500", "SIGKILL", "before"),
    ("restore", "umount", "lost", "after"),
)


def usual(has_mac_server: bool) -> list[str]:
    """The sweeps that such a server can have."""
    return [name for name in NAMES if name not in (OF_LINUX if has_mac_server else OF_MACS)]


def cells(baselines: Mapping[str, Baseline], kinds: Sequence[str], share: float, seed: int) -> list[Cell]:
    """Every cell, or a random share of them, in random order; the same for the same seed."""
    found = [
        Cell(sweep, Fault(sent.role, sent.number, kind, when))
        for sweep, baseline in baselines.items()
        for sent in baseline.sent.values()
        for kind in KINDS
        for at, when in enumerate(WHENS)
        if kind in kinds and (kind != "server-killed" or sent.daemons[at])
    ]
    chance = random.Random(seed)
    chance.shuffle(found)
    return found[: max(1, round(share * len(found)))]


def sample(baselines: Mapping[str, Baseline]) -> list[Cell]:
    """The cells of the sample."""
    found = []
    for sweep, words, kind, when in SAMPLE:
        found.append(Cell(sweep, first(baselines[sweep], words, kind, when)))
    return found


def first(baseline: Baseline, words: str, kind: str, when: str) -> Fault:
    """A fault at the first command to the server that has these words in it."""
    sent = next(each for each in baseline.sent.values() if each.role == "server" and words in each.text)
    return Fault(sent.role, sent.number, kind, when)


def parse(name: str) -> Cell:
    """The cell of this name. Raises ValueError."""
    sweep, site, kind, when = name.split("/")
    role, _, number = site.partition("-")
    if sweep not in NAMES or kind not in KINDS or when not in WHENS:
        raise ValueError(f"{name}: no such sweep, kind or time")
    return Cell(sweep, Fault(role, int(number), kind, when))
