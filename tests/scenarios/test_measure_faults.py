"""What goes wrong with `lab measure`: a message that says what to do, an exit code, and nothing left anywhere."""

import re

import pytest
from support.measure_scene import OWN
from support.measured import Measured

START_SAMBA = "cd /run/servers; setsid smbd --foreground --no-process-group -s smb.conf >/dev/null 2>&1 </dev/null &"
MOST_TRIES = 5  # on a busy machine a program may come and go between two looks
KILL_SAMBA = "pkill -KILL -x smbd; while pgrep -x smbd >/dev/null; do sleep 0.02; done"


@pytest.mark.parametrize(
    ("target", "message", "remedy"),
    [
        ("/home/ann", "on a disk or in the memory of this machine (overlay), and on no share", "no share is mounted"),
        ("smb://nosuchserver/x", "the server nosuchserver is not to be found", "is its name right"),
        ("smb://192.0.2.1/x", "there is no way to the server 192.0.2.1 (192.0.2.1)", "is this machine on its network?"),
        ("smb://lab:pw@10.99.0.2/x", "TARGET has a password in it", "the lab asks for it"),
    ],
)
def test_a_target_that_cannot_be_measured_is_bad_input(scene: Measured, target: str, message: str, remedy: str) -> None:
    done = scene.measure(target)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert remedy in done.stderr
    assert scene.ann.shell("ls results 2>/dev/null; :") == ""


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_that_is_not_there_is_said_with_what_may_help(scene: Measured, protocol: str) -> None:
    done = scene.measure(scene.url(protocol, "nosuch").replace("/mnt/share", "/mnt/nosuch"))
    assert done.returncode == 1
    assert "is the name of the share right, and may this account use it?" in done.stderr


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_password_that_is_wrong_is_said(scene: Measured, protocol: str) -> None:
    done = scene.measure(scene.url(protocol), SECRET="wrong")
    assert done.returncode == 1
    assert "the password was refused" in done.stderr
    assert "are the account and its password right?" in done.stderr


@pytest.mark.parametrize("moment", ["gio mount", "^cp --sparse"], ids=["mounting", "transfer"])
def test_ctrl_c_leaves_nothing(scene: Measured, moment: str) -> None:
    for _ in range(MOST_TRIES):
        with scene.started(scene.url("smb")) as run:
            if run.sees_process(moment):
                run.strike("INT")
                code, output = run.end()
                assert code == 130, output
                assert "Traceback" not in output
                return
    pytest.fail(f"{moment!r} was over before it was seen, {MOST_TRIES} times")


def test_what_was_killed_is_put_back_by_restore(scene: Measured) -> None:
    with scene.started(scene.url("smb")) as run:
        run.wait_for_process("^cp --sparse")
        run.strike("KILL")
        run.end()
    assert re.search(OWN, scene.on_server("ls /mnt/share"))
    done = scene.ann.lab("restore", SECRET=scene.password)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "put back" in done.stdout


def test_a_server_that_vanishes_ends_the_run_and_what_stays_there_is_said(one_scene: Measured) -> None:
    with one_scene.left_as_found() as scene:
        try:
            with scene.started(scene.url("smb"), seconds=10) as run:
                run.wait_for_process("^cp --sparse")
                scene.on_server(KILL_SAMBA)
                code, output = run.end()
            (left,) = re.findall(OWN, scene.on_server("ls /mnt/share"))
        finally:
            scene.on_server(f"{START_SAMBA}\nrm -rf /mnt/share/file-share-lab-*")
    assert code == 1, output
    assert f"the folder {left} stays in the share, which is out of reach" in output
