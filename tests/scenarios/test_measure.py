"""`lab measure` as an ordinary user types it, on servers that are not the lab's: each target, and what goes wrong."""

import re
from collections.abc import Iterator

import pytest
from support.inside_host import PYTHON
from support.local_lab import succeeded
from support.measured import KEYS, OWN, SERVER, Scene, log_in, measure_well
from support.other_servers import BARE


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_is_measured_by_its_url(scene: Scene, protocol: str) -> None:
    assert measure_well(scene, protocol, scene.url(protocol)).splitlines()[-1].startswith("results/")


def test_a_share_and_a_folder_of_any_name_are_measured(scene: Scene) -> None:
    scene.on_server(ODD_SHARE)
    try:
        url = "smb://lab@10.99.0.2/Müll (1) #2 50%2525 a;b&c=d/é [x] 5% 'r' #"
        measure_well(scene, "smb", url)
    finally:
        scene.on_server("rm -r /mnt/share/é*; cp /run/servers/smb.kept /run/servers/smb.conf; rm /run/servers/smb.kept")


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_mounted_share_is_measured_by_its_folder(scene: Scene, protocol: str) -> None:
    """The share stays mounted, and the session of whoever mounted it goes on."""
    answers = f"lab\nWORKGROUP\n{scene.password}\n" if protocol == "smb" else ""
    try:
        folder = scene.mount(f"smb://{SERVER}/labram" if protocol == "smb" else scene.url("nfs"), answers)
        before = scene.state()
        measure_well(scene, protocol, folder)
        assert scene.ann.shell(f"cat '{folder}/mine'") == "mine\n"
        assert scene.state() == before
        script = f"cd '{folder}' && {PYTHON} -c '{APPEND}' && cat twice && rm twice"
        assert scene.ann.shell(script) == "abab", "a run may be kept on a share, too"
    finally:
        scene.end_session()


@pytest.fixture
def with_login(one_scene: Scene) -> Iterator[Scene]:
    log_in(one_scene)
    yield one_scene
    one_scene.on_server(f"cat /root/keys > {KEYS} && rm /root/keys")
    one_scene.ann.shell("rm -r .ssh")


def test_a_login_shows_the_side_of_the_server(with_login: Scene, scene: Scene) -> None:
    """A host that ssh knows is measured over SSH, or by SMB and looked at over SSH."""
    measure_well(scene, "ssh", "nas")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "ssh")
    assert scene.on_server("ls -A /home/lab | grep file-share-lab; :") == ""
    measure_well(scene, "smb", scene.url("smb"), "--server", "nas")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "smb")
    scene.on_server(f"set -- /home/lab\n{BARE}")  # as on a NAS
    done = succeeded(scene.measure(scene.url("smb"), "--server", "nas"))
    assert "the server is only watched (perl is missing" in done.stderr
    assert "[server]" not in done.stderr
    assert {trial["server_cpu_s"] is None for trial in scene.trials()} == {False}
    assert "ssh: the server is only watched (perl is missing" in scene.mistake("nas")


# A share's name in smb.conf has no ], and SMB has no " or ? in names
ODD_SHARE = r"""
cd /run/servers && cp smb.conf smb.kept && cat >> smb.conf <<'C' && kill -s HUP "$(cat smbd.pid)" || exit
[Müll (1) #2 50%25 a;b&c=d]
path = /mnt/share
read only = no
C
mkdir "/mnt/share/é [x] 5% 'r' #" && chown lab /mnt/share/é*
"""
APPEND = """
from pathlib import Path
from lab.base import durable
for _ in range(2): durable.append(Path("twice"), b"ab")
"""
START_SAMBA = "cd /run/servers; setsid smbd --foreground --no-process-group -s smb.conf >/dev/null 2>&1 </dev/null &"
MOST_TRIES = 5  # on a busy machine a program may come and go between two looks
KILL_SAMBA = "pkill -KILL -x smbd; while pgrep -x smbd >/dev/null; do sleep 0.02; done"


