"""The check as a whole, on two emulated Macs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.emulated_mac import IFCONFIG, mac
from support.fake_host import EmulatedHost
from support.input_files import HOSTS

from lab.base.errors import HostError
from lab.check import doctor
from lab.check import programs as program_check
from lab.check.machine import Machine
from lab.cli import main as cli
from lab.hosts import Result
from lab.hosts.hosts_file import HostConfig, load_hosts
from lab.platforms.macos.platform import MacOS

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
    "iperf3": "echo 'iperf 3.18 (cJSON 1.7.15)'",
    "sshd": "",
    "ls": "",
    "ssh-keygen": "",
    "mount_smbfs": "",
    "mount_nfs": "",
    "nfsd": "",
    "sharing": "",
    "dscl": "exit 56",
    "pwpolicy": "",
}  # fmt: skip
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


@pytest.fixture
def macs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, EmulatedHost]:
    """Two Macs with 10GBASE-T, and a hosts file that leads to them."""
    made = {}
    for role in ("client", "server"):
        folder = tmp_path / role
        folder.mkdir()
        made[role] = mac(folder, known={"raw.maxdgram": "8192", "raw.recvspace": "8192"}, more=MORE, role=role)
        for name, text in STATE.items():
            (folder / name).write_text(text)
        (folder / "address").write_text(ADDRESSES[role])
        with (folder / "values").open("a") as file:
            file.write(SYSCTLS)

    def connect(role: str, _: HostConfig) -> EmulatedHost:
        return made[role]

    monkeypatch.setattr(doctor, "SshHost", connect)
    monkeypatch.setenv("LAB_PASSWORD", "x")
    monkeypatch.chdir(tmp_path)
    text = HOSTS.replace("192.0.2.1", ADDRESSES["client"]).replace("192.0.2.2", ADDRESSES["server"])
    (tmp_path / "hosts.ini").write_text(
        text.replace("[share]", "ram_disk = 256 MiB\n[share]\nserve = lab\npath = /srv")
    )
    return made


def checked(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of `lab check`, one a finding."""
    cli.main(["check"])
    return capsys.readouterr().out.splitlines()


def about(lines: list[str], subject: str) -> list[str]:
    return [line for line in lines if line[9:].startswith(f"{subject}:")]


