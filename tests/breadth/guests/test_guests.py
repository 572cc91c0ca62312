"""Hosts with kernels of their own: what only such a kernel can do, and that nothing of it stays."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.observe import Observer
from support.guests import MIB, WAITING, a_long_run, in_ext4, left, modules
from support.local_lab import Bench, end
from support.smb_on_the_wire import counted_requests
from support.traces import gone

from lab.local import state
from lab.local.backends import GUESTS


def test_the_kernels_mount_and_serve_and_all_is_put_back(guests: Bench) -> None:
    """Content is verified by every trial: one that is ok has moved the right bytes."""
    before = left(guests)
    done = guests.run(protocol=["ssh", "smb", "nfs"], mtu=[9000], tcp_space=["128 KiB"], size="4 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    trials = guests.trials()
    assert len(trials) == 6
    for trial in trials:
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        # headers of 52 to 66 bytes in each frame of up to 9000, and those of the protocol
        assert 4 * MIB * 1.005 < moved < 4 * MIB * 1.1, trial
    effective = {trial["protocol"]: trial["effective"] for trial in trials}
    assert {name: effective[name]["mount"] for name in effective} == {"ssh": "none", "smb": "kernel", "nfs": "kernel"}
    assert effective["smb"]["dialect"] == "SMB3_11"
    assert "vers=3.1.1" in effective["smb"]["mount_options"]
    assert effective["nfs"]["dialect"] == "NFSv4.2"
    assert effective["nfs"]["server_sync_by"] == "export option sync of the kernel's NFS server"
    assert left(guests) == before


def test_the_kernels_server_exports_asynchronously(guests: Bench) -> None:
    """Also where the other server is not installed."""
    guests.inside("server", "mv /usr/bin/ganesha.nfsd /usr/bin/ganesha.away")
    try:
        done = guests.run(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB", server_sync=["async"])
    finally:
        guests.inside("server", "mv /usr/bin/ganesha.away /usr/bin/ganesha.nfsd")
    assert done.returncode == 0, done.stdout + done.stderr
    (trial,) = guests.trials()
    assert trial["effective"]["server_sync"] == "async"


@pytest.mark.parametrize(("level", "flushes"), [("fsync", 1), ("close", 0)])
def test_an_fsync_of_the_client_is_a_flush_on_the_wire(guests: Bench, level: str, flushes: int) -> None:
    with counted_requests(Observer(guests.name).init("server"), "data") as requests:
        done = guests.run(protocol=["smb"], tool=["cp"], direction=["write"], size="4 MiB", client_sync=[level])
    assert done.returncode == 0, done.stdout + done.stderr
    assert requests["WRITE"] >= 1
    assert requests["FLUSH"] == flushes


def test_options_of_mounts_are_in_effect_as_both_ends_see_them(guests: Bench) -> None:
    options: dict[str, Any] = {
        "smb.dialect": ["2.1", "3.1.1"], "smb.signing": [True, False], "smb.multichannel": ["default", True],
        "nfs.version": [3, 4.1], "nfs.nconnect": ["default", 3], "nfs.rsize": ["64 KiB"], "nfs.hard": [True],
    }  # fmt: skip
    before = left(guests)
    done = guests.run(protocol=["smb", "nfs"], tool=["cp"], direction=["read"], size="1 MiB", **options)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = guests.trials()
    assert len(trials) == 10  # SMB 2.1 has one channel
    for trial in trials:
        asked = {name: level for name, level in trial["options"].items() if "." in name and level != "default"}
        effective = trial["effective"]
        assert asked == {name: effective[name] for name in asked}
        if trial["protocol"] == "smb":  # what the server says
            assert effective["dialect"] == {"2.1": "SMB2_10", "3.1.1": "SMB3_11"}[asked["smb.dialect"]]
            assert (effective["signing"] != "off") == (asked["smb.signing"] == "true")
        elif "nfs.nconnect" not in asked:
            assert effective["nfs.nconnect"] == "1"
    assert left(guests) == before


def test_the_kernel_and_programs_mount_and_serve_the_same_share(guests: Bench) -> None:
    """GVfs for one mount alone, beside the kernel's own, and both NFS servers in turn."""
    programs: dict[str, Any] = {
        "nfs.client": ["kernel", "gvfs"], "nfs.server": ["kernel", "ganesha"], "smb.client": ["gvfs"]
    }  # fmt: skip
    before = left(guests)
    done = guests.run(protocol=["smb", "nfs"], tool=["cp"], size="1 MiB", **programs)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = guests.trials()
    assert len(trials) == 10
    for trial in trials:
        asked = {name: level for name, level in trial["options"].items() if "." in name}
        effective = trial["effective"]
        assert asked == {name: effective[name] for name in asked}
        assert effective["mount"] == asked[f"{trial['protocol']}.client"]
        if trial["protocol"] == "nfs":
            assert ("kernel's NFS server" in effective["server_sync_by"]) == (asked["nfs.server"] == "kernel")
    assert left(guests) == before


