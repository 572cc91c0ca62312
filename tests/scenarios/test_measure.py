"""`lab measure` as an ordinary user types it, against servers of somebody else's: every kind of target."""

from collections.abc import Iterator

import pytest
from support.measure_scene import check_measured
from support.measured import SERVER, Measured

KEYS = "/etc/ssh/lab_authorized_keys"  # of the account lab of a host of a local lab


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_is_measured_by_its_url(scene: Measured, protocol: str) -> None:
    """NFS asks for no password: none is there."""
    done = scene.measure(scene.url(protocol))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("results/")
    check_measured(scene, protocol)


@pytest.mark.parametrize("protocol", ["smb"])
def test_a_share_that_somebody_else_mounted_is_measured_by_its_folder(scene: Measured, protocol: str) -> None:
    """It stays mounted, and the session of whoever mounted it goes on."""
    answers = f"lab\nWORKGROUP\n{scene.password}\n" if protocol == "smb" else ""
    try:
        folder = scene.mount(f"smb://{SERVER}/labram" if protocol == "smb" else scene.url("nfs"), answers)
        before = scene.state()
        done = scene.measure(folder, "--time", "30s")
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
    done = scene.measure("nas", "--time", "30s")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "ssh")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "ssh")
    assert scene.on_server("ls -A /home/lab | grep file-share-lab; :") == ""


def test_the_side_of_a_server_is_seen_through_a_login(with_login: Measured, scene: Measured) -> None:
    done = scene.measure(scene.url("smb"), "--server", "nas", "--time", "30s")
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, "smb")
    assert all(trial["server_cpu_s"] is not None for trial in scene.trials() if trial["protocol"] == "smb")
