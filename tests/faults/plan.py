"""The cells of the matrix, drawn by seed: which sweeps, at which commands, with which faults."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from .cell import Baseline, Cell
from .inject import Fault
from .kinds import KINDS, WHENS

Factors = dict[str, list[object]]

# Sweeps that are as short as possible; together they send every kind of command for a Linux host
SWEEPS: dict[str, Factors] = {
    "network": {
        "protocol": ["ssh"], "tool": ["rsync"], "direction": ["write"], "mtu": [1500, 9000], "tcp_space": ["64 KiB"]
    },
    "smb": {"protocol": ["smb"], "direction": ["write", "read"], "mtu": [9000]},
    "nfs": {"protocol": ["nfs"], "direction": ["read"]},
    "afp": {"protocol": ["afp"], "direction": ["write"], "store": ["disk"]},
    "image": {"protocol": ["nfs"], "direction": ["read"], "store": ["ext4"]},
    "device": {"protocol": ["nfs"], "direction": ["read"], "store": ["btrfs"], "btrfs.disk": ["named"]},
}  # fmt: skip
# Sweeps that need a Mac as the server, and sweeps that need Linux
MAC_SWEEPS: dict[str, Factors] = {"volume": {"protocol": ["nfs"], "direction": ["read"], "store": ["apfs"]}}
LINUX_ONLY = ("image", "device")
# Sweeps that need three clients; the others would be the same there
CLIENT_SWEEPS: dict[str, Factors] = {
    "clients": {"protocol": ["smb"], "direction": ["write"], "mtu": [9000], "clients": [3]}
}
# Sweeps that need guests with ZFS: a pool on disks that lie about their sectors, imported again before each read
POOL: Factors = {"store": ["zfs"], "server_cache": ["cold"], "zfs.disks": ["512e"]}
ZFS_SWEEPS: dict[str, Factors] = {"pool": {"protocol": ["nfs"], "direction": ["read"], **POOL}}
ALL = SWEEPS | MAC_SWEEPS | CLIENT_SWEEPS | ZFS_SWEEPS
# `lab restore`, after a run of this sweep was killed at this command, when most is changed
RESTORE = "restore"
KILLED = ("smb", "server", "-- check")
NAMES = (*ALL, RESTORE)
# Samples for the test suite: (sweep, host, part of a command, kind and time of each fault). Each fault strikes at the
# first such command that its kind can strike.
SAMPLES = {
    "commands": (
        ("network", "server", "mkdir -m", "SIGKILL/after"),
        ("network", "server", "mount -t tmpfs", "hang/after"),
        ("network", "server", "ip link set dev eth0 mtu 9000", "SIGKILL/after error/after"),
        ("network", "server", "net/ipv4/tcp_rmem 4096", "reboot-server/after SIGTERM/before"),
        ("network", "server", "ss -tmin", "full-controller/before"),
        ("network", "server", "-- check", "error/after lost/after"),
        ("smb", "server", "smbpasswd", "hang/before full-server/after"),
        ("smb", "server", "smbstatus --json", "server-killed/before"),
        ("smb", "server", "-- make", "SIGINT/after"),
        ("smb", "server", "ss -tmin", "reboot-client/before"),
        ("image", "server", "lazy_itable_init", "SIGKILL/after"),
        ("device", "server", "mkfs.btrfs", "SIGKILL/after"),
        ("restore", "server", "ip link set dev eth0 mtu 1500", "SIGKILL/before"),
        ("restore", "server", "umount", "lost/after"),
        ("clients", "client.2", "ip link set dev eth0 mtu 9000", "SIGKILL/after"),
        ("clients", "client.3", " together cp ", "reboot-client.3/after"),
        ("clients", "client.2", " together cp ", "lost/before"),
        ("clients", "client", " together cp ", "SIGKILL/after"),
        ("clients", "client.3", "-- make", "SIGINT/after"),
        ("clients", "server", "-- check", "error/after"),
        ("pool", "server", "modprobe zfs", "SIGKILL/after"),
        ("pool", "server", "zpool create", "error/after lost/after SIGKILL/after reboot-server/after"),
        ("pool", "server", "zpool import -d", "SIGTERM/before"),
    ),
    "moments": (
        ("network", "client", "stopwatch.pl", "server-killed/during clock-back-controller/during"),
        ("network", "client", "stopwatch.pl", "link-silent-20/during"),
        ("network", "controller", "state/", "full-controller/before"),
        ("network", "controller", "run.json", "full-controller/before"),
        ("network", "server", "-- check", "lie-cut/after"),
        ("network", "client", "ip -o", "lie-other/after"),
        ("smb", "client", "stopwatch.pl", "server-killed/during mount-killed/during link-down-2/during"),
        ("smb", "server", "net/ipv4/tcp", "clock-ahead-server/before"),
        ("smb", "server", "smbstatus --json", "lie-utf8/after"),
        ("smb", "server", "smbpasswd", "lie-endless/after"),
        ("smb", "controller", "journal.jsonl", "full-controller/before"),
        ("smb", "controller", "trials.jsonl", "full-controller/before"),
        ("smb", "controller", "samples.jsonl", "full-controller/before"),
        ("nfs", "client", "stopwatch.pl", "server-stopped/during"),
        ("afp", "client", "stopwatch.pl", "server-killed/during"),
    ),
}


def usual(has_mac_server: bool, clients: int, has_zfs: bool) -> list[str]:
    """The sweeps that these labs can run."""
    if clients > 1:
        return list(CLIENT_SWEEPS)
    if has_zfs:
        return list(ZFS_SWEEPS)
    left_out = (*CLIENT_SWEEPS, *ZFS_SWEEPS, *(LINUX_ONLY if has_mac_server else MAC_SWEEPS))
    return [name for name in NAMES if name not in left_out]


def cells(
    baselines: Mapping[str, Baseline],
    kinds: Sequence[str],
    whens: Sequence[str],
    share: float,
    most_alike: int | None,
    seed: int,
) -> list[Cell]:
    """Every cell, or a random share, in random order by seed; at most ``most_alike`` of one sweep, kind and time."""
    possible = [
        Cell(sweep, Fault(sent.role, sent.number, kind, when))
        for sweep, baseline in baselines.items()
        for sent in baseline.sent.values()
        for kind in kinds
        for when in whens
        if KINDS[kind].can_strike(sent, when)
    ]
    random.Random(seed).shuffle(possible)
    count: Counter[tuple[str, str, str]] = Counter()
    kept = []
    for cell in possible:
        alike = cell.sweep, cell.fault.kind, cell.fault.when
        count[alike] += 1
        kept += [cell] if most_alike is None or count[alike] <= most_alike else []
    return kept[: max(1, round(share * len(possible)))]


def sample(baselines: Mapping[str, Baseline], name: str) -> list[Cell]:
    return [
        Cell(sweep, first(baselines[sweep], host, words, *fault.split("/")))
        for sweep, host, words, faults in SAMPLES[name] if sweep in baselines
        for fault in faults.split()
    ]  # fmt: skip


def first(baseline: Baseline, host: str, words: str, kind: str, when: str) -> Fault:
    """A fault at the first command to a host that has these words and that the kind can strike."""
    sent = next(
        command for command in baseline.sent.values()
        if command.role == host and words in command.text and KINDS[kind].can_strike(command, when)
    )  # fmt: skip
    return Fault(sent.role, sent.number, kind, when)


def parse(name: str) -> Cell:
    """The cell of this name. Raises ValueError."""
    sweep, site, kind, when = name.split("/")
    role, _, number = site.partition("-")
    if sweep not in NAMES or kind not in KINDS or when not in WHENS:
        raise ValueError(f"{name}: no such sweep, kind or time")
    return Cell(sweep, Fault(role, int(number), kind, when))
