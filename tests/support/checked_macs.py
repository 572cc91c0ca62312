"""Two quiet Macs with 10GBASE-T, for `lab check`: each is a folder whose files say what it is like."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from lab.check import doctor
from lab.check.finding import Finding
from lab.check.machine import Machine
from lab.cli import main as cli
from lab.cli.check import LEVEL
from lab.hosts.hosts_file import load_hosts
from lab.platforms.macos.platform import MacOS
from support.emulated_mac import IFCONFIG, mac
from support.fake_host import EmulatedHost
from support.input_files import HOSTS

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


def quiet_mac(folder: Path, role: str) -> EmulatedHost:
    """One of them, in a folder that is there."""
    host = mac(folder, known={"raw.maxdgram": "8192", "raw.recvspace": "8192"}, more=MORE, role=role)
    for name, text in STATE.items():
        (folder / name).write_text(text)
    (folder / "address").write_text(ADDRESSES[role])
    with (folder / "values").open("a") as file:
        file.write(SYSCTLS)
    return host


def checked(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of `lab check`, one a finding."""
    cli.main(["check"])
    return capsys.readouterr().out.splitlines()


def machines_of(macs: Mapping[str, EmulatedHost]) -> dict[str, Machine]:
    """Both Macs as the parts of the check see them, by the hosts file of the current folder."""
    config = load_hosts(Path("hosts.ini"))
    peers = {"client": config.server.data_address, "server": config.client.data_address}
    platforms = {role: MacOS(host) for role, host in macs.items()}
    return {
        role: Machine(role, config.section(role), macs[role], platform, platform.facts(peers[role]))
        for role, platform in platforms.items()
    }


def lines_of(findings: Iterable[Finding]) -> list[str]:
    """Findings as `lab check` prints them."""
    remedies = ((each, f"  -> {each.remedy}" if each.remedy else "") for each in findings)
    return [f"{each.level:{LEVEL}} {each.subject}: {each.message}{remedy}" for each, remedy in remedies]


def about(lines: list[str], subject: str) -> list[str]:
    """Those of one subject."""
    return [line for line in lines if line[9:].startswith(f"{subject}:")]


@pytest.fixture
def macs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, EmulatedHost]:
    """Two quiet Macs, and a hosts file that leads to them."""
    made = {}
    for role in ("client", "server"):
        (tmp_path / role).mkdir()
        made[role] = quiet_mac(tmp_path / role, role)

    monkeypatch.setattr(doctor, "SshHost", lambda role, _: made[role])
    monkeypatch.setenv("LAB_PASSWORD", "x")
    monkeypatch.chdir(tmp_path)
    text = HOSTS.replace("192.0.2.1", ADDRESSES["client"]).replace("192.0.2.2", ADDRESSES["server"])
    text = text.replace("[share]", "ram_disk = 256 MiB\n[share]\nserve = lab\npath = /srv")
    (tmp_path / "hosts.ini").write_text(text)
    return made
