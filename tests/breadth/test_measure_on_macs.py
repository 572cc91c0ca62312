"""`lab measure` from an emulated Mac: by URL, and of a volume that its owner has mounted."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from faults.observe import Observer, difference
from support.inside_host import PYTHON
from support.local_lab import Bench, succeeded
from support.measured import SERVER, Scene, arrange
from support.waiting import wait_until


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Scene:
    return arrange(new_bench, "--rate", "200mbit", "--platform", "client=macos@15.5")


@pytest.fixture
def scene(one_scene: Scene) -> Iterator[Scene]:
    """Afterwards Mac and share must be as before, except the results of the Mac's owner and the lab's state."""
    observer = Observer(one_scene.bench.name)
    observer.settle()
    before = observer.state()
    yield one_scene
    assert one_scene.ann.shell("ls .local; rm -rf results .local") == "state\n"
    observer.settle()
    changes = difference(before, observer.state())
    assert [line for line in changes if "/run/servers" not in line] == []  # where the server's programs keep their own


def measure_well(scene: Scene, protocol: str, target: str) -> None:
    succeeded(scene.measure(target))
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
def test_a_share_is_measured_by_its_url(scene: Scene, protocol: str) -> None:
    measure_well(scene, protocol, scene.url(protocol))


def test_a_volume_of_the_owner_is_measured_and_stays(scene: Scene) -> None:
    url = f"//lab:{scene.password}@{SERVER}/labram"
    scene.ann.shell(f"mkdir nas && mount_smbfs '{url}' nas")
    try:
        measure_well(scene, "smb", "/Users/lab/nas")
        assert scene.ann.shell("cat nas/mine") == "mine\n"
    finally:
        scene.ann.shell("umount nas && rmdir nas")


def test_ctrl_c_leaves_nothing(scene: Scene) -> None:
    command = scene.ann.words(PYTHON, "-m", "lab", *scene.options(scene.url("smb"), seconds=60), SECRET=scene.password)
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, **pipes) as run:
        wait_until(lambda: "stopwatch" in scene.log(), "a transfer", 120, run)
        scene.bench.inside(
            "client", f"ps -axo pid,command | sed -n 's|^ *\\([0-9]*\\) {PYTHON} -m lab measure.*|kill -INT \\1|p' | sh"
        )
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 130, output
    assert "file-share-lab" not in scene.on_server("ls /mnt/share")
