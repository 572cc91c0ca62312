"""Every example of the documentation does what its page says, at the place where its page puts it."""

import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from examples.mount_options.encryption import ENCRYPTION
from support.fake_host import SECRET, EmulatedHost, FakeHost, Stage
from support.memory_host import ROLES
from support.pairs import OWN, side_of
from support.paths import LINUX_CAPTURES
from support.sweeps import sweep_of

from lab import platforms, protocols, stores, workloads
from lab.base import shipped
from lab.base.errors import LabFailure, SettingRefused, TransferError, Unsupported
from lab.design import plan
from lab.design.case import Case
from lab.design.sweep_file import load_sweep
from lab.platforms.clock import STOPWATCH
from lab.protocols.driver import options_in_effect
from lab.protocols.smb import options as smb
from lab.run.case.catalogue import CATALOGUE
from lab.run.restore.vocabulary import kinds, line_format
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.stores.image_file_system import ImageFileSystem

HERE = Path(__file__).parent
Add = Callable[[ModuleType, str], None]


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Adds the modules of a folder here to a package of the lab until the test ends."""
    added: list[tuple[ModuleType, str]] = []

    def make(package: ModuleType, folder: str) -> None:
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(HERE / folder)])
        added.extend((package, file.stem) for file in (HERE / folder).glob("*.py"))

    yield make
    for package, name in added:
        if sys.modules.pop(f"{package.__name__}.{name}", None):
            delattr(package, name)


def cases_of(**factors: Any) -> list[Case]:
    return list(plan.plan(sweep_of(**factors), CATALOGUE).cases)


def test_a_protocol_is_planned_beside_the_others_and_says_what_to_install(add: Add) -> None:
    add(protocols, "protocols")
    combined = {(case.protocol, case.tool) for case in cases_of(protocol=["sshfs", "ssh"], tool=["cp", "rsync"])}
    assert combined == {("sshfs", "cp"), ("sshfs", "rsync"), ("ssh", "rsync")}  # a mount takes cp as well
    client = FakeHost("client")
    client.on(("/bin/sh", "-c", "command -v sshfs", "sh"), exit_code=1)
    driver = protocols.find("sshfs").driver("linux")
    with pytest.raises(Unsupported, match="client: no sshfs: apt-get install sshfs"):
        driver.mount_method(side_of(client, "linux", "192.0.2.1", OWN, "me"))


def test_a_protocol_is_served_mounted_and_unmounted(add: Add) -> None:
    add(protocols, "protocols")
    stage = Stage("sshfs")
    server, mount = stage.settings
    assert "process sshd" in server.name
    (apply,) = mount.apply
    program, *options, source, path = apply.argv
    assert (program, source, path) == ("sshfs", f"me@192.0.2.2:{OWN}/ram", f"{OWN}/mnt")
    assert f"ssh_command=/bin/sh {OWN}/sshfs-connect" in options
    connect = next(given for argv, given in stage.told() if f"{OWN}/sshfs-connect" in argv and given)
    assert shlex.split(connect)[:4] == ["exec", "ssh", "-o", "BatchMode=yes"]
    assert path in mount.operation.undo("absent")[0].argv
    assert (stage.attached.path, stage.attached.effective["mount"]) == (path, "sshfs")
    assert not [argv for argv, _ in stage.told() if SECRET in " ".join(argv)]


def test_an_option_of_a_mount_is_planned_told_to_the_kernel_and_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(smb.OPTIONS, "encryption", ENCRYPTION)
    cases = plan.plan(load_sweep(HERE / "sweeps/encryption.toml"), CATALOGUE).cases
    assert {case.mount_options["encryption"] for case in cases} == {"true", "false"}
    assert len(cases_of(protocol=["smb", "nfs"], smb={"encryption": [True, False]})) == 2 * 2 + 2
    for level in ("true", "false"):
        (mount,) = (step.argv for step in Stage("smb", encryption=level).settings[-1].apply)
        assert ("seal" in mount[mount.index("-o") + 1].split(",")) == (level == "true")
    option = smb.OPTIONS["encryption"]
    assert (option.read_level({"rw": "", "seal": ""}), option.read_level({"rw": ""})) == ("true", "false")
    stage = Stage("smb", encryption="true")  # whose table of mounts shows no seal
    with pytest.raises(SettingRefused, match=r"smb\.encryption was set to true and reads back as false"):
        options_in_effect("smb", stage.share, stage.attached.options)


def test_a_tool_copies_through_mounts_only(add: Add, tmp_path: Path) -> None:
    add(workloads, "tools")
    (case, *_) = cases_of(tool=["install"])
    source, target = tmp_path / "from", tmp_path / "to"
    source.write_bytes(bytes(range(256)) * 4097)  # more than one block, and not a whole number of them
    move = workloads.Move(source=str(source), target=str(target), size_bytes=source.stat().st_size)
    argv = workloads.tool(case.tool).argv(("install",), "", move)
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    assert target.read_bytes() == source.read_bytes()
    assert {case.tool for case in cases_of(protocol=["ssh"], tool=["install", "rsync"])} == {"rsync"}


def test_a_store_is_made_in_an_image_with_the_levels_of_its_options(add: Add, tmp_path: Path) -> None:
    add(stores, "stores")
    cases = cases_of(store=["ext2", "ram"], ext2={"errors": ["continue", "remount-ro"]}, tool=["cp"])
    made = {(case.store, *case.store_options.values()) for case in cases}
    assert made == {("ext2", "continue"), ("ext2", "remount-ro"), ("ram",)}
    ext2 = stores.file_system("ext2")
    assert isinstance(ext2, ImageFileSystem)
    assert ext2.mount_options({"errors": "remount-ro"}) == ("errors=remount-ro",)
    printed = "disk image\n" + (LINUX_CAPTURES / "ext4-facts-1.47.txt").read_text()
    facts = ext2.read_facts(printed, {"errors": "remount-ro"})
    levels = {"errors": "remount-ro", "disk": "image"}
    assert (facts.description, facts.levels) == ("ext2, blocks of 4096 bytes", levels)


def test_a_payload_is_made_and_checked(add: Add, tmp_path: Path) -> None:
    add(workloads, "payloads")
    (case, *_) = cases_of(kind="zeros", size="100 kB")
    payload, path = workloads.payload(case.workload), tmp_path / "payload"
    host = EmulatedHost(tmp_path, {}, ["sh", "head", "chmod", "cmp"])
    payload.make(host, str(path), case.size_bytes, "seed")
    assert path.read_bytes() == bytes(100_000)
    payload.check(host, str(path), case.size_bytes, "seed")
    for wrong in (bytes(99_999), bytes(100_001), bytes(99_999) + b"x"):
        path.write_bytes(wrong)
        with pytest.raises(TransferError, match="does not hold what was sent"):
            payload.check(host, str(path), case.size_bytes, "seed")


# invented output, after the manual pages of FreeBSD 14: no FreeBSD was at hand
FREEBSD = {
    "uname": '[ "$1" = -s ] && echo FreeBSD || echo 14.1-RELEASE',
    "hostname": "echo bsd.example",
    "ifconfig": """
