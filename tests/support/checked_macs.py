"""Emulated Macs for `lab check`: one that fits every assumption, and two quiet ones with 10GBASE-T."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from lab.check import doctor
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.cli import main as cli
from lab.cli.check import LEVEL
from lab.hosts.host_config import HostConfig
from lab.hosts.hosts_file import load_hosts
from lab.platforms import Facts
from lab.platforms.macos.platform import MacOS
from support.emulated_mac import IFCONFIG, capture, mac
from support.fake_host import EmulatedHost
from support.input_files import HOSTS

REAL = (
    "sh", "perl", "grep", "sed", "cat", "env", "tail", "uniq", "awk", "id", "mkdir", "mktemp", "ps", "rm", "rmdir",
    "sleep",
)  # fmt: skip
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


Macs = dict[str, EmulatedHost]
ADDRESSES = {"client": "10.254.100.2", "server": "10.254.100.7"}
PMSET = """
case $2 in
batt) cat power ;;
*) printf 'System-wide power settings:\\nCurrently in use:\\n Sleep On Power Button 1\\n disksleep            10\\n'
   printf ' sleep                %s\\n lowpowermode         0\\n' "$(cat sleep)" ;;
esac
"""
PORTS = (
    "\nHardware Port: Ethernet\nDevice: en0\nEthernet Address: d0:11:e5:96:31:35\n\nHardware Port: Wi-Fi\nDevice: en1\n"
)
MORE_OF_IFCONFIG = "case $1 in -v) cat limit ;; -a) cat second ;; esac"
MORE = {
    "ifconfig": f'{IFCONFIG.rstrip()} | sed "s/10[.]254[.]100[.]2/$(cat address)/"\n{MORE_OF_IFCONFIG}',
    "uname": "case $1 in -s) echo Darwin ;; *) echo 25.4.0 ;; esac",
    "hostname": "echo mini",
    "route": 'cat "$MACOS_CAPTURES/route-gateway.txt"',
    "sw_vers": 'cat "$MACOS_CAPTURES/sw_vers-26.4.1.txt"',
    "networksetup": "cat ports",
    "ping": "exit 0",
    "pmset": PMSET,
    "tmutil": "printf 'Backup session status:\\n{\\n    Running = %s;\\n}\\n' \"$(cat backup)\"",
    "ps": "cat processes",
    "mdutil": 'printf "%s:\\n\\tIndexing enabled. \\n" "$2"',
    "df": "printf 'Filesystem 512-blocks Used Available Capacity  Mounted on\\n/dev/disk1s1 9 5 4096 56%%    /\\n'",
    "rsync": "echo 'openrsync: protocol version 29'",
    "ssh": "exit 255",
    "tar": "echo 'bsdtar 3.5.3 - libarchive 3.7.4'",
    "iperf3": "echo 'iperf 3.18 (cJSON 1.7.15)'",
    "dscl": "exit 56",
    **dict.fromkeys(("sshd", "ls", "ssh-keygen", "mount_smbfs", "mount_nfs", "nfsd", "sharing", "pwpolicy"), ""),
}
STATE = {
    "ports": PORTS, "power": "Now drawing from 'AC Power'\n", "sleep": "0\n", "backup": "0\n",
    "limit": "\tmax mtu: 9000\n", "second": "",
    "processes": "  0.3 /usr/libexec/bird\n 42.5 /Applications/Some App.app/Contents/MacOS/Some App\n",
}  # fmt: skip
SYSCTLS = """\
hw.memsize 17179869184
hw.ncpu 8
machdep.cpu.brand_string Apple M1
vm.loadavg { 1.20 1.10 1.00 }
vm.swapusage total = 0.00M  used = 0.00M  free = 0.00M  (encrypted)
"""


def machines_of(macs: Mapping[str, EmulatedHost]) -> dict[str, Machine]:
    """Both Macs as the check sees them, with the hosts file of the current folder."""
    config = load_hosts(Path("hosts.ini"))
    peers = {"client": config.server.data_address, "server": config.client.data_address}
    platforms = {role: MacOS(host) for role, host in macs.items()}
    return {
        role: Machine(role, config.section(role), macs[role], platform, platform.facts(peers[role]))
        for role, platform in platforms.items()
    }


def lines_of(findings: Iterable[Finding]) -> list[str]:
    remedies = ((each, f"  -> {each.remedy}" if each.remedy else "") for each in findings)
    return [f"{each.level:{LEVEL}} {each.subject}: {each.message}{remedy}" for each, remedy in remedies]


def checked(capsys: pytest.CaptureFixture[str]) -> list[str]:
    cli.main(["check"])
    return capsys.readouterr().out.splitlines()


def about(lines: list[str], subject: str) -> list[str]:
    return [line for line in lines if line[9:].startswith(f"{subject}:")]


@pytest.fixture
def macs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Macs:
    """Two quiet Macs, and a hosts file that names them."""
    made = {}
    for role in ("client", "server"):
        folder = tmp_path / role
        folder.mkdir()
        made[role] = mac(folder, known={"raw.maxdgram": "8192", "raw.recvspace": "8192"}, more=MORE, role=role)
        for name, text in {**STATE, "address": ADDRESSES[role]}.items():
            (folder / name).write_text(text)
        with (folder / "values").open("a") as file:
            file.write(SYSCTLS)

    monkeypatch.setattr(doctor, "SshHost", lambda role, _: made[role])
    monkeypatch.setenv("LAB_PASSWORD", "x")
    monkeypatch.chdir(tmp_path)
    text = HOSTS.replace("192.0.2.1", ADDRESSES["client"]).replace("192.0.2.2", ADDRESSES["server"])
    text = text.replace("[share]", "ram_disk = 256 MiB\n[share]\nserve = lab\npath = /srv")
    (tmp_path / "hosts.ini").write_text(text)
    return made
