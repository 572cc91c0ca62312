"""Two controllers, lost disks, lost connections, and hosts that are only to be looked at: on real hosts."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.local_lab import Bench, end

from lab.local import state

HOST_JOURNAL = "/var/lib/file-share-lab/journal"
# a share of the server's own
SAMBA = r"""
mkdir -p /root/samba && cd /root/samba && cat > smb.conf <<END
[global]
private dir = /root/samba
lock directory = /root/samba
state directory = /root/samba
cache directory = /root/samba
pid directory = /root/samba
ncalrpc dir = /root/samba/ncalrpc
log file = /root/samba/log
disable netbios = yes
load printers = no
[media]
path = /srv/disk
read only = no
force user = root
END
printf 'PASSWORD\nPASSWORD\n' | smbpasswd -c smb.conf -a -s lab
smbd --daemon -s /root/samba/smb.conf
"""


def test_a_host_is_restored_by_what_it_has_noted_itself(bench: Bench) -> None:
    before = bench.state()
    factors = {"protocol": ["smb"], "mtu": [9000], "tcp_space": ["64 KiB"], "blocks": 5}
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        bench.wait_for('"b001-0001"', run)
        end(run, signal.SIGKILL)
    shutil.rmtree(bench.directory / "results")
    bench.wait_until_free()
    assert bench.state() != before
    refused = bench.run()
    assert refused.returncode == 1
    assert "an earlier run left it changed" in refused.stderr
    assert "lab restore --hosts" in refused.stderr
    restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert restored.returncode == 0, restored.stderr
    assert "by what the hosts had noted" in restored.stdout
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore", "--hosts", str(bench.hosts)).stdout


def test_a_second_controller_is_told_that_the_hosts_are_in_use(bench: Bench, tmp_path: Path) -> None:
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(protocol=["smb"], blocks=50))) as run:
        bench.wait_for('"b001-0001"', run)
        other = Bench(bench.name, tmp_path)
        refused = other.lab("run", "--hosts", str(bench.hosts), str(bench.directory / "sweep.toml"))
        restored = other.lab("restore", "--hosts", str(bench.hosts))
        for done in (refused, restored):
            assert done.returncode == 1
            assert f"in use by {'root'}@" in done.stderr
            assert f"(process {run.pid}, since " in done.stderr
        assert list(tmp_path.glob("results/*")) == []
        code, _ = end(run, signal.SIGINT)
    assert code == 130
    statuses = {trial["status"] for trial in bench.trials()}
    assert statuses == {"ok"}


def test_a_connection_that_is_cut_fails_its_trial_and_the_sweep_goes_on(bench: Bench) -> None:
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], mtu=[9000], blocks=3, size="32 MiB")
    with bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        bench.wait_for("stopwatch.pl eth0", run)
        # the one that the lab's lock names
        bench.inside("client", f"read -r run pid start < {HOST_JOURNAL}/lock; kill -9 $pid")
        output, _ = run.communicate(timeout=200)
    statuses = [trial["status"] for trial in bench.trials()]
    assert len(statuses) == 6
    assert "client: connection lost; trying" in output
    # none, where it was lost while something was put back
    assert set(statuses) <= {"ok", "failed"}
    assert statuses.count("failed") <= 1, statuses
    assert all("lost" in trial["reason"] for trial in bench.trials() if trial["status"] == "failed")


@pytest.mark.parametrize("transport", ["paramiko"])
def test_a_sweep_over_the_very_link_that_it_changes(bench: Bench, transport: str) -> None:
    """The controller is the client: it reaches the server over the interface whose MTU it sets."""
    lab = state.load(bench.name)
    assert lab is not None
    known = bench.directory / "known_over_link"
    lines = (state.directory(bench.name) / "known_hosts").read_text().splitlines()
    keys = [line.split(" ", 1)[1] for line in lines]
    known.write_text(f"127.0.0.1 {keys[0]}\n10.99.0.2 {keys[1]}\n")
    here = {"known_hosts": str(known), "proxy_command": "none", "transport": transport}
    changes = {f"{role}_{key}": value for role in ("client", "server") for key, value in here.items()}
    hosts = bench.changed_hosts(client_host="127.0.0.1", server_host="10.99.0.2", **changes)
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], mtu=[1500, 9000], tcp_space=["64 KiB"])
    enter = ["nsenter", "--target", str(lab.hosts["client"].pid), "--net", "--"]
    command = [*enter, *bench.command("run", "--hosts", str(hosts), str(sweep))]
    environment = os.environ | bench.environment
    done = subprocess.run(command, cwd=bench.directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [trial["status"] for trial in bench.trials()] == ["ok"] * 4
    about = json.loads((bench.newest() / "run.json").read_text())
    assert [about["hosts"][role]["transport"] for role in ("client", "server")] == [transport] * 2


def test_a_server_that_is_only_to_be_looked_at_is_not_changed(new_bench: Callable[..., Bench]) -> None:
    """A share that was there before: no RAM disk, no MTU, no TCP buffers, no server of the lab's on that host."""
    bench = new_bench()
    password = (state.directory(bench.name) / "password").read_text()
    bench.inside("server", SAMBA.replace("PASSWORD", password))
    try:
        hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/disk", share_name="media")
        jumbo = bench.sweep(protocol=["smb"], mtu=[9000], store=["disk"])
        refused = bench.lab("run", "--hosts", str(hosts), str(jumbo))
        assert refused.returncode == 1
        assert "its MTU is 1500, the sweep wants 9000, and the lab is not to change it" in refused.stderr
        space = bench.sweep(protocol=["smb"], tcp_space=["64 KiB"], store=["disk"])
        refused = bench.lab("run", "--hosts", str(hosts), str(space))
        assert refused.returncode == 2
        assert "[server] tune: the lab is not to change this host" in refused.stderr
        done = bench.run(hosts=hosts, protocol=["smb"], tool=["cp"], store=["disk"])
        assert done.returncode == 0, done.stdout + done.stderr
        log = (bench.newest() / "commands.log").read_text().splitlines()
        ours = [line for line in log if " server " in line]
        assert ours
        for word in ("mount -t", "ip link set", "tcp_rmem >", "smbd"):
            assert not any(word in line for line in ours), word
    finally:
        bench.inside("server", "kill $(cat /root/samba/smbd.pid); rm -rf /root/samba")