def test_two_quiet_macs(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    lines = checked(capsys)
    assert about(lines, "client system") == [
        "ok       client system: mini: macOS 26.4.1 (25E253), Darwin 25.4.0, 8 cores, 16.0 GiB of memory"
    ]
    assert about(lines, "client address")[0].startswith("ok ")
    assert about(lines, "client interface") == ["ok       client interface: en0, 10 Gbit/s, full duplex, MTU 1500"]
    assert about(lines, "server memory") == ["ok       server memory: ram_disk = 256 MiB; 11791 MiB are free"]
    assert about(lines, "client clock")[0].startswith("ok ")
    quiet = "ok       client quiet: nothing that disturbs in power, backups and indexers, firewall, load, swap"
    assert about(lines, "client quiet") == [quiet]
    assert about(lines, "nfs")[0] == "ok       nfs: client: kernel nfs; server: served by nfsd"
    assert about(lines, "nfs options") == [
        "note     nfs options: client: nfs.nconnect cannot be named: the nfs of a Mac knows no such option"
    ]
    assert "server: this macOS has no SMB server of its own" in about(lines, "smb")[0]
    assert [line.partition("  -> ")[0] for line in about(lines, "afp")] == [
        "warning  afp: client: no mount_afp: macOS 27 has removed its AFP client",
        "warning  afp: server: this macOS has no AFP server: 11 and later have none",
    ]
    assert about(lines, "ssh")[0].startswith("ok ")
    assert about(lines, "link path") == ["ok       link path: packets of MTU 1500 cross it in one piece, and back"]
    assert "-> `lab check --jumbo`" in about(lines, "link MTU")[0]
    assert about(lines, "client Spotlight") == []  # nothing of the client's is on a disk
    assert not [line for line in lines if "could not be looked at" in line]


def test_what_disturbs_on_a_mac(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    noise = {
        "power": "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t78%; discharging\n",
        "backup": "1\n",
        "processes": " 61.0 /System/Library/Frameworks/Metadata.framework/Support/mds_stores\n  9.5 mds\n",
        "limit": "\ttype: Wi-Fi\n",
        "ports": PORTS.replace("Wi-Fi", "WLAN"),  # of a Mac that speaks German
    }
    for name, text in noise.items():
        (macs["client"].folder / name).write_text(text)
    values = macs["client"].folder / "values"
    values.write_text(values.read_text().replace("{ 1.20", "{ 7,90").replace("used = 0.00M", "used = 407.50M"))
    lines = checked(capsys)
    assert [line.partition("  -> ")[0] for line in about(lines, "client power")] == [
        "warning  client power: it runs on Battery Power",
    ]
    assert [line.partition("  -> ")[0] for line in about(lines, "client backups and indexers")] == [
        "warning  client backups and indexers: Time Machine is backing up",
        "warning  client backups and indexers: Spotlight is at work (70 % of a core)",
    ]
    assert "the load average is 7.9 on 8 cores" in about(lines, "client load")[0]
    assert about(lines, "client swap")[0].startswith("note     client swap: 408 MiB")
    assert "wireless" in about(lines, "client interface")[0]
    assert about(lines, "client quiet") == ["ok       client quiet: nothing that disturbs in firewall"]
    assert about(lines, "server quiet")[0].startswith("ok ")


def test_two_macs_with_a_second_network(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    """Over which SMB would send, too; and data addresses that are wrong."""
    for number, role in enumerate(("client", "server"), 5):
        second = f"en1: flags=8863<UP> mtu 1500\n\tinet 192.168.8.{number} netmask 0xffffff00 broadcast 192.168.8.255\n"
        (macs[role].folder / "second").write_text(second)
    lines = checked(capsys)
    way = "192.168.8.0/24 (en1 of the client, en1 of the server, Wi-Fi)"
    both = "both hosts are on 10.254.0.0/16 (en0 of the client, en0 of the server), and on"
    assert about(lines, "link networks") == [f"ok       link networks: {both} {way}"]
    assert about(lines, "smb")[0] == (
        f"warning  smb: this client sends over {way}, too, where the server takes it: such trials are void"
        "  -> give smb.multichannel = [false] in the sweep"
    )
    hosts = Path("hosts.ini")
    hosts.write_text(hosts.read_text().replace(ADDRESSES["client"], "10.1.1.1"))
    assert about(checked(capsys), "link networks")[0] == (
        "note     link networks: both hosts are on 10.254.0.0/16 (en0 of the client, en0 of the server)"
        f"  -> data_address = {ADDRESSES['client']} in [client] and {ADDRESSES['server']} in [server] would measure it"
    )


def test_a_mac_that_prints_what_nobody_knows(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    (macs["client"].folder / "power").write_text("Kein Netzteil \x1b[2J\n")
    (macs["client"].folder / "ports").write_text("")
    lines = checked(capsys)
    assert about(lines, "client power") == [
        "warning  client power: could not be looked at: what a command printed cannot be read: "
        "no power source in what `pmset -g batt` printed: 'Kein Netzteil \\x1b[2J\\n'"
    ]
    assert "could not be looked at" in about(lines, "client interface")[0]
    assert "load, swap" in about(lines, "client quiet")[0]
    assert about(lines, "link path")[0].startswith("ok ")


def test_jumbo_frames_are_proven_where_that_changes_nothing(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]
) -> None:
    for host in macs.values():
        (host.folder / "mtu").write_text("9000")
    assert about(checked(capsys), "link path")[0].startswith("note     link path: ping cannot send 9000 bytes at once")
    assert not any(host.calls("ping") for host in macs.values())
    values = macs["server"].folder / "values"
    values.write_text(values.read_text().replace("8192", "16384"))
    assert about(checked(capsys), "link path") == [
        "ok       link path: packets of MTU 9000 cross it in one piece, and back"
    ]
    assert macs["server"].calls("ping") == [f"ping -n -D -s 8972 -c 1 -W 2000 {ADDRESSES['client']}"]
    assert not macs["client"].calls("ping")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("\tmax mtu: 1500\n", "up to 1500 (client) and 9000 (server): this pair cannot do 9000  -> leave MTU 9000 out"),
        (
            "",
            "up to an unknown MTU (client) and 9000 (server); only trying tells if the path carries 9000  -> `lab",
        ),
    ],
)
def test_what_the_interfaces_could_carry(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str], limit: str, said: str
) -> None:
    (macs["client"].folder / "limit").write_text(limit)
    (line,) = about(checked(capsys), "link MTU")
    assert line.startswith("note     link MTU: today 1500 and 1500; the interfaces take ")
    assert said in line


