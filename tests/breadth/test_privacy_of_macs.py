"""A job of launchd that watches a share, by the recipe: what macOS refuses it is named, and nothing is forced."""

import re
from collections.abc import Callable

import pytest
from support.inside_host import LIBRARIES, PYTHON
from support.local_lab import Bench
from support.measured import SERVER, Scene, arrange
from support.paths import TESTS
from support.waiting import wait_until

WATCH = TESTS / "examples" / "watch"
FORCED = "cat /linux/run/emulated_mac_forced_unmounts 2>/dev/null; :"
LAB = f"""#!/bin/sh
[ "$1" != measure ] || set -- "$@" --password file:/Users/lab/secret --time 10s
LD_LIBRARY_PATH={LIBRARIES} exec {PYTHON} -m lab "$@"
"""
AGENT = "gui/$(id -u)/share-speed"


@pytest.fixture(params=["macos@15.5", "macos@27"])
def mac(request: pytest.FixtureRequest, new_bench: Callable[..., Bench]) -> tuple[str, Scene]:
    scene = arrange(new_bench, "--rate", "200mbit", "--platform", f"client={request.param}")
    plist = (WATCH / "share-speed.plist").read_text(encoding="utf-8")
    for name, text in {".local/bin/lab": LAB, "Library/LaunchAgents/share-speed.plist": plist}.items():
        scene.ann.shell(f"mkdir -p $(dirname {name}) share-speed && cat > {name} <<'END'\n{text}END\nchmod 700 {name}")
    scene.ann.shell(f"printf %s '{scene.password}' > secret && chmod 600 secret")
    return request.param, scene


def watched(scene: Scene, target: str) -> str:
    """What the job prints that measures a target, as the page says it is set up and started."""
    script = (WATCH / "watch-share.sh").read_text(encoding="utf-8").replace("target=/mnt/media", f"target={target}")
    scene.ann.shell(f"cat > share-speed/watch-share.sh <<'END'\n{script}END\nchmod +x share-speed/watch-share.sh")
    scene.ann.shell("launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/share-speed.plist")
    scene.ann.shell(f"rm -f share-speed/watch.log; launchctl kickstart {AGENT}")
    try:
        ended = "[ -e share-speed/watch.log ] && { ps -axo command | grep -q '[w]atch-share' || echo ended; }; :"
        wait_until(lambda: scene.ann.shell(ended) == "ended\n", "the end of the job", 300)
        return scene.ann.shell("cat share-speed/watch.log")
    finally:
        scene.ann.shell(f"launchctl bootout {AGENT}")


def switch(scene: Scene, fault: str, times: int) -> None:
    scene.bench.check_output("local", "fault", "--name", scene.bench.name, "client", fault, str(times))


def test_a_job_of_launchd_is_told_what_keeps_it_out(mac: tuple[str, Scene]) -> None:
    system, scene = mac
    scene.ann.shell(f"mkdir nas && mount_smbfs '//lab:{scene.password}@{SERVER}/labram' nas")
    mounts = scene.ann.shell("mount")
    blocked = "nothing came of {}, though its server answers: macOS may keep the launchd job share-speed out of it"
    of_share = blocked if system == "macos@27" else "macOS keeps the launchd job share-speed out of {}"
    said = watched(scene, "/Users/lab/nas")
    assert f"/Users/lab/nas: {of_share.format(f'{SERVER}: labram')}\n" in said
    assert "try the same command in Terminal" in said
    url = scene.url("smb")
    said = watched(scene, url)
    assert f"there is no way to the server {SERVER}: No route to host" in said
    assert "macOS 15 and later may keep the launchd job share-speed off the local network without asking" in said
    switch(scene, "jobs-on-network", 1)
    assert f"{url}: {of_share.format('the share labram')}\n" in watched(scene, url)
    assert scene.bench.inside("client", FORCED) == ""
    assert scene.ann.shell("mount") == mounts
    assert scene.ann.shell("cat nas/mine") == "mine\n"
    if system == "macos@15.5":  # once is enough
        switch(scene, "jobs-in-volumes", 1)
        assert watched(scene, url) == ""
        assert re.search(r"^Write +[0-9]", scene.ann.shell("cat share-speed/measure.log"), re.MULTILINE)
