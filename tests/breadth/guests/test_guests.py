"""Hosts with kernels of their own: what only such a kernel can do, and that nothing of it stays."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from faults.observe import Observer
from support.guests import MIB, WAITING, a_long_run, in_ext4, left, modules
from support.local_lab import Bench, end, gone
from support.smb_on_the_wire import counted_requests
from support.waiting import wait_until

from lab.base.present import present
from lab.local import state
from lab.local.backends import GUESTS


def test_the_kernels_mount_and_serve_and_nothing_stays(guests: Bench) -> None:
    """Every trial verifies its content: a trial that is ok has moved the right bytes."""
    before = left(guests)
    trials = guests.measure(protocol=["ssh", "smb", "nfs"], mtu=[9000], tcp_space=["128 KiB"], size="4 MiB")
    check_moved(trials, 4 * MIB)
    effective = {trial["protocol"]: trial["effective"] for trial in trials}
    assert {name: effective[name]["mount"] for name in effective} == {"ssh": "none", "smb": "kernel", "nfs": "kernel"}
    assert effective["smb"]["dialect"] == "SMB3_11"
    assert "vers=3.1.1" in effective["smb"]["mount_options"]
    assert effective["nfs"]["dialect"] == "NFSv4.2"
    assert effective["nfs"]["server_sync_by"] == "export option sync of the kernel's NFS server"
    assert left(guests) == before


def check_moved(trials: list[dict[str, Any]], size_bytes: int) -> None:
    """The bytes on the wire: the payload, and headers of the protocol and of each frame (52 to 66 of 9000 bytes)."""
    assert len(trials) == 6
    for trial in trials:
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert 1.005 * size_bytes < moved < 1.1 * size_bytes, trial


def test_the_kernels_server_exports_asynchronously(guests: Bench) -> None:
    """Also where Ganesha is not installed."""
    with guests.missing("server", "/usr/bin/ganesha.nfsd"):
        (trial,) = guests.measure(protocol=["nfs"], tool=["cp"], direction=["write"], server_sync=["async"])
    assert trial["effective"]["server_sync"] == "async"


@pytest.mark.parametrize(("level", "flushes"), [("fsync", 1), ("close", 0)])
def test_an_fsync_of_the_client_is_a_flush_on_the_wire(guests: Bench, level: str, flushes: int) -> None:
    with counted_requests(Observer(guests.name).init("server"), "data") as requests:
        guests.measure(protocol=["smb"], tool=["cp"], direction=["write"], client_sync=[level])
    assert requests["WRITE"] >= 1
    assert requests["FLUSH"] == flushes


def test_options_of_mounts_are_in_effect_as_both_ends_see_them(guests: Bench) -> None:
    options: dict[str, Any] = {
        "smb.dialect": ["2.1", "3.1.1"], "smb.signing": [True, False], "smb.multichannel": ["default", True],
        "nfs.version": [3, 4.1], "nfs.nconnect": ["default", 3], "nfs.rsize": ["64 KiB"], "nfs.hard": [True],
    }  # fmt: skip
    before = left(guests)
    trials = guests.measure(protocol=["smb", "nfs"], tool=["cp"], direction=["read"], size="1 MiB", **options)
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
    """GVfs mounts one share beside the kernel; both NFS servers serve in turn."""
    programs: dict[str, Any] = {"nfs.client": ["kernel", "gvfs"], "nfs.server": ["kernel", "ganesha"]}
    before = left(guests)
    trials = guests.measure(protocol=["smb", "nfs"], tool=["cp"], size="1 MiB", **programs | {"smb.client": ["gvfs"]})
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
    """A sweep that names it is refused with a remedy, as in the check; any other sweep is served by Ganesha."""
    by_name: dict[str, Any] = {"nfs.server": ["kernel", "ganesha"]}
    before, remedy = left(guests), "`systemctl stop rpcbind.socket rpcbind` if it is not"
    with guests.changed("server", "rpcbind -w", "pkill -x rpcbind; rm -f /run/rpcbind.*"):
        checked = guests.lab("check", "--hosts", str(guests.hosts))
        message = guests.refused_run(1, **by_name, protocol=["nfs"], tool=["cp"])
        (trial,) = guests.measure(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB")
    why = "rpcbind runs already, and may be somebody's"
    assert f"nfs options: server: nfs.server = kernel cannot be named: {why}  -> {remedy}\n" in checked.stdout
    assert message.endswith(f"server: {why}\n{remedy}\n")
    assert trial["effective"]["nfs.server"] == "ganesha"
    assert left(guests) == before


@pytest.mark.parametrize("moment", ['"b001-0002"'], ids=["under way"])
def test_what_a_killed_controller_left_in_a_kernel_is_restored(guests: Bench, moment: str) -> None:
    """The threads and exports of a kernel's server, and a mount, have no process that could be ended."""
    before = left(guests)
    factors: dict[str, Any] = {"protocol": ["nfs"], "tool": ["cp"], "mtu": [9000], "nfs.server": ["kernel"]}
    guests.kill_run(moment, size="64 MiB", blocks=9, **factors)
    assert left(guests) != before
    guests.check_output("restore")
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
def test_a_mount_whose_server_is_gone_is_forced_off(guests: Bench, protocol: str, options: dict[str, Any]) -> None:
    before = left(guests)
    server, port = {"nfs": ("rpc.mountd", 2049), "smb": ("smbd", 445)}[protocol]
    cut = guests.strike_under_way(server, 8 * MIB, "ip", "link", "set", "dev", "eth0", "down")
    with guests.started(*cut):
        factors = {"protocol": [protocol], "tool": ["cp"], "direction": ["write"], "size": "256 MiB", **options}
        done = guests.run(**factors, slowest=1_000_000)  # at its deadline it would fail after 5 minutes
    waiting = guests.inside("client", WAITING)
    guests.inside("server", "ip link set dev eth0 up")
    assert done.returncode == 1, done.stdout + done.stderr
    (trial,) = guests.trials()
    assert f"no longer answers on port {port} ({protocol.upper()})" in trial["reason"]
    assert waiting == "" or protocol == "smb"  # SMB gives up by itself some minutes later
    wait_until(lambda: not guests.inside("client", WAITING), "the end of all waiting", seconds=600)
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
    trials = guests.measure(hosts=in_ext4(guests), protocol=["ssh", "smb", "nfs"], size="16 MiB")
    check_moved(trials, 16 * MIB)
    for trial in trials:
        disks = [trial["effective"][f"{host}_ram_disk"] for host in state.HOSTS]
        assert [disk.split(",")[:2] for disk in disks] == [["ext4 rw", "noatime"]] * 2
    assert left(guests) == before
    assert modules(guests) == {""}


