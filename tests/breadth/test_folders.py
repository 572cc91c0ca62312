"""Folders and shares of any name, folders that others can write into, and payloads that a neighbour plants."""

from collections.abc import Iterator

import pytest
from support.attackers import AS_NEIGHBOUR, attacked, planted, root_files
from support.input_files import SHARES
from support.local_lab import HOSTS, Bench
from support.other_servers import other_samba, quoted

EVERY_SIGN = "a b;c'd$(touch x)`id`,e=f#g&h|i*j[k]é😀<m>$u{n}!~"
LONG = "x" * 251 + "😀"


@pytest.mark.parametrize("protocol", ["afp", "smb", "nfs", "ssh"])
def test_folders_of_any_name_serve_and_mount(bench: Bench, protocol: str) -> None:
    folder, base = f"/srv/disk/{EVERY_SIGN}/{LONG}", f"/tmp/{EVERY_SIGN}"[:22]
    make = f"mkdir -p {quoted(folder)} {quoted(base)}"
    remove = f"rm -r {quoted(f'/srv/disk/{EVERY_SIGN}')} {quoted(base)}"
    with bench.changed("client", make, remove), bench.changed("server", make, remove):
        hosts = bench.changed_hosts(client_mount_base=base, server_mount_base=base, share_path=folder)
        tool = "rsync" if protocol == "ssh" else "cp"
        bench.measure(hosts=hosts, protocol=[protocol], tool=[tool], store=["ram", "disk"], size="1 MiB")
        for host in HOSTS:
            assert bench.inside(host, f"ls -A {quoted(folder)} {quoted(base)} | grep lab || :") == ""


def test_a_share_that_was_there_before_may_have_any_name(bench: Bench) -> None:
    failed = {}
    with other_samba(bench, *SHARES):
        for name in SHARES:
            hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name=name)
            factors = {"protocol": ["smb"], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
            done = bench.run(hosts=hosts, size="1 MiB", **factors)
            if done.returncode != 0:
                failed[name] = done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials())
    assert failed == {}


@pytest.mark.usefixtures("links")
def test_a_folder_in_tmp_is_made_before_its_name_is_seen(bench: Bench) -> None:
    """The hosts file chooses /tmp: it is sticky, so nobody can move the folder, but anybody may make one."""
    before = root_files(bench)
    hosts = bench.changed_hosts(client_mount_base="/tmp", server_mount_base="/tmp")
    with attacked(bench, "first") as booty:
        done = bench.run(hosts=hosts, protocol=["smb"], size="1 MiB")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [line for line in booty if line.startswith("took") and "file-share-lab-" in line and "/ram" in line]
    assert root_files(bench) == before


HOME = "/var/lib/file-share-lab"
OPEN = {
    "the share's": ("mkdir -m 777 /srv/open", {"share_path": "/srv/open"}, "rmdir /srv/open"),
    "one above the share's":
        ("mkdir -m 777 /srv/open; mkdir /srv/open/x", {"share_path": "/srv/open/x"}, "rmdir /srv/open/x /srv/open"),
    "one above the lab's": ("chmod 777 /var/lib", {}, "chmod 755 /var/lib"),
    "the lab's": (f"mkdir -m 777 {HOME}", {}, f"rmdir {HOME}"),
    "somebody's": (f"mkdir -m 711 {HOME}; chown 65534 {HOME}", {}, f"rmdir {HOME}"),
    "a mount of somebody's": (
        f"mkdir -m 711 {HOME} /srv/theirs; chown 65534 /srv/theirs; mount --bind /srv/theirs {HOME}", {},
        f"umount {HOME}; rmdir {HOME} /srv/theirs",
    ),
    "a link": (f"mkdir -m 711 /root/x; ln -s /root/x {HOME}", {}, f"rm {HOME}; rmdir /root/x"),
}  # fmt: skip


@pytest.mark.parametrize("which", OPEN)
def test_folders_that_others_can_write_into_are_refused(bench: Bench, which: str) -> None:
    make, changes, remove = OPEN[which]
    hosts = bench.changed_hosts(**changes)
    with bench.changed("server", make, remove):
        done = bench.run(hosts=hosts, protocol=["ssh"], store=["disk"], size="1 MiB")
        checked = bench.lab("check", "--hosts", str(hosts))
    output = done.stdout + done.stderr + "".join(trial["reason"] for trial in bench.trials_if_any())
    assert done.returncode != 0
    assert "others can write into" in output, output
    assert "Traceback" not in output
    assert "others can write into" in checked.stdout


@pytest.fixture
def sharer(bench: Bench) -> Iterator[str]:
    """An account on the server without a group of its own, like every account of a Mac."""
    accounts = "for name in sharer neighbour; do {} $name; done"
    add, remove = accounts.format("useradd --no-create-home --gid users"), accounts.format("userdel")
    with bench.changed("server", add, remove), other_samba(bench, "media", writer="sharer", mode="1777"):
        yield "sharer"


def test_no_neighbour_can_plant_where_the_writer_has_no_group_of_its_own(bench: Bench, sharer: str) -> None:
    """An access control list keeps out neighbours of the same group."""
    assert planted(bench, sharer, attacker=AS_NEIGHBOUR) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_without_access_control_lists_the_folder_stays_open_and_the_run_says_so(bench: Bench, sharer: str) -> None:
    with bench.missing("server", "/usr/bin/setfacl"):
        assert planted(bench, sharer, attacker=AS_NEIGHBOUR, stays_open=True) != "theirs\n"