def test_a_kernels_server_that_may_be_somebody_elses_is_left_to_them(guests: Bench) -> None:
    """Who names it is told what to do, by the check too; who does not is served by Ganesha."""
    by_name: dict[str, Any] = {"nfs.server": ["kernel", "ganesha"]}
    before, remedy = left(guests), "`systemctl stop rpcbind.socket rpcbind` if it is not"
    guests.inside("server", "rpcbind -w")
    try:
        checked = guests.lab("check", "--hosts", str(guests.hosts))
        named = guests.run(**by_name, protocol=["nfs"], tool=["cp"])
        unnamed = guests.run(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB")
    finally:
        guests.inside("server", "pkill -x rpcbind; rm -f /run/rpcbind.*")
    why = "rpcbind runs already, and may be somebody's"
    assert f"nfs options: server: nfs.server = kernel cannot be named: {why}  -> {remedy}\n" in checked.stdout
    assert named.returncode == 1
    assert named.stderr.endswith(f"server: {why}\n{remedy}\n")
    assert unnamed.returncode == 0, unnamed.stdout + unnamed.stderr
    (trial,) = guests.trials()
    assert trial["effective"]["nfs.server"] == "ganesha"
    assert left(guests) == before


@pytest.mark.parametrize("moment", ['"b001-0002"'], ids=["under way"])
def test_what_a_killed_controller_left_in_a_kernel_is_put_back(guests: Bench, moment: str) -> None:
    """The threads and exports of a kernel's server, and a mount, have no process that could be ended."""
    before = left(guests)
    sweep = guests.sweep(
        protocol=["nfs"], tool=["cp"], mtu=[9000], size="64 MiB", blocks=9, **{"nfs.server": ["kernel"]}
    )
    with guests.started("run", "--hosts", str(guests.hosts), str(sweep)) as run:
        guests.wait_for(moment, run)
        end(run, signal.SIGKILL)
    assert left(guests) != before
    restored = guests.lab("restore")
    assert restored.returncode == 0, restored.stderr
    assert left(guests) == before
    assert "nothing is left" in guests.lab("restore").stdout
    assert guests.inside("server", "cat /proc/fs/nfsd/threads 2>/dev/null || echo 0") == "0\n"


def test_an_option_that_does_not_take_effect_fails_its_trial_and_no_other(guests: Bench) -> None:
    """The server of a kernel with 3 GiB takes requests of 512 KiB at most."""
    levels: dict[str, Any] = {"nfs.wsize": ["512 KiB", "1 MiB"]}
    done = guests.run(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB", **levels)
    assert done.returncode == 1, done.stdout + done.stderr
    status = {trial["options"]["nfs.wsize"]: (trial["status"], trial["reason"]) for trial in guests.trials()}
    assert status["512 KiB"][0] == "ok"
    assert status["1 MiB"][0] == "failed"
    assert "client: nfs.wsize was set to 1 MiB and reads back as 512 KiB" in status["1 MiB"][1]


@pytest.mark.parametrize(("protocol", "options"), [("nfs", {"nfs.hard": [True]})])
def test_a_mount_whose_server_is_gone_is_noticed_and_forced_off(
    guests: Bench, protocol: str, options: dict[str, Any]
) -> None:
    before = left(guests)
    server, port = {"nfs": ("rpc.mountd", 2049), "smb": ("smbd", 445)}[protocol]
    cut = guests.strike_under_way(server, 8 * MIB, "ip", "link", "set", "dev", "eth0", "down")
    with guests.started(*cut):
        sweep = {"protocol": [protocol], "tool": ["cp"], "direction": ["write"], "size": "256 MiB", **options}
        done = guests.run(**sweep, slowest=1_000_000)  # at its deadline it would fail after 5 minutes
    waiting = guests.inside("client", WAITING)
    guests.inside("server", "ip link set dev eth0 up")
    assert done.returncode == 1, done.stdout + done.stderr
    (trial,) = guests.trials()
    assert f"no longer answers on port {port} ({protocol.upper()})" in trial["reason"]
    assert waiting == "" or protocol == "smb"  # which gives up by itself, some minutes later
    deadline = time.monotonic() + 600
    while guests.inside("client", WAITING) and time.monotonic() < deadline:
        time.sleep(1)
    assert left(guests) == before


def test_afp_lasts_though_its_client_minds_early_replies(guests: Bench) -> None:
    """gvfsd-afp dies when a reply overtakes its request, which the kernel's log would tell."""
    before = left(guests)
    done = guests.run(protocol=["afp"], tool=["cp", "rsync"], mtu=[9000], size="16 MiB", blocks=3)
    died = guests.inside("client", "dmesg | grep gvfsd-afp || :")
    assert (done.returncode, died) == (0, ""), done.stdout + done.stderr
    assert {trial["status"] for trial in guests.trials()} == {"ok"}
    assert left(guests) == before


def test_ram_disks_with_ext4_come_and_go(guests: Bench) -> None:
    before = left(guests)
    done = guests.run(hosts=in_ext4(guests), protocol=["ssh", "smb", "nfs"], size="16 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    trials = guests.trials()
    assert len(trials) == 6
    for trial in trials:
        disks = [trial["effective"][f"{host}_ram_disk"] for host in state.HOSTS]
        assert [disk.split(",")[:2] for disk in disks] == [["ext4 rw", "noatime"]] * 2
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert 16 * MIB * 1.005 < moved < 16 * MIB * 1.1, trial
    assert left(guests) == before
    assert modules(guests) == {""}


def test_ram_devices_of_somebody_else_are_left_alone(guests: Bench) -> None:
    guests.inside("server", "modprobe brd rd_nr=2 rd_size=4096; echo theirs > /dev/ram1")
    try:
        done = guests.run(hosts=in_ext4(guests))
        theirs = guests.inside("server", "head -c 6 /dev/ram1")
    finally:
        guests.inside("server", "modprobe -r brd")
    assert done.returncode == 1
    assert "server: ram_disk_format = ext4: its kernel has brd loaded already" in done.stderr
    assert theirs == "theirs"


@pytest.mark.parametrize("moment", ["modprobe brd rd_nr", "exec mkfs.ext4", "mount -t ext4", '"b001-0001"'])
def test_a_ram_disk_of_a_killed_controller_is_removed_by_the_journal(guests: Bench, moment: str) -> None:
    before = left(guests)
    with a_long_run(guests) as run:
        guests.wait_for(moment, run)
        end(run, signal.SIGKILL)
    guests.wait_until_free()
    assert modules(guests) != {""}
    restored = guests.lab("restore")
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert left(guests) == before
    assert modules(guests) == {""}


def test_a_ram_disk_that_somebody_uses_stays_in_sight_until_they_are_done(guests: Bench) -> None:
    before = left(guests)
    with a_long_run(guests) as run:
        guests.wait_for('"b001-0001"', run)
        guests.inside("server", "cd /var/lib/file-share-lab/*/ram && sleep 10000 >/dev/null 2>&1 </dev/null &")
        code, said = end(run, signal.SIGINT)
    assert code == 1
    assert "server: RAM disk /var/lib/file-share-lab/file-share-lab-" in said
    assert "server: module brd should be 'absent' and is 'rd_nr=1 rd_size=" in said
    assert "/ram ext4 " in guests.inside("server", "cat /proc/self/mounts")
    guests.inside("server", "pkill -x sleep")
    restored = guests.lab("restore")
    assert restored.returncode == 0, restored.stdout + restored.stderr
    assert left(guests) == before
    assert modules(guests) == {""}


def test_hosts_have_kernels_of_their_own_and_status_says_so(guests: Bench) -> None:
    kernels = {guests.inside(host, "cat /proc/sys/kernel/random/boot_id") for host in state.HOSTS}
    assert len(kernels | {Path("/proc/sys/kernel/random/boot_id").read_text()}) == 3
    status = guests.lab("local", "status").stdout
    line = next(line for line in status.splitlines() if line.startswith(f"{guests.name}:"))
    lab = state.load(guests.name)
    assert lab is not None
    assert f"{GUESTS[lab.backend].title} (--backend {lab.backend})" in line


def test_exec_passes_words_exit_code_and_standard_input_into_a_guest(guests: Bench) -> None:
    words = ("sh", "-c", 'cat; echo "$1"; exit 7', "x", "a  b")
    command = guests.command("local", "exec", "--name", guests.name, "client", "--", *words)
    done = subprocess.run(command, cwd=guests.directory, input="in\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "in\na  b\n")


def test_a_reboot_leaves_a_guest_its_disk_and_the_link(guests: Bench) -> None:
    look = "cat /srv/disk/mark /run/mark 2>/dev/null; cat /sys/class/net/eth0/mtu /proc/sys/kernel/random/boot_id"
    guests.inside("server", "echo kept | tee /srv/disk/mark > /run/mark; ip link set dev eth0 mtu 9000; sync")
    before = guests.inside("server", look).splitlines()
    assert guests.lab("local", "reboot", "--name", guests.name, "server").returncode == 0
    after = guests.inside("server", look).splitlines()
    assert (before[:-1], after[:-1]) == (["kept", "kept", "9000"], ["kept", "1500"])
    assert before[-1] != after[-1]
    assert "1 received" in guests.inside("client", "ping -q -c 1 -w 60 server-data")


@pytest.mark.parametrize("victim", ["guest", "holder and its parent"])
def test_nothing_is_left_of_guests_after_a_kill(new_bench: Callable[..., Bench], backend: str, victim: str) -> None:
    bench = new_bench("--kernel", "own", "--backend", backend)
    lab = state.load(bench.name)
    assert lab is not None
    first = lab.hosts["client"].pid
    guest = int(Path(f"/proc/{first}/task/{first}/children").read_text().split()[0])
    for pid in [guest] if victim == "guest" else [lab.cleaner.pid, lab.supervisor.pid]:
        os.kill(pid, signal.SIGKILL)
    if victim != "guest":
        assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    assert not gone(bench.name)
    assert not bench.hosts.exists()
