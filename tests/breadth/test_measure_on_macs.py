"""`lab measure` from an emulated Mac: by URL, and of a volume that its owner has mounted."""

import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from faults.observe import Observer, difference
from support.inside_host import PYTHON
from support.local_lab import Bench
from support.measured import SERVER, Measured, arrange


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Measured:
    return arrange(new_bench, "--rate", "200mbit", "--platform", "client=macos@15.5")


@pytest.fixture
def scene(one_scene: Measured) -> Iterator[Measured]:
    """Mac and share are afterwards as before, but for results of the Mac's owner and what the lab keeps of them."""
    observer = Observer(one_scene.bench.name)
    observer.settle()
    before = observer.state()
    yield one_scene
    assert one_scene.ann.shell("ls .local; rm -rf results .local") == "state\n"
    observer.settle()
    changes = difference(before, observer.state())
    assert [line for line in changes if "/run/servers" not in line] == []  # where the server's programs keep their own


def check_measured(scene: Measured, protocol: str) -> None:
    trials = scene.trials()
    good = [trial for trial in trials if trial["status"] == "ok"]
    assert {trial["direction"] for trial in good} == {"read", "write"}, trials
    for trial in good:
        assert trial["protocol"] == protocol
        assert trial["verified"]
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 1.2 * trial["size_bytes"]
    assert "emulated Mac: no number is of a Mac" in scene.ann.lab("show").stdout


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_a_share_is_measured_by_its_url(scene: Measured, protocol: str) -> None:
    done = scene.measure(scene.url(protocol))
    assert done.returncode == 0, done.stdout + done.stderr
    check_measured(scene, protocol)


def test_a_volume_of_the_owner_is_measured_and_stays(scene: Measured) -> None:
    url = f"//lab:{scene.password}@{SERVER}/labram"
    scene.ann.shell(f"mkdir nas && mount_smbfs '{url}' nas")
    try:
        done = scene.measure(f"{scene.ann.home}/nas")
        assert done.returncode == 0, done.stdout + done.stderr
        check_measured(scene, "smb")
        assert scene.ann.shell("cat nas/mine") == "mine\n"
    finally:
        scene.ann.shell("umount nas && rmdir nas")


def test_ctrl_c_leaves_nothing(scene: Measured) -> None:
    command = scene.ann.words(PYTHON, "-m", "lab", *scene.options(scene.url("smb"), seconds=60), SECRET=scene.password)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as run:
        deadline = time.monotonic() + 120
        while "stopwatch" not in scene.log():
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        scene.bench.inside(
            "client", f"ps -axo pid,command | sed -n 's|^ *\\([0-9]*\\) {PYTHON} -m lab measure.*|kill -INT \\1|p' | sh"
        )
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 130, output
    assert "file-share-lab" not in scene.on_server("ls /mnt/share")
