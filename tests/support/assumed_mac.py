"""A Mac that says what the lab assumes of one, and can be made to say something else."""

from collections.abc import Mapping
from pathlib import Path

from lab.check.machine import Machine
from lab.hosts.host_config import HostConfig
from lab.platforms import Facts
from lab.platforms.macos.platform import MacOS
from support.emulated_mac import capture
from support.fake_host import EmulatedHost

REAL = ("sh", "perl", "grep", "sed", "cat", "env", "tail", "uniq", "awk")
IOSTAT = """
echo "              disk0       cpu    load average"; echo "    KB/t  tps  MB/s  us sy id   1m   5m   15m"
for row in 1 2 3; do echo "   19.97   73  1.43   3  1 96  2.38 2.38 2.61"; done
"""
SYSCTL = """
for name in "$@"; do case $name in
*.maxdgram|*raw.recvspace) echo "$name: 8192" ;; *maxsockbuf) echo "$name: 8388608" ;; *) echo "$name: 131072" ;;
esac; done
"""
TCP = "tcp:\n\t12 packets sent\n\t\t9 data packets (99 bytes)\n\t\t1 data packet (1448 bytes) retransmitted\n"
ASSERTIONS = """\
Assertion status system-wide:
   PreventUserIdleSystemSleep     1
Listed by owning process:
   pid 4711(caffeinate): [0x0000] 00:00:01 PreventUserIdleSystemSleep named: "caffeinate command-line tool"
"""


def says(text: str) -> str:
    return f"cat <<'END'\n{text.rstrip()}\nEND\n"


AS_ASSUMED = {
    "sysctl": SYSCTL,
    "iostat": IOSTAT,
    "time": 'shift; "$@"; printf "real         0.01\\nuser         0.00\\nsys          0.00\\n" >&2',
    "netstat": f'if [ "$1" = -s ]; then {says(TCP)}else {says(capture("netstat-en0.txt"))}fi',
    "vm_stat": says(capture("vm_stat-16k-pages.txt") + "Swapouts:  0.\n"),
    "networksetup": "echo 'Valid MTU Range: 1280-9000'",
    "ifconfig": says(capture("ifconfig-10gbase-t.txt")),
    "ps": "echo '    1 194:39.66 launchd'",
    "pmset": says(ASSERTIONS),
    "hdiutil": says(capture("hdiutil-info-10.13.plist")),
    "mdutil": r"printf '/:\n\tIndexing enabled.\n'",
    "mount_smbfs": "echo 'usage: mount_smbfs [-N] [-o options] [-h] [-s] //server/share path' >&2; exit 64",
    "mount_afp": "echo 'usage: mount_afp [-i] [-o mount_options] afp_url node' >&2; exit 64",
    "smbutil": says(capture("smbutil-statshares-15.txt")),
    "sharing": says(capture("sharing-l-margin.txt")),
    "launchctl": '[ $# = 1 ] || exit 113; echo "usage: launchctl $1 [-w] paths..." >&2; exit 1',
    "pwpolicy": "echo SALTED-SHA512-PBKDF2; echo SMB-NT",
    "dseditgroup": '[ "$4" = you ] && echo "yes you is a member of staff"',
    "nfsd": '[ $# = 1 ] || exit 0; echo "nfsd service is disabled"; echo "nfsd is not running"; exit 1',
    "df": "echo '/dev/disk3s5 9 5 4 56% /System/Volumes/Data'",
    "stat": "echo 16777234 21473; echo 16777234 21473",
    "system_profiler": "echo '<plist version=\"1.0\">'",
    **dict.fromkeys(("caffeinate", "sleep", "newfs_hfs", "diskutil", "purge", "nfsstat", "rsync"), ""),
    "ping": 'for last in "$@"; do :; done; [ "$last" = 192.0.2.7 ] || exit 2',
}


def machine(
    folder: Path, changed: Mapping[str, str] | None = None, no_root: bool = False, system: str = "macOS 15.5 (24F74)"
) -> Machine:
    host = EmulatedHost(folder, AS_ASSUMED | dict(changed or {}), REAL)
    facts = Facts(
        "mini", "macos", system, "Darwin 24.5.0", "Apple M4", 10, 2**34, 2**33, "you", False,
        "/Users/you", "en0", 1500,
    )  # fmt: skip
    return Machine("client", HostConfig(host="mini", data_address="192.0.2.1"), host, MacOS(host), facts, no_root)