def test_a_folder_that_macos_keeps_from_us_is_found_with_the_switch(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path("hosts.ini")
    file.write_text(file.read_text().replace("[client]\n", "[client]\nmount_base = /tmp\n"))
    refused = '#!/bin/sh\necho "ls: $1: Operation not permitted" >&2; exit 1\n'
    (macs["client"].folder / "bin" / "ls").write_text(refused)
    (macs["client"].folder / "bin" / "ls").chmod(0o755)
    (line,) = about(checked(capsys), "client folder")
    assert line.startswith("warning  client folder: could not be looked at: ")
    assert "Operation not permitted  -> System Settings > General > Sharing > Remote Login (i) > Allow full" in line


def test_a_program_that_is_missing_on_a_mac(macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str]) -> None:
    programs = macs["client"].folder / "bin"
    (programs / "iperf3").unlink()
    found = about(checked(capsys), "client programs")
    assert found == [
        "problem  client programs: iperf3 is missing: nothing can be measured without it"
        "  -> install Homebrew there (https://brew.sh), then `brew install iperf3`"
    ]
    (programs / "brew").write_text("#!/bin/sh\n")
    (programs / "brew").chmod(0o755)
    (programs / "rsync").unlink()
    found = about(checked(capsys), "client programs")
    assert [line.partition("  -> ")[2] for line in found] == [
        "`brew install iperf3` there",
        "rsync comes with macOS: find out where it went, or `brew install rsync` there",
    ]


def test_a_host_that_goes_away_in_between(
    macs: dict[str, EmulatedHost], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = macs["client"]._execute

    def lost(argv: tuple[str, ...], root: bool, given: str, deadline_s: float, stop_mark: str = "") -> Result:
        if argv[:2] == ("networksetup", "-listallhardwareports"):
            raise HostError("the connection to mac.example was lost", host="client")
        return run(argv, root, given, deadline_s, stop_mark)

    monkeypatch.setattr(macs["client"], "_execute", lost)
    lines = checked(capsys)
    assert lines[0] == "problem  client: the connection to mac.example was lost"
    assert about(lines, "client address") != []
    assert about(lines, "client memory") == []
    assert about(lines, "server quiet")[0].startswith("ok ")
    assert "only the server could be looked at" in about(lines, "link")[0]


@pytest.mark.parametrize(
    ("program", "script", "wrong"),
    [
        ("perl", "echo nonsense", "perl does not work: `perl -e print 6*7` prints 'nonsense'"),
        ("perl", "while :; do echo 43; done", "perl does not work: `perl -e print 6*7` prints '43'"),
        ("iperf3", "while :; do :; done", "iperf3 does not work: `iperf3 --version` does not end within 1 s"),
        ("rsync", "printf '\\033[2J'", "rsync does not work: `rsync --version` prints '\\\\x1b[2J'"),
    ],
)
def test_a_program_that_only_prints_nonsense_or_never_ends(
    macs: dict[str, EmulatedHost], monkeypatch: pytest.MonkeyPatch, program: str, script: str, wrong: str
) -> None:
    monkeypatch.setattr(program_check, "TRY_S", 1 if "does not end" in wrong else 30)
    programs = macs["client"].folder / "bin"
    (programs / "ps").unlink()  # this machine's processes are to end
    (programs / "ps").symlink_to(shutil.which("ps") or "/bin/ps")
    path = programs / program
    path.unlink()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    machine = Machine("client", load_hosts(Path("hosts.ini")).client, macs["client"], MacOS(macs["client"]), None)
    findings = program_check._try(machine, "client programs", ["perl", "iperf3", "rsync"])
    # on a busy machine another program may not end in time either
    (failure,) = [finding for finding in findings if finding.message.startswith(f"{program} ")]
    assert (failure.level, failure.subject) == ("problem", "client programs")
    assert failure.message == wrong
    assert failure.remedy.startswith(f"`command -v {program}` there")
