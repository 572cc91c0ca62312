"""`lab measure` of further targets: AFP, NFS without a password, an encrypted share, and two at once."""

from support.measure_scene import check_measured
from support.measured import Measured


def test_a_share_of_afp_is_measured_by_its_url_as_often_as_gvfs_lives(scene: Measured) -> None:
    """gvfsd-afp dies now and then, and what it leaves `lab restore` takes away."""
    for _ in range(4):
        done = scene.measure(scene.url("afp"))
        if done.returncode == 0:
            break
        assert "Traceback" not in done.stderr
        scene.ann.lab("restore", SECRET=scene.password)
        scene.bench.inside("server", "rm -rf /mnt/share/file-share-lab-*")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "afp")


def test_a_share_of_nfs_is_measured_where_no_password_can_come_from_anywhere(scene: Measured) -> None:
    done = scene.ann.lab("measure", scene.url("nfs"), "--time", "10s")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_share_that_is_encrypted_is_measured_like_any_other(scene: Measured) -> None:
    done = scene.measure(scene.url("smb", "sealed"))
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "smb")


def test_of_two_measures_at_once_the_second_is_refused_and_the_first_goes_on(scene: Measured) -> None:
    with scene.started(scene.url("smb"), seconds=10) as first:
        first.wait_for("stopwatch.pl eth0")
        done = scene.ann.lab(*scene.options(scene.url("nfs"), seconds=10), SECRET=scene.password)
        assert done.returncode == 1
        assert "in use by ann@client" in done.stderr
        code, output = first.end()
    assert code == 0, output
    check_measured(scene, "smb")