if [ "$2" = mtu ]; then echo "$3" > mtu; exit; fi
echo "$1: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu $(cat mtu)"
echo "	ether 08:00:27:aa:bb:cc"
""",
    "route": 'printf "   route to: %s\\n  interface: em0\\n      flags: <UP,DONE>\\n" "$3"',
    "sysctl": """
case $1 in
-n) sed -n "s/^$2 //p" values ;;
*=*) name=${1%%=*}; { grep -v "^$name " values; echo "$name ${1#*=}"; } > changed; cat changed > values ;;
esac
""",
    "mount": """
[ $# -gt 0 ] || { sed 's/.*/tmpfs on & (tmpfs, local)/' mounts; exit; }
echo "$6" >> mounts
""",
    "umount": 'grep -v "^$2$" mounts > left; cat left > mounts',
    "perl": """
echo 'before|netstat:Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll'
echo 'before|netstat:em0 1500 <Link#1> 08:00:27:aa:bb:cc 1234 0 0 5678901 2345 0 6789012 0'
echo 'before|netstat:em0 - 192.0.2.0/24 192.0.2.1 1000 - - 5000000 2000 - 6000000 -'
echo 'before|sysctl:net.inet.tcp.sendspace: 32768'
echo 'before|sysctl:net.inet.tcp.recvspace: 65536'
""",
}  # fmt: skip
VALUES = {
    "hw.model": "AMD EPYC", "hw.ncpu": "4", "hw.physmem": "8589934592", "hw.pagesize": "4096",
    "vm.stats.vm.v_free_count": "1000000", "net.inet.tcp.recvbuf_auto": "1", "net.inet.tcp.sendbuf_auto": "1",
    "net.inet.tcp.recvspace": "65536", "net.inet.tcp.sendspace": "32768",
}  # fmt: skip


@pytest.fixture
def freebsd(add: Add, tmp_path: Path) -> EmulatedHost:
    add(platforms, "platforms")
    values = "".join(f"{name} {value}\n" for name, value in VALUES.items())
    for name, text in {"mtu": "1500\n", "mounts": "", "values": values}.items():
        (tmp_path / name).write_text(text)
    return EmulatedHost(tmp_path, FREEBSD, ["sh", "sed", "grep", "cat", "id", "rsync"])


def state(host: EmulatedHost) -> list[str]:
    """All that the example's settings can change."""
    texts = [(host.folder / name).read_text() for name in ("mtu", "mounts", "values")]
    return [line for text in texts for line in sorted(text.splitlines())]


def test_a_platform_is_found_by_its_kernel_and_says_what_it_is(freebsd: EmulatedHost) -> None:
    facts = platforms.detect(freebsd).facts("192.0.2.2")
    assert (facts.platform, facts.hostname, facts.kernel) == ("freebsd", "bsd.example", "FreeBSD 14.1-RELEASE")
    assert (facts.cpu, facts.cores, facts.memory_bytes) == ("AMD EPYC", 4, 8 * 1024**3)
    assert (facts.available_bytes, facts.interface, facts.mtu) == (4_096_000_000, "em0", 1500)
    assert "perl" in facts.tools


def test_a_platform_changes_its_settings_and_puts_them_back(freebsd: EmulatedHost) -> None:
    platform = platforms.detect(freebsd)
    settings = Settings({ROLES[0]: freebsd}, Journal(None, line_format()))
    before = state(freebsd)
    with settings.scope():
        settings.apply(platform.settings.mtu("em0", 9000))
        settings.apply_all(platform.settings.tcp_buffers(524288))
        assert settings.follow(platform.ram_disks.make(f"{OWN}/ram", 2**20)) == "tmpfs"
        changed = state(freebsd)
        assert changed[:2] == ["9000", f"{OWN}/ram"]
        assert {"net.inet.tcp.recvspace 524288", "net.inet.tcp.sendbuf_auto 0"} <= set(changed)
        assert all(record.operation.kind in kinds() for record in settings.journal.open)
    assert state(freebsd) == before


def test_a_platform_counts(freebsd: EmulatedHost) -> None:
    platform = platforms.detect(freebsd)
    counters = platform.clock.counters("em0")
    assert (counters.tx_bytes, counters.rx_bytes, counters.state["mtu"]) == (6789012, 5678901, "1500")
    assert platform.settings.tcp_buffers_in(counters.state) == (65536, 32768)
    text = platform.clock.counts + STOPWATCH  # the script that runs on the host
    checked = subprocess.run(["perl", "-wc", "-e", text], capture_output=True, text=True, timeout=60, check=False)
    assert checked.stderr == "-e syntax OK\n"


def test_what_a_platform_cannot_read_is_an_error_that_shows_it(freebsd: EmulatedHost) -> None:
    platform = platforms.detect(freebsd)
    values = freebsd.folder / "values"
    values.write_text(values.read_text().replace("hw.ncpu 4", "hw.ncpu many"))
    with pytest.raises(LabFailure, match="'many' is not a count; it printed:"):
        platform.facts("192.0.2.2")
    with pytest.raises(ValueError, match="no row of the interface"):
        platform.clock.parse_counters(["netstat:"], "em0")


def test_a_zip_file_of_a_run_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(shipped.examples()["example"], tmp_path / "share-run.zip")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HERE / "notebooks/from_elsewhere.py"))
    assert capsys.readouterr().out.startswith("-21.67")  # `lab show example` has it as -22 %
