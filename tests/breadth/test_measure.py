"""`lab measure` as an ordinary user types it, against servers of somebody else's: every kind of target."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from support.local_lab import Bench
from support.measured import SERVER, Measured, arrange

MB = 1e6
KEYS = "/etc/ssh/lab_authorized_keys"  # of the account lab of a host of a local lab
LINK = 200 * MB / 8  # bytes a second of the link below


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Measured:
    return arrange(new_bench, "--rate", "200mbit")


@pytest.fixture
def scene(one_scene: Measured) -> Iterator[Measured]:
    with one_scene.left_as_found():
        yield one_scene


def check_measured(scene: Measured, protocol: str) -> None:
    """A run went well: verified trials each way that crossed the wire, in a run folder that every command reads."""
    trials = [trial for trial in scene.trials() if trial["protocol"] == protocol]
    good = [trial for trial in trials if trial["status"] == "ok"]
    assert {trial["direction"] for trial in good} == {"read", "write"}, trials
    for trial in good:
        assert trial["verified"]
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 1.2 * trial["size_bytes"]
        assert trial["size_bytes"] / trial["elapsed_s"] < 1.02 * LINK  # no cache gave it
    for words in (["show"], ["show", "--json"], ["report"]):
        done = scene.ann.lab(*words)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert "--json" not in words or json.loads(done.stdout)
    assert scene.ann.shell("ls results/*/report/report.html")


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


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_a_share_is_measured_by_its_url(scene: Measured, protocol: str) -> None:
    """NFS asks for no password: none is there."""
    done = scene.measure(scene.url(protocol))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("results/")
    check_measured(scene, protocol)


def test_a_share_of_nfs_is_measured_where_no_password_can_come_from_anywhere(scene: Measured) -> None:
    done = scene.ann.lab("measure", scene.url("nfs"), "--time", "10s")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_a_share_that_somebody_else_mounted_is_measured_by_its_folder(scene: Measured, protocol: str) -> None:
    """It stays mounted, and the session of whoever mounted it goes on."""
    answers = f"lab\nWORKGROUP\n{scene.password}\n" if protocol == "smb" else ""
    try:
        folder = scene.mount(f"smb://{SERVER}/labram" if protocol == "smb" else scene.url("nfs"), answers)
        before = scene.state()
        done = scene.measure(folder)
        assert done.returncode == 0, done.stdout + done.stderr
        check_measured(scene, protocol)
        assert scene.ann.shell(f"cat '{folder}/mine'") == "mine\n"
        assert scene.state() == before
    finally:
        scene.end_session()


@pytest.fixture
def with_login(one_scene: Measured) -> Iterator[Measured]:
    """Ann may log in to the server, as lab, by a key; her ssh knows it as ``nas``."""
    key = one_scene.ann.shell(
        f"mkdir -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519 && ssh-keyscan -t ed25519 {SERVER} "
        f"2>/dev/null > .ssh/known_hosts && printf 'Host nas\\nHostName {SERVER}\\nUser lab\\n' > .ssh/config && "
        "cat .ssh/id_ed25519.pub"
    )
    one_scene.on_server(f"cp {KEYS} /root/keys && echo '{key.strip()}' >> {KEYS}")
    yield one_scene
    one_scene.on_server(f"cat /root/keys > {KEYS} && rm /root/keys")
    one_scene.ann.shell("rm -r .ssh")


def test_a_host_that_ssh_knows_is_measured_over_ssh(with_login: Measured, scene: Measured) -> None:
    """Its own side is seen then."""
    done = scene.measure("nas")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "ssh")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "ssh")
    assert scene.on_server("ls -A /home/lab | grep file-share-lab; :") == ""


def test_the_side_of_a_server_is_seen_through_a_login(with_login: Measured, scene: Measured) -> None:
    done = scene.measure(scene.url("smb"), "--server", "nas")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "smb")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "smb")


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
