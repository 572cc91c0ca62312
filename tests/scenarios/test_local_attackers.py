"""A user without rights on both hosts, who attacks while the lab works as root there: he gets nothing of root's.

With both values of ``fs.protected_symlinks``, as far as this machine's may be raised; no Mac has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.attackers import attacked, of_root
from support.local_lab import Bench

PROTECTED = Path("/proc/sys/fs/protected_symlinks")


@pytest.fixture(params=["0", "1"])
def links(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whether the kernel keeps root from following others' links; never less than this machine has it."""
    before = PROTECTED.read_text().strip()
    if request.param < before:
        pytest.skip("this machine has fs.protected_symlinks = 1; guests have both")
    PROTECTED.write_text(request.param)
    yield
    PROTECTED.write_text(before)


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("attack", ["first", "swap", "plant"])
def test_a_run_under_attack_gives_nothing_of_roots_away(bench: Bench, attack: str) -> None:
    before = of_root(bench)
    with attacked(bench, attack) as booty:
        done = bench.run(protocol=["smb", "ssh"], store=["ram", "disk"], size="1 MiB")
        restored = bench.lab("restore", "--hosts", str(bench.hosts))
    assert of_root(bench) == before, booty
    assert done.returncode == 0, done.stdout + done.stderr
    assert {trial["status"] for trial in bench.trials()} == {"ok"}
    assert "nothing is left" in restored.stdout, restored.stdout + restored.stderr
    if attack == "first":
        assert not [line for line in booty if "/var/lib" in line], booty
    if attack != "plant":
        assert any("/tmp/file-share-lab" in line for line in booty), "the attacker was not at work"


@pytest.mark.usefixtures("links")
def test_a_folder_in_tmp_is_made_before_its_name_is_seen(bench: Bench) -> None:
    """Where the hosts file says so: sticky, so that what is there cannot be moved, but anybody may make a folder."""
    before = of_root(bench)
    hosts = bench.changed_hosts(client_mount_base="/tmp", server_mount_base="/tmp")
    with attacked(bench, "first") as booty:
        done = bench.run(hosts=hosts, protocol=["smb"], size="1 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [line for line in booty if line.startswith("took") and "file-share-lab-" in line and "/ram" in line]
    assert of_root(bench) == before


HOME = "/var/lib/file-share-lab"
OPEN = {
    "the share's": ("mkdir -m 777 /srv/open", {"share_path": "/srv/open"}, "rmdir /srv/open"),
    "one above the share's": (
        "mkdir -m 777 /srv/open; mkdir /srv/open/x", {"share_path": "/srv/open/x"}, "rmdir /srv/open/x /srv/open",
    ),
    "one above the lab's": ("chmod 777 /var/lib", {}, "chmod 755 /var/lib"),
    "the lab's": (f"mkdir -m 777 {HOME}", {}, f"rmdir {HOME}"),
    "somebody's": (
        f"mkdir -m 711 {HOME}; chown 65534 {HOME}", {}, f"rmdir {HOME}",
    ),
    "a mount of somebody's": (
        f"mkdir -m 711 {HOME} /srv/theirs; chown 65534 /srv/theirs; mount --bind /srv/theirs {HOME}", {},
        f"umount {HOME}; rmdir {HOME} /srv/theirs",
    ),
    "a link": (
        "mkdir -m 711 /root/x; ln -s /root/x /var/lib/file-share-lab", {}, "rm /var/lib/file-share-lab; rmdir /root/x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", OPEN)
def test_folders_that_others_can_write_into_are_refused(bench: Bench, which: str) -> None:
    make, changes, remove = OPEN[which]
    bench.inside("server", make)
    try:
        hosts = bench.changed_hosts(**changes)
        done = bench.run(hosts=hosts, protocol=["ssh"], store=["disk"], size="1 MiB")
        checked = bench.lab("check", "--hosts", str(hosts))
    finally:
        bench.inside("server", remove)
    output = done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials_if_any())
    assert done.returncode != 0
    assert "others can write into" in output, output
    assert "Traceback" not in output
    assert "others can write into" in checked.stdout
