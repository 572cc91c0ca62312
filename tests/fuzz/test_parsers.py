"""Output of hosts, nearly right: each parser reads it, or refuses it with the error that its caller expects."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import CodeType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import parsers as printed
from support.examples import bounded, mutated
from support.parsers import Parser, Saying, masked, recorded, timed

import lab
from lab.base.errors import HostError, LabError
from lab.check import hardware_file
from lab.fidelity import copiers, on_host_macos, probed_host
from lab.fleet.journal import parse_line
from lab.fleet.look import parse_state
from lab.hosts import mounts
from lab.init import shares
from lab.platforms import facts, files
from lab.platforms.linux import clock as linux_clock
from lab.platforms.linux import mounts as linux_mounts
from lab.platforms.linux import network as linux_network
from lab.platforms.linux import platform as linux
from lab.platforms.linux import preflight as linux_preflight
from lab.platforms.linux import ram_disk
from lab.platforms.macos import clock as macos_clock
from lab.platforms.macos import mounts as mac_mounts
from lab.platforms.macos import network as macos_network
from lab.platforms.macos import parsers as macos
from lab.platforms.macos import preflight as macos_preflight
from lab.protocols import ssh
from lab.protocols.afp import linux as linux_afp
from lab.protocols.mounts import macos as macos_mount
from lab.protocols.nfs import knfsd
from lab.protocols.nfs import linux as linux_nfs
from lab.protocols.nfs import macos as macos_nfs
from lab.protocols.servers import macos_sharing, unflushed
from lab.protocols.smb import ksmbd
from lab.protocols.smb import linux as linux_smb
from lab.protocols.smb import macos as macos_smb
from lab.run.restore.vocabulary import line_format
from lab.settings import host_journal
from lab.stores import btrfs, ext4, image_file_system, mac_volume, o3x, store, xfs, zfs
from lab.workloads import bonnie, fio, frames, iperf3, metadata, rsync, tar


def read_host_journal(text: str) -> object:
    return host_journal.read(Saying(text), line_format())


def read_engine(text: str) -> object:
    return copiers.parse_engine("client", "/usr/bin/rsync", text, text)


CIFS = r"\\10.99.0.2\lab"
DF = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
ROUTE = "192.0.2.1 dev eth0 src 192.0.2.2 uid 0 \\    cache \n"
ADDRESS = "2: eth0    inet 192.0.2.2/30 brd 192.0.2.3 scope global eth0\\       valid_lft forever\n"
PARSERS = {
    "bonnie++": Parser(lambda text: bonnie.parse_report(text, cached=True), "bonnie-*.txt"),
    "fio": Parser(fio.parse_report, "fio-*.json"),
    "frames": Parser(frames.parse_report, "frames 400\nlate 2\nworst_s 0.012048\n"),
    "metadata": Parser(lambda text: metadata.parse_report(text, "stat"),
        "metadata stat 4\nruntime_s 0.004000\nms 1.0 1.1 1.2 1.3 1.4\n"),
    "facts": Parser(facts.parse_facts, "facts.txt"),
    "linux facts": Parser(linux.parse_linux_facts, "facts.txt"),
    "linux radio": Parser(linux_network.parse_radio, printed.IW, error=None),
    "macos uplink": Parser(macos.parse_rate, "\tuplink rate: 20.09 Mbps [eff] / 21.60 Mbps\n", error=None),
    "macos airport": Parser(lambda text: macos_network.parse_airport(text, "en0"), printed.AIRPORT),
    "linux route": Parser(lambda text: linux.parse_route(text, "192.0.2.1"), ROUTE),
    "linux link": Parser(linux.parse_link, "1500\n4: eth0: <UP> mtu 1500 minmtu 68 maxmtu 65535 \n"),
    "linux counters": Parser(lambda text: linux_clock.parse_counters(text.splitlines(), "eth0"), "counted-cgroup?.txt"),
    "linux ticks": Parser(linux_clock.parse_ticks_spent, "cpu0 1 0 2 3 9 0 0 0 0 0\n\ncpu0 5 0 2 60 8 0 0 1 0 0\n"),
    "linux samples": Parser(lambda text: tuple(linux_clock.parse_samples(text, "eth0")), "sampler.txt"),
    "ss": Parser(lambda text: linux_clock.parse_ss(text.splitlines()), "ss-*.txt"),
    "meminfo": Parser(ram_disk.parse_free, "MemTotal: 9 kB\nMemAvailable: 1048576 kB\n"),
    "linux mount": Parser(ram_disk.parse_mount, "mounts-*.txt", "lab /tmp/x/ram tmpfs rw,size=1024k 0 0\n"),
    "ext4": Parser(ext4.parse_ext4, "ext4-facts-*.txt"), "xfs": Parser(xfs.parse_xfs, "xfs-info-*.txt"),
    "btrfs": Parser(btrfs.parse_btrfs, "btrfs-df-*.txt"), "zfs": Parser(zfs.parse_zfs, "zfs-facts-*.txt"),
    "disk of a file system": Parser(image_file_system.parse_which_disk, "disk named\nxfs\n"),
    "volume of an image": Parser(mac_volume.parse_image_volume,
        "<plist><dict><key>FilesystemName</key><string>HFS+</string></dict></plist>\nimage dmg\n"),
    "o3x": Parser(o3x.parse_o3x, printed.O3X),
    "image of a volume": Parser(mac_volume.parse_image, "image dmg\n"),
    "bytes of devices": Parser(store.parse_device_bytes, "read_bytes\t12\nwrite_bytes\t4096\n"),
    "mounted image": Parser(store.parse_mounted, "/dev/loop0 /x/store xfs rw,noatime 0 0\n"),
    "power": Parser(linux_preflight.parse_power, "AC 1\nscaling powersave\n"),
    "sleep": Parser(linux_preflight.parse_sleep, "sleep.target enabled\n"),
    "linux processes": Parser(linux_preflight.parse_processes, "1.0 apt-get\n0.0 smartd\n"),
    "mdstat": Parser(linux_preflight.parse_mdstat, "md0 : active raid1 sda1[0]\n [=>..]  check = 12.6% (1/9)\n"),
    "linux load": Parser(linux_preflight.parse_load, "0.52 0.58 0.59 1/389 27063\n4\n"),
    "swap of linux": Parser(linux_preflight.parse_meminfo, "SwapTotal:  2097148 kB\nSwapFree:  1 kB\n"),
    "df": Parser(files.parse_df, DF + "/dev/sda1 9 1 8 12% /\n"),
    "df of inodes": Parser(files.parse_free_units,
        "Filesystem Inodes IUsed IFree IUse% Mounted on\ntmpfs 9 1 8 12% /\n/dev/b 0 0 0 - /\n"),
    "df of a folder": Parser(files.parse_source, DF + "/dev/a b 9 1 8 12% /x\n"),
    "stopwatch": Parser(timed, printed.TIMING), "sw_vers": Parser(macos.parse_sw_vers, "sw_vers-*.txt"),
    "sysctl": Parser(lambda text: macos.parse_sysctl(text, ("a.b",)), "a.b: 1\nc.d: 2\n"),
    "sizes": Parser(lambda text: macos.parse_sizes(text, ("a.b",)), "a.b: 1\nc.d: 2\n"),
    "hardware": Parser(macos.parse_hardware, "hw.ncpu: 8\nhw.memsize: 17179869184\nmachdep.cpu.brand_string: M1\n"),
    "about": Parser(macos.parse_about, "hw.model: Mac14,2\n"), "macos route": Parser(macos.parse_route, "route-*.txt"),
    "ifconfig": Parser(macos.parse_ifconfig, "ifconfig-*.txt"),
    "linux networks": Parser(linux_network.parse_networks, f"eth0\n\n{ADDRESS}"),
    "macos networks": Parser(macos.parse_networks, "ifconfig-*.txt"),
    "ports": Parser(macos.parse_ports, "\nHardware Port: Wi-Fi\nDevice: en0\nEthernet Address: 0:1:2:3:4:5\n"),
    "mtu range": Parser(macos.parse_mtu_range, "Valid MTU Range: 1280-9000\n"),
    "vm_stat": Parser(macos.parse_memory, "vm_stat-*.txt"),
    "images": Parser(macos.parse_images, "hdiutil-info-*.plist"),
    "volume": Parser(macos.parse_volume, "/dev/disk3s1\n"),
    "macos counters": Parser(lambda text: macos_clock.parse_counters(text.splitlines(), "en0"), printed.MACOS_COUNTED),
    "macos samples": Parser(lambda text: tuple(macos_clock.parse_samples(text, "en0")), printed.MACOS_SAMPLES),
    "resent": Parser(macos_clock.parse_resent, "tcp:\n\t9 packets sent\n\t\t2 data packets (9 bytes) retransmitted\n"),
    "pmset": Parser(macos_preflight.parse_pmset, printed.PMSET),
    "battery": Parser(macos_preflight.parse_battery, "Now drawing from 'Battery Power'\n"),
    "firewall": Parser(macos_preflight.parse_firewall, printed.FIREWALL),
    "tmutil": Parser(macos_preflight.parse_tmutil, "Backup session status:\n{\n    Running = 1;\n}\n"),
    "macos processes": Parser(macos_preflight.parse_processes, "  50.1 /usr/libexec/mds_stores\n"),
    "mdutil": Parser(lambda text: macos_preflight.parse_mdutil(text, "/x"),
        "/System/Volumes/Data:\n\tIndexing enabled. \n"),
    "macos load": Parser(macos_preflight.parse_load, printed.LOAD),
    "swap of macos": Parser(macos_preflight.parse_swap, "total = 1024.00M  used = 12.50M  free = 11.00M\n"),
    "names of a mac": Parser(macos_preflight.parse_names, "host mini\nuser jane\nvolume Big Raid\n", error=None),
    "version of macos": Parser(macos_preflight.parse_version, "macOS 15.4.1 (24E263)", error=None),
    "rsync": Parser(rsync.parse_version, "rsync-version-*.txt"),
    "tar": Parser(tar.parse_version,
        "tar (GNU tar) 1.35\n", "bsdtar 3.5.3 - libarchive 3.7.4\n", "tar (busybox) 1.36.1\n"),
    "iperf3": Parser(lambda text: iperf3.parse(text, "there"), "iperf3*.json", error=LabError),
    "began": Parser(iperf3.began, "iperf3*.json", error=None),
    "ssh -v": Parser(ssh.parse_verbose, "ssh-v.txt", error=None),
    "options of a mount": Parser(lambda text: mounts.parse_mount_options(text, "SMB"),
        "rw,vers=3.1.1,rsize=1", error=None),
    "mount": Parser(mounts.parse_mounts, "mount*.txt", error=None),
    "linux mounts": Parser(linux_mounts.parse_mount_table, "mounts-*.txt"),
    "case of a mac's volume": Parser(mac_mounts.parse_case_sensitive, printed.CASE_SENSITIVE),
    "mac mounts": Parser(mac_mounts.parse_table, "mount*.txt"),
    "encrypted": Parser(lambda text: mounts.parse_encrypted(text, CIFS), "cifs-debugdata-*.txt", error=None),
    "df -P": Parser(macos_mount.parse_df_point,
        "Filesystem 512-blocks\n/dev/disk1 9 1 8 12% /Volumes/a b\n", error=LabError),
    "connected": Parser(lambda text: linux_smb.parse_connected_addresses(text, CIFS),
        "cifs-debugdata-*.txt", error=None),
    "DebugData": Parser(lambda text: mounts.parse_signed(text, CIFS), "cifs-debugdata-*.txt", error=None),
    "smbstatus": Parser(linux_smb.parse_smbstatus, "smbstatus-*.json", error=LabError),
    "time machine": Parser(linux_smb.parse_time_machine, "yes\n", error=None),
    "testparm": Parser(linux_smb.parse_testparm, "Yes\nno\n", error=LabError),
    "ksmbd": Parser(ksmbd.parse_interface, "2: eth0    inet 10.0.0.2/24 scope global eth0\n", error=LabError),
    "statshares": Parser(mounts.parse_statshares, "smbutil-statshares-*.txt", error=LabError),
    "channels": Parser(macos_smb.parse_channels, "smbutil-multichannel-*.txt", error=None),
    "multichannel": Parser(mounts.parse_multichannel, "smbutil-multichannel-*.txt", error=None),
    "afpd": Parser(linux_afp.parse_login, "afpd.log", error=None),
    "sharing": Parser(macos_sharing.parse_share_points, "sharing-l-*.txt", error=LabError),
    "filters": Parser(lambda text: unflushed.parse_filtered(text, "smbd"), "yes\nyes\n", error=LabError),
    "etab": Parser(knfsd.parse_export, "/x\t*(rw,sync,no_root_squash,fsid=77)\n", error=LabError),
    "export of ganesha": Parser(linux_nfs.parse_export, "ganesha-export-*.txt", error=LabError),
    "network": Parser(lambda text: macos_nfs.parse_network(text, "10.254.100.2"), "ifconfig-*.txt", error=LabError),
    "nfsstat": Parser(lambda text: mounts.read_parameters(mounts.parse_nfsstat(text)),
        "nfsstat-m*.txt", error=LabError),
    "shared file": Parser(hardware_file.parse_shared,
        f"{hardware_file.FIRST_LINE}\n== client ==\nmodel: Mac16,10\n\n-- assumption perl: as assumed\n"
        "what: x\n| there\n\n-- capture mount: read\n| /dev/disk1 on / (apfs)\n"),
    "smbclient": Parser(shares.parse_smbclient, "smbclient-L-*.txt", error=None),
    "smbutil view": Parser(shares.parse_smbutil, "smbutil-view.txt", error=None),
    "showmount": Parser(shares.parse_showmount, "showmount-e.txt", error=None),
    "masking": Parser(masked, "mount*.txt", "sharing-l-*.txt", "ifconfig-*.txt", "hdiutil-info-*.plist"),
    "snapshot": Parser(probed_host.parse_snapshot, printed.SNAPSHOT),
    "xattr": Parser(on_host_macos.parse_hex, "54 45 58 54 \n00 0A \n"),
    "access list": Parser(on_host_macos.parse_access_list, "-rw-r--r--+ 1 a  b  0 f\n 0: user:a allow read\n"),
    "failures": Parser(probed_host.parse_failures, '{"fifo": "cp: no fifo"}'),
    "fleet's journal": Parser(parse_line,
        '{"at": "2026-11-26T10:00:00.000+00:00", "event": "ended", "task": "a/b/1", "attempt": 1, '
        '"outcome": "done", "exit_code": 0, "seconds": 1.5, "said": ""}\n'),
    "look at hosts": Parser(parse_state, '{"in_use": "", "changed": "client: mtu", "unreached": ""}\n'),
    "copied": Parser(probed_host.parse_copied, '{"failures": {"fifo": "cp: no fifo"}, "stopped": "data"}'),
    "answers": Parser(probed_host.parse_answers,
        '{"/usr/bin/rsync": {"--version": "rsync  version 3.5.0", "--help": "-a"}}'),
    "engine": Parser(read_engine, "rsync-version-3.5.txt", "rsync-help-3.5.txt", error=None),
    "host journal": Parser(read_host_journal, recorded("client"), recorded("server"), "free\n", error=HostError),
}  # fmt: skip
# These parse the input of a person or of this machine, not of a host
NOT_OF_HOSTS = {
    "lab.design.sweep_file.parse_sweep", "lab.hosts.fields.parse_lease", "lab.hosts.fields.parse_port",
    "lab.base.units.parse_size", "lab.base.units.parse_seconds", "lab.base.units.parse_share",
    "lab.cli.run.parse_policy", "lab.local.platforms.parse", "lab.local.network.parse_rates",
    "lab.settings.operation.parse_operation", "lab.measure.target.parse_target", "lab.cli.measure.parse_time",
    "lab.report.conditions.parse_slower_than", "lab.report.conditions.parse_conditions",
    "lab.fleet.fleet_file.parse_fleet", "lab.fleet.windows.parse_window", "lab.hosts.fields.parse_iperf3",
    "lab.hosts.sections.parse_sections", "lab.hosts.sections.parse_json_sections",
    "lab.design.manifest.parse_manifest",
}  # fmt: skip


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=max(5, settings().max_examples // 3))  # there are many
@given(data=st.data())
def test_a_parser_reads_or_refuses(name: str, data: st.DataObject) -> None:
    parser = PARSERS[name]
    text = data.draw(mutated(parser.originals())).decode(errors="replace")
    with bounded():
        parser.read_or_refuse(text)


def test_what_was_found_once() -> None:
    PARSERS["version of macos"].read_or_refuse(f"macOS {'9' * 5000}.4")


def parsers_of_the_lab() -> Iterator[tuple[str, CodeType]]:
    modules = (module.name for module in pkgutil.walk_packages(lab.__path__, "lab."))
    for module in (module for module in modules if not module.endswith("__main__")):
        for name, function in inspect.getmembers(importlib.import_module(module), inspect.isfunction):
            if function.__module__ == module and name.startswith("parse") and name != "parser":
                yield f"{module}.{name}", function.__code__


def test_every_parser_is_among_them_and_reads_what_is_right() -> None:
    ran, right = set[CodeType](), set[str]()
    sys.setprofile(lambda frame, _, __: ran.add(frame.f_code))
    try:
        for name, parser in PARSERS.items():
            right |= {name for original in parser.originals() if parser.read_or_refuse(original.decode())}
    finally:
        sys.setprofile(None)
    assert right == PARSERS.keys()
    assert {name for name, code in parsers_of_the_lab() if code not in ran} == NOT_OF_HOSTS
