"""What breaks off `lab measure` in the middle: mounts, servers, links and quotas."""

import re
import subprocess

import pytest
from support.measure_scene import OWN
from support.measured import SERVER, Measured

from lab.local import state


def test_a_share_that_is_read_only_is_said(scene: Measured) -> None:
    done = scene.measure(scene.url("smb", "readonly"))
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert "can this account write into the share?" in done.stderr


def test_a_share_that_is_full_is_said(scene: Measured) -> None:
    done = scene.measure(scene.url("smb", "small"))
    assert done.returncode == 1
    assert re.search("no space: only [0-9]+ bytes are left in", done.stderr)


def test_a_quota_that_is_reached_in_the_middle_is_said(scene: Measured) -> None:
    done = scene.measure(scene.url("smb", "quota"))
    assert done.returncode == 1
    assert re.search("No space left on device|Disk quota exceeded", done.stderr)
    assert scene.on_server("ls -A /mnt/small") == ""


def test_what_a_restore_cannot_reach_any_more_is_named(one_scene: Measured) -> None:
    with one_scene.left_as_found() as scene:
        try:
            with scene.started(scene.url("smb")) as run:
                run.wait_for_process("^cp --sparse")
                run.strike("KILL")
                run.end()
            scene.bench.inside("client", "pkill -KILL -u ann -x gvfsd-smb")
            done = scene.ann.lab("restore", SECRET=scene.password)
            (left,) = re.findall(OWN, scene.on_server("ls /mnt/share"))
        finally:
            scene.on_server("rm -rf /mnt/share/file-share-lab-*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the lab's mount of the share had ended: where {left} is in it still, remove it" in done.stdout.replace(
        "\n", " "
    )


@pytest.mark.parametrize("moment", ["^cp --sparse", r"perl -e .* check "], ids=["transfer", "checking"])
def test_a_mount_that_dies_is_made_anew(scene: Measured, moment: str) -> None:
    """Of a URL it is the lab's own, by a program that may die at any time."""
    with scene.started(scene.url("smb"), seconds=10) as run:
        run.wait_for_process(moment)
        scene.bench.inside("client", "pkill -KILL -u ann -x gvfsd-smb")
        code, output = run.end()
    assert code == 0, output


def test_a_link_that_goes_down_ends_the_run_and_nothing_stays_on_the_client(one_scene: Measured) -> None:
    with one_scene.left_as_found() as scene:
        try:
            with scene.started(scene.url("nfs"), seconds=10) as run:
                run.wait_for_process("^cp --sparse")
                scene.on_server("ip link set eth0 down")
                code, output = run.end()
        finally:
            scene.on_server("ip link set eth0 up; rm -rf /mnt/share/file-share-lab-*")
        assert (code, "Traceback" in output) == (1, False), output
        done = scene.ann.lab("restore")
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_mount_of_somebody_else_that_goes_away_is_tidied_when_it_is_back(scene: Measured) -> None:
    answers = f"lab\nWORKGROUP\n{scene.password}\n"
    uri = f"smb://{SERVER}/labram"
    try:
        folder = scene.mount(uri, answers)
        with scene.started(folder, seconds=10) as run:
            run.wait_for_process("^cp --sparse")
            scene.bench.inside("client", "pkill -KILL -u ann -x gvfsd-smb")
            code, output = run.end()
        assert code == 1, output
        assert "the share is not mounted there any more" in output
        assert re.search(OWN, scene.on_server("ls /mnt/share"))
        scene.mount(uri, answers)
        done = scene.ann.lab("restore")
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        scene.end_session()


def test_a_transfer_that_another_interface_takes_over_is_void(scene: Measured) -> None:
    """As when a laptop goes from its cable to Wi-Fi."""
    lab = state.load(scene.bench.name)
    assert lab
    pids = [str(lab.hosts[host].pid) for host in ("client", "server")]
    add = (
        "ip",
        "link",
        "add",
        "second0",
        "netns",
        pids[0],
        "type",
        "veth",
        "peer",
        "name",
        "second0",
        "netns",
        pids[1],
    )
    subprocess.run(add, check=True)
    try:
        scene.on_server("ip address add 10.98.0.2/24 dev second0; ip link set second0 up")
        scene.bench.inside("client", "ip address add 10.98.0.1/24 dev second0; ip link set second0 up")
        with scene.started(scene.url("smb"), seconds=10) as run:
            run.wait_for('"status":')
            run.wait_for_process("^(cp --sparse|rsync)")
            scene.bench.inside("client", f"ip route add {SERVER}/32 via 10.98.0.2 dev second0 src 10.99.0.1")
            _, output = run.end()
        void = [trial["reason"] for trial in scene.trials() if trial["status"] == "void"]
        assert any("they crossed second0: the way to the server is another one than before" in why for why in void), (
            output
        )
    finally:
        scene.bench.inside("client", "ip link del second0")
