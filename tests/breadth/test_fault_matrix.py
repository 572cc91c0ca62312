"""The fault matrix: a sample of it, and that it sees what it is there to see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench
from support.paths import TESTS

from faults import trials
from faults.observe import Observer, difference

ROW: dict[str, Any] = {
    "trial_id": "b001-0001", "protocol": "smb", "direction": "write", "mtu": 9000, "size_bytes": 100, "elapsed_s": 0.1,
    "wire_tx_bytes": 110, "wire_rx_bytes": 9, "verified": True, "status": "ok",
    "effective": {"client_mtu": "9000", "server_mtu": "9000", "client_tcp_rmem": "1 2 3", "mount": "gvfs"},
}  # fmt: skip
LEFT = {
    "file /var/tmp/left": ("touch /var/tmp/left", "rm /var/tmp/left"),
    "file /etc/hosts": (  # as long as it was, and as old
        "cp -p /etc/hosts /root/h && sed -i s/localhost/lOcalhost/ /etc/hosts && touch -r /root/h /etc/hosts",
        "cat /root/h > /etc/hosts; rm /root/h",
    ),
    "file /srv/disk": ("chmod 700 /srv/disk", "chmod 755 /srv/disk"),
    "mount ": ("mount -t tmpfs left /mnt", "umount /mnt"),
    "process sleep 3600": ("setsid sleep 3600 </dev/null >/dev/null 2>&1 &", "pkill -x sleep"),
    "sysctl net/ipv4/tcp_rmem": (
        "cat /proc/sys/net/ipv4/tcp_rmem > /dev/rmem; echo 4096 65536 65536 > /proc/sys/net/ipv4/tcp_rmem",
        "cat /dev/rmem > /proc/sys/net/ipv4/tcp_rmem; rm /dev/rmem",
    ),
    "link eth0": ("ip link set dev eth0 mtu 1400", "ip link set dev eth0 mtu 1500"),
    "address eth0": ("ip address add 10.99.0.77/24 dev eth0", "ip address del 10.99.0.77/24 dev eth0"),
    "queue eth0": ("tc qdisc del dev eth0 root", "tc qdisc add dev eth0 root tbf rate 1gbit burst 256kb latency 20ms"),
}


@pytest.mark.local_lab
@pytest.mark.parametrize("clients", ["1", "3"])
def test_in_the_sample_nothing_is_dirty_lost_or_wrong(clients: str) -> None:
    command = [sys.executable, "-m", "faults", "--sample", "--clients", clients]
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.local_lab
def test_whatever_a_run_leaves_on_a_host_is_seen(bench: Bench) -> None:
    observer = Observer(bench.name)
    before = observer.state()
    bench.inside("server", "\n".join(leave for leave, _ in LEFT.values()))
    found = difference(before, observer.state())
    bench.inside("server", "\n".join(remove for _, remove in LEFT.values()))
    assert [what for what in LEFT if not any(f" server: {what}" in line for line in found)] == []
    assert [line for line in found if " client: " in line] == []
    assert difference(before, observer.state()) == []


def kept(folder: Path, *lines: Any) -> trials.Kept:
    """What a run folder with these lines keeps."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "trials.jsonl").write_text("".join(f"{text}\n" for text in texts))
    return trials.read(folder)


def test_lines_that_are_torn_twice_changed_or_missing_are_lost_trials(tmp_path: Path) -> None:
    one, two, slots = ROW, ROW | {"trial_id": "b001-0002"}, {"b001-0001", "b001-0002"}
    first = kept(tmp_path, one)
    assert trials.lost(first, kept(tmp_path, one, two), slots) == []
    assert trials.lost(first, kept(tmp_path, one), slots) == ["b001-0002 is missing"]
    assert trials.lost(first, kept(tmp_path, one, two, one), slots) == ["b001-0001 stands there 2 times"]
    assert trials.lost(first, kept(tmp_path, two, one), slots) == ["lines that stood there have changed"]
    assert "is torn" in trials.lost(first, kept(tmp_path, one, '{"trial_id": "b001', two), slots)[0]


@pytest.mark.parametrize(
    "change",
    [
        {"verified": False}, {"elapsed_s": None}, {"wire_tx_bytes": 99}, {"wire_tx_bytes": None}, {"mtu": 1500},
        {"effective": ROW["effective"] | {"server_mtu": "1500"}}, {"effective": ROW["effective"] | {"mount": "none"}},
    ],
)  # fmt: skip
def test_an_ok_that_cannot_be_is_wrong(tmp_path: Path, change: dict[str, Any]) -> None:
    usual, good, bad = {"b001-0001": ROW}, kept(tmp_path, ROW), kept(tmp_path, ROW | change)
    assert trials.wrong(good, good, usual, None) == []
    assert len(trials.wrong(good, good, usual, "b001-0001")) == 1
    assert len(trials.wrong(bad, bad, usual, None)) >= 1
    failed = kept(tmp_path, ROW | change | {"status": "failed"})
    assert trials.wrong(failed, failed, usual, "b001-0001") == []


@pytest.mark.parametrize("protocol", ["link", "store"])
def test_a_ceiling_need_only_have_been_measured(tmp_path: Path, protocol: str) -> None:
    unlike: dict[str, Any] = {"verified": None, "wire_tx_bytes": None, "effective": {}}
    good = kept(tmp_path, ROW | unlike | {"protocol": protocol})
    assert trials.wrong(good, good, {}, None) == []
    empty = kept(tmp_path, ROW | unlike | {"protocol": protocol, "elapsed_s": 0})
    assert trials.wrong(empty, empty, {}, None) == ["b001-0001: nothing was measured"]