@pytest.mark.parametrize(
    ("target", "message", "remedy"),
    [
        ("/home/ann", "on a disk or in the memory of this machine (overlay), and on no share", "no share is mounted"),
        ("smb://nosuchserver/x", "the server nosuchserver is not to be found", "is its name right"),
        ("smb://192.0.2.1/x", "there is no way to the server 192.0.2.1: ", "is this machine on its network?"),
        ("smb://lab:pw@10.99.0.2/x", "TARGET has a password in it", "the lab asks for it"),
    ],
)
def test_a_target_that_cannot_be_measured_is_bad_input(scene: Scene, target: str, message: str, remedy: str) -> None:
    done = scene.measure(target)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert remedy in done.stderr
    assert scene.ann.shell("ls results 2>/dev/null; :") == ""


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_that_does_not_exist(scene: Scene, protocol: str) -> None:
    message = scene.mistake(scene.url(protocol, "nosuch").replace("/mnt/share", "/mnt/nosuch"))
    assert (
        "has no export /mnt/nosuch" if protocol == "nfs" else "has no share nosuch, or hides it from lab"
    ) in message
    assert ("`showmount -e" if protocol == "nfs" else "write it as in the server's settings") in message


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_wrong_password_is_an_error(scene: Scene, protocol: str) -> None:
    message = scene.mistake(scene.url(protocol), SECRET="wrong")
    assert ": the password was refused for lab, or lab may not use the share labram\n" in message
    assert "are the account and its password right?" in message
    listed = scene.ann.lab("list", "--all").stdout
    assert f"failed: {scene.url(protocol)}: the password was refused" in listed


def test_a_folder_that_the_share_does_not_have(scene: Scene) -> None:
    message = scene.mistake(f"{scene.url('smb')}/nö folder")
    assert ": the share labram has no folder nö folder\nis it written as on the server" in message


def test_a_client_without_gio_is_told_what_to_install(scene: Scene) -> None:
    scene.bench.inside("client", "mv /usr/bin/gio /usr/bin/gio.gone")
    try:
        message = scene.mistake(scene.url("smb"))
    finally:
        scene.bench.inside("client", "mv /usr/bin/gio.gone /usr/bin/gio")
    assert ": this machine: no gio: it is part of GVfs, which mounts AFP, and " in message
    assert "\n`apt-get install gvfs-backends gvfs-fuse libglib" in message
    assert "password" not in message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("env:NOPE", "--password env:NOPE: the environment variable NOPE is not set"),
        ("file:/no/such", "--password file:/no/such: /no/such cannot be read: No such file or directory"),
        ("prompt", "--password prompt: there is no terminal to ask at"),
        ("hunter2", "--password: takes no password, but where to find it: "),
    ],
)
def test_a_source_without_a_password_is_bad_input(scene: Scene, source: str, message: str) -> None:
    done = scene.ann.lab("measure", scene.url("smb"), "--password", source)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize("moment", ["gio mount", "^cp --sparse"], ids=["mounting", "transfer"])
def test_ctrl_c_leaves_nothing(scene: Scene, moment: str) -> None:
    for _ in range(MOST_TRIES):
        with scene.started(scene.url("smb")) as run:
            if run.sees_process(moment):
                run.strike("INT")
                code, output = run.end()
                assert code == 130, output
                assert "Traceback" not in output
                return
    pytest.fail(f"{moment!r} was over before it was seen, {MOST_TRIES} times")


def test_restore_cleans_up_after_a_kill(scene: Scene) -> None:
    with scene.started(scene.url("smb")) as run:
        run.wait_for_process("^cp --sparse")
        run.strike("KILL")
        run.end()
    assert re.search(OWN, scene.on_server("ls /mnt/share"))
    assert "put back" in succeeded(scene.ann.lab("restore", SECRET=scene.password)).stdout


def test_a_server_that_vanishes_ends_the_run_and_the_message_names_what_stays(one_scene: Scene) -> None:
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