def test_ram_devices_of_somebody_else_are_left_alone(guests: Bench) -> None:
    load = "modprobe brd rd_nr=2 rd_size=4096; echo theirs > /dev/ram1"
    with guests.changed("server", load, "modprobe -r brd"):
        message = guests.refused_run(1, hosts=in_ext4(guests))
        theirs = guests.inside("server", "head -c 6 /dev/ram1")
    assert "server: ram_disk_format = ext4: its kernel has brd loaded already" in message
    assert theirs == "theirs"


@pytest.mark.parametrize("moment", ["modprobe brd rd_nr", "exec mkfs.ext4", "mount -t ext4", '"b001-0001"'])
def test_a_ram_disk_of_a_killed_controller_is_removed_by_the_journal(guests: Bench, moment: str) -> None:
    before = left(guests)
    with a_long_run(guests) as run:
        guests.wait_for(moment, run)
        end(run, signal.SIGKILL)
    guests.wait_until_free()
    assert modules(guests) != {""}
    guests.check_output("restore")
    assert left(guests) == before
    assert modules(guests) == {""}


def test_a_ram_disk_that_somebody_uses_stays_in_sight_until_they_are_done(guests: Bench) -> None:
    before = left(guests)
    with a_long_run(guests) as run:
        guests.wait_for('"b001-0001"', run)
        guests.inside("server", "cd /var/lib/file-share-lab/*/ram && sleep 10000 >/dev/null 2>&1 </dev/null &")
        code, output = end(run, signal.SIGINT)
    assert code == 130
    assert "server: RAM disk /var/lib/file-share-lab/file-share-lab-" in output
    assert "server: module brd should be 'absent' and is 'rd_nr=1 rd_size=" in output
    assert "/ram ext4 " in guests.inside("server", "cat /proc/self/mounts")
    guests.inside("server", "pkill -x sleep")
    guests.check_output("restore")
    assert left(guests) == before
    assert modules(guests) == {""}


def test_hosts_have_kernels_of_their_own_and_status_says_so(guests: Bench) -> None:
    kernels = {guests.inside(host, "cat /proc/sys/kernel/random/boot_id") for host in state.HOSTS}
    assert len(kernels | {Path("/proc/sys/kernel/random/boot_id").read_text()}) == 3
    status = guests.lab("local", "status").stdout
    line = next(line for line in status.splitlines() if line.startswith(f"{guests.name}:"))
    lab = present(state.load(guests.name))
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
    guests.check_output("local", "reboot", "--name", guests.name, "server")
    after = guests.inside("server", look).splitlines()
    assert (before[:-1], after[:-1]) == (["kept", "kept", "9000"], ["kept", "1500"])
    assert before[-1] != after[-1]
    assert "1 received" in guests.inside("client", "ping -q -c 1 -w 60 server-data")


@pytest.mark.parametrize("victim", ["guest", "holder and its parent"])
def test_nothing_is_left_of_guests_after_a_kill(new_bench: Callable[..., Bench], backend: str, victim: str) -> None:
    bench = new_bench("--kernel", "own", "--backend", backend)
    lab = present(state.load(bench.name))
    first = lab.hosts["client"].pid
    guest = int(Path(f"/proc/{first}/task/{first}/children").read_text().split()[0])
    for pid in [guest] if victim == "guest" else [lab.cleaner.pid, lab.supervisor.pid]:
        os.kill(pid, signal.SIGKILL)
    if victim != "guest":
        bench.check_output("local", "down", "--name", bench.name)
    assert not gone(bench.name)
    assert not bench.hosts.exists()


def test_file_systems_are_made_in_images_and_the_module_of_loops_goes_with_them(guests: Bench) -> None:
    before, module = left(guests), "ls -d /sys/module/loop 2>/dev/null || :"
    loaded_before = guests.inside("server", module)
    stores = ["btrfs", "ext4", "xfs"]
    trials = guests.measure(protocol=["nfs"], tool=["cp"], direction=["write"], size="1 MiB", store=stores)
    assert sorted(trial["effective"]["server_store"].partition(",")[0] for trial in trials) == stores
    assert all("kernel's NFS server" in trial["effective"]["server_sync_by"] for trial in trials)
    assert left(guests) == before
    assert guests.inside("server", module) == loaded_before
