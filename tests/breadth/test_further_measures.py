"""`lab measure`: further protocols and targets, and what breaks it off in the middle."""

import re
import subprocess

import pytest
from scenarios import test_measure as measures
from support.again import again
from support.local_lab import succeeded
from support.measured import OWN, SERVER, Scene, check_measured, measure_well

from lab.base.present import present
from lab.local import state

KILL_MOUNT = "pkill -KILL -u ann -x gvfsd-smb"
CONNECTING, PREPARING, CHECKING = "file-share-lab-local-", "perl -e .* make /home", "perl -e .* check "

test_a_share_of_nfs_is_measured_by_its_url = again(measures.test_a_share_is_measured_by_its_url, "protocol", "nfs")
test_a_mounted_share_of_nfs = again(measures.test_a_mounted_share_is_measured_by_its_folder, "protocol", "nfs")
test_other_shares_that_do_not_exist = again(measures.test_a_share_that_does_not_exist, "protocol", "nfs", "afp")
test_a_password_that_is_wrong_for_afp = again(measures.test_a_wrong_password_is_an_error, "protocol", "afp")
test_ctrl_c_at_further_moments = again(measures.test_ctrl_c_leaves_nothing, "moment", CONNECTING, PREPARING, CHECKING)


def test_a_share_of_afp_is_measured_by_its_url_as_often_as_gvfs_lives(scene: Scene) -> None:
    """gvfsd-afp dies now and then; `lab restore` removes what it leaves."""
    for _ in range(4):
        done = scene.measure(scene.url("afp"))
        if done.returncode == 0:
            break
        assert "Traceback" not in done.stderr
        scene.ann.lab("restore", SECRET=scene.password)
        scene.bench.inside("server", "rm -rf /mnt/share/file-share-lab-*")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "afp")


def test_nfs_is_measured_without_any_source_of_a_password(scene: Scene) -> None:
    succeeded(scene.ann.lab("measure", scene.url("nfs"), "--time", "10s"))


def test_a_share_that_is_encrypted_is_measured_like_any_other(scene: Scene) -> None:
    measure_well(scene, "smb", scene.url("smb", "sealed"))


def test_of_two_measures_at_once_the_second_is_refused_and_the_first_goes_on(scene: Scene) -> None:
    with scene.started(scene.url("smb"), seconds=10) as first:
        first.wait_for("stopwatch.pl eth0")
        done = scene.ann.lab(*scene.options(scene.url("nfs"), seconds=10), SECRET=scene.password)
        assert done.returncode == 1
        assert "in use by ann@client" in done.stderr
        code, output = first.end()
    assert code == 0, output
    check_measured(scene, "smb")


@pytest.mark.parametrize(
    ("share", "message"),
    [
        ("readonly", ": lab may not write into the share readonly\nis it read-only in the server's settings?"),
        ("small", ": the share small is full: a test needs 17 MB and 8 MB are free\nmake room there"),
        (
            "quota",
            ": the share quota takes no more, although it says that 102400 MB are free: a test needs 17 MB\na quota",
        ),
    ],
)
def test_a_share_that_takes_no_data_is_an_error_that_says_why(scene: Scene, share: str, message: str) -> None:
    assert message in scene.mistake(scene.url("smb", share))
    assert scene.on_server("ls -A /mnt/small") == ""


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "root_only",
            ": the server 10.99.0.2 refuses its export /mnt/root_only to this machine, or to all",
        ),
        ("share/none", ": the server 10.99.0.2 has no export /mnt/share/none, and no such folder in one\n`showmount"),
    ],
)
def test_an_export_that_cannot_be_used_says_why(scene: Scene, path: str, message: str) -> None:
    assert message in scene.mistake(f"nfs://{SERVER}/mnt/{path}")


def test_what_a_restore_cannot_reach_any_more_is_named(one_scene: Scene) -> None:
    with one_scene.left_as_found() as scene:
        try:
            with scene.started(scene.url("smb")) as run:
                run.wait_for_process("^cp --sparse")
                run.strike("KILL")
                run.end()
            scene.bench.inside("client", KILL_MOUNT)
            printed = succeeded(scene.ann.lab("restore", SECRET=scene.password)).stdout
            (left,) = re.findall(OWN, scene.on_server("ls /mnt/share"))
        finally:
            scene.on_server("rm -rf /mnt/share/file-share-lab-*")
    message = f"the lab's mount of the share had ended: where {left} is in it still, remove it"
    assert message in printed.replace("\n", " ")


@pytest.mark.parametrize("moment", ["^cp --sparse", CHECKING], ids=["transfer", "checking"])
def test_a_mount_of_the_labs_own_that_dies_is_made_anew(scene: Scene, moment: str) -> None:
    with scene.started(scene.url("smb"), seconds=10) as run:
        run.wait_for_process(moment)
        scene.bench.inside("client", KILL_MOUNT)
        code, output = run.end()
    assert code == 0, output


def test_a_link_that_goes_down_ends_the_run_and_nothing_stays_on_the_client(one_scene: Scene) -> None:
    with one_scene.left_as_found() as scene:
        try:
            with scene.started(scene.url("nfs"), seconds=10) as run:
                run.wait_for_process("^cp --sparse")
                scene.on_server("ip link set eth0 down")
                code, output = run.end()
        finally:
            scene.on_server("ip link set eth0 up; rm -rf /mnt/share/file-share-lab-*")
        assert (code, "Traceback" in output) == (1, False), output
        succeeded(scene.ann.lab("restore"))


def test_a_mount_of_somebody_else_that_goes_away_is_tidied_when_it_is_back(scene: Scene) -> None:
    share = f"smb://{SERVER}/labram", f"lab\nWORKGROUP\n{scene.password}\n"
    try:
        folder = scene.mount(*share)
        with scene.started(folder, seconds=10) as run:
            run.wait_for_process("^cp --sparse")
            scene.bench.inside("client", KILL_MOUNT)
            code, output = run.end()
        assert code == 1, output
        assert "the share is not mounted there any more" in output
        assert re.search(OWN, scene.on_server("ls /mnt/share"))
        scene.mount(*share)
        succeeded(scene.ann.lab("restore"))
    finally:
        scene.end_session()


def test_a_transfer_that_another_interface_takes_over_is_void(scene: Scene) -> None:
    """A laptop may change from its cable to Wi-Fi."""
    hosts = present(state.load(scene.bench.name)).hosts
    ends = [["second0", "netns", str(hosts[role].pid)] for role in ("client", "server")]
    subprocess.run(["ip", "link", "add", *ends[0], "type", "veth", "peer", "name", *ends[1]], check=True)
    try:
        scene.on_server("ip address add 10.98.0.2/24 dev second0; ip link set second0 up")
        scene.bench.inside("client", "ip address add 10.98.0.1/24 dev second0; ip link set second0 up")
        with scene.started(scene.url("smb"), seconds=10) as run:
            run.wait_for('"status":')
            run.wait_for_process("^(cp --sparse|rsync)")
            scene.bench.inside("client", f"ip route add {SERVER}/32 via 10.98.0.2 dev second0 src 10.99.0.1")
            _, output = run.end()
        void = [trial["reason"] for trial in scene.trials() if trial["status"] == "void"]
        reason = "they crossed second0: the way to the server is another one than before"
        assert any(reason in other for other in void), output
    finally:
        scene.bench.inside("client", "ip link del second0")
