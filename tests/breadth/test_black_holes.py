"""A way that loses large packets between ends that think it carries them: what is told, and restored."""

import json
import re
from collections.abc import Callable

import pytest
from faults.observe import Observer, difference
from support.local_lab import Bench, succeeded
from support.measured import OWN, SERVER, Scene
from support.other_servers import RESTART_SAMBA

from lab.settings.by_hand import REMEDIES

# Large packets leave in one piece only without segmentation by the interface; a veth drops what is larger than its MTU
PLAIN = "$(command -v ethtool || echo /linux/usr/sbin/ethtool) -K eth0 tso off gso off gro off"
HOLE = "packets of {size} bytes do not arrive at 10.99.0.2, those of 1500 do"
REMEDY = "every switch and host on the way must carry the larger ones; else set MTU 1500 on both ends"
SOON_S = 60.0  # on a busy machine; else 20 s


@pytest.mark.parametrize(
    ("platform", "protocol", "program", "size"),
    [
        ("client=linux", "smb", "smbd", 9000),
        ("client=linux", "nfs", "ganesha", 9000),
        ("client=linux", "ssh", "rsync", 9000),
        ("client=macos@15.5", "smb", "smbd", 8192),
    ],
)
def test_a_trial_that_stalls_names_the_packets_that_vanish_and_the_next_one_goes_well(
    new_bench: Callable[..., Bench], platform: str, protocol: str, program: str, size: int
) -> None:
    bench = new_bench("--rate", "200mbit", "--platform", platform)
    for host in ("client", "server"):
        bench.inside(host, PLAIN)
    observer = Observer(bench.name)
    observer.settle()
    before = observer.state()
    tool = "rsync" if protocol == "ssh" else "cp"
    cut = bench.strike_under_way(program, 4_000_000, "ip", "link", "set", "eth0", "mtu", "1500")
    code, output = bench.run_struck(
        cut, protocol=[protocol], tool=[tool], direction=["write"], mtu=[9000], blocks=2, size="48 MiB", slowest=400_000
    )
    first, second = bench.trials()
    assert (code, first["status"], second["status"]) == (1, "failed", "ok"), output
    assert f"{HOLE.format(size=size)}: {REMEDY}" in first["reason"]
    assert output.count("The transfer is ended, and its files are removed") == 1
    observer.settle()
    assert difference(before, observer.state()) == []


def test_a_mounted_share_whose_way_loses_large_packets_is_told_and_stands_in_no_ones_way(one_scene: Scene) -> None:
    """The server keeps the broken session, and with it a file of the lab's, until its program is ended."""
    scene, share = one_scene, (f"smb://{SERVER}/labram", f"lab\nWORKGROUP\n{one_scene.password}\n")
    with scene.left_as_found():
        try:
            for host in ("client", "server"):
                scene.bench.inside(host, f"ip link set eth0 mtu 9000; {PLAIN}")
            folder = scene.mount(*share)
            with scene.started(folder, seconds=10) as run:
                run.wait_for_process("^cp --sparse")
                scene.on_server("ip link set eth0 mtu 1500")
                run.wait_for("ping -n -M do -s 1472", SOON_S)
                code, output = run.end()
            told = f"client: {HOLE.format(size=9000)}: {REMEDY}. The transfer is ended"
            assert (code, told in output) == (1, True), output
            cause = f"\n{folder}: this machine: {HOLE.format(size=9000)}\n{REMEDY}\n"
            assert f"{cause}not everything could be put back" in output
            scene.bench.inside("client", "ip link set eth0 mtu 1500")
            _check_other_shares(scene)
            assert f"Device or resource busy; {REMEDIES['[Bb]usy']}\n" in scene.ann.lab("restore").stderr
            scene.end_session()
            scene.on_server(f"pkill -KILL -x smbd; while pgrep -x smbd; do sleep 0.1; done; {RESTART_SAMBA}")
            assert scene.mount(*share) == folder
            succeeded(scene.ann.lab("restore"))
        finally:
            for host in ("client", "server"):
                scene.bench.inside(host, "ip link set eth0 mtu 1500")
            scene.end_session()


def _check_other_shares(scene: Scene) -> None:
    """Only the share of the run that is still open is refused, as JSON if asked."""
    (left,) = re.findall(OWN, scene.on_server("ls /mnt/share"))
    words = scene.options(scene.url("smb", "sealed"), seconds=10)
    done = succeeded(scene.ann.lab(*words, SECRET=scene.password))
    assert "left by an earlier run of another share: folder /home/ann/run/gvfs/" in done.stderr
    assert f"{left} in the share; `lab restore` puts it back\n" in done.stderr
    done = scene.ann.lab(*scene.options(scene.url("smb"), seconds=10), "--json", SECRET=scene.password)
    assert (done.returncode, "an earlier run left it changed" in json.loads(done.stdout)["error"]) == (1, True)
