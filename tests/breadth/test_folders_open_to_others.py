"""Folders that others can write into, and folders of the lab's in /tmp."""

import pytest
from support.attackers import attacked, of_root
from support.local_lab import Bench


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
