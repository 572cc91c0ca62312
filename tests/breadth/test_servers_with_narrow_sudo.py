"""Both hosts with the helper alone: a share that is there is measured, all of it is put back, also after a crash."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.local_lab import HOSTS, Bench
from support.narrow_sudo import TRACES, connected, give_password, narrow_hosts, serving

from lab.platforms.files import CLOSE

MTU = "cat /sys/class/net/eth0/mtu"
FOLDER = "/srv/file-share-lab-0123456789abcdef"
PROOF = "file-share-lab-fedcba9876543210"
SETTINGS = {"mtu": [1500, 9000], "tcp_space": ["64 KiB"], "server_cache": ["warm", "cold"], "store": ["disk"]}


@pytest.fixture(scope="module")
def narrow(new_bench: Callable[..., Bench]) -> Iterator[tuple[Bench, Path]]:
    """A lab of its own with the helper on both hosts, and its hosts file."""
    bench = new_bench()
    give_password(bench, HOSTS)
    hosts = narrow_hosts(bench, HOSTS)
    installed = bench.lab("host", "install", "--hosts", str(hosts))
    assert (installed.returncode, installed.stdout.count("put there: ")) == (0, 4), installed.stderr
    with serving(bench):
        yield bench, hosts
    bench.check_output("host", "remove", "--hosts", str(hosts))
    assert [bench.inside(host, TRACES) for host in HOSTS] == ["", ""]


@pytest.fixture
def unchanged(narrow: tuple[Bench, Path]) -> Iterator[tuple[Bench, Path]]:
    """The same without results; afterwards both hosts must be as before, and the share empty."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = bench.state()
    yield narrow
    # Samba's process for a client that has left may end later
    assert without_servers(bench.state()) == without_servers(before)
    assert bench.inside("server", "find /mnt/share -mindepth 1") == ""


def without_servers(state: dict[str, list[str]]) -> dict[str, list[str]]:
    """The state without processes and files of servers that are not the lab's."""
    theirs = ("smbd", "afpd", "cnid", "netatalk", "ganesha", "rpcbind", "/run/servers")
    return {host: [line for line in lines if not any(name in line for name in theirs)] for host, lines in state.items()}


def test_what_a_server_needs_is_there(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    printed = bench.check_output("check", "--hosts", str(hosts))
    assert all(f"{host} sudo" in printed for host in HOSTS)


@pytest.mark.parametrize(("protocol", "mtus"), [("smb", [1500, 9000]), ("nfs", [9000])])
def test_an_existing_share_is_measured(unchanged: tuple[Bench, Path], protocol: str, mtus: list[int]) -> None:
    bench, hosts = unchanged
    trials = bench.measure(hosts=hosts, protocol=[protocol], tool=["cp"], size="1 MiB", **SETTINGS | {"mtu": mtus})
    assert {trial["status"] for trial in trials} == {"ok"}
    effective = [trial["effective"] for trial in trials]
    assert {(values["client_mtu"], values["server_mtu"]) for values in effective} == {(str(mtu),) * 2 for mtu in mtus}
    assert {values.get("server_cache") for values in effective} == {"warm", "cold", None}
    assert {values["server_tcp_rmem"] for values in effective} == {values["client_tcp_rmem"] for values in effective}
    assert "drop_caches" in (bench.newest() / "commands.log").read_text()


def test_what_a_killed_controller_left_on_both_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    factors = {**SETTINGS, "mtu": [9000], "server_cache": ["cold"]}
    bench.kill_run('"b001-0001"', hosts=hosts, protocol=["smb"], tool=["cp"], blocks=50, **factors)
    assert [bench.inside(host, MTU) for host in HOSTS] == ["9000\n", "9000\n"]
    bench.wait_until_free()
    assert "put back" in bench.check_output("restore")


@pytest.mark.parametrize(
    ("owner", "closed"),
    [("lab", "700 lab"), ("root", "700 lab"), ("other", "1770 other"), ("games", "1770 lab"), ("", "755 lab")],
)
def test_a_folder_in_a_share_is_closed_to_others(unchanged: tuple[Bench, Path], owner: str, closed: str) -> None:
    """The account games has no group of its own: it gets an access control list, whose mask is in the mode."""
    bench, hosts = unchanged
    other = "useradd --no-create-home other; usermod -g users games"
    with bench.changed("server", other, f"rm -rf {FOLDER}; userdel other; usermod -g games games"):
        bench.inside("server", f"mkdir -m 1777 {FOLDER}; chown lab:lab {FOLDER}")
        if owner:
            bench.inside("server", f"touch {FOLDER}/{PROOF}; chown {owner} {FOLDER}/{PROOF}")
        with connected(hosts, "server") as host:
            how = host.shell(CLOSE, FOLDER, "lab", root=True, given=PROOF if owner else "").stdout
        assert how == ("list\n" if owner == "games" else "")
        assert bench.inside("server", f"stat -c '%a %G' {FOLDER}; ls -A {FOLDER}") == f"{closed}\n"
        listed = bench.inside("server", f"getfacl -cp {FOLDER}")
        assert ("user:games:rwx\ngroup::---\nmask::rwx\nother::---" in listed) == (owner == "games"), listed


def test_a_folder_of_others_is_not_closed(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    make = f"mkdir -m 1777 {FOLDER}; mkdir -m 755 {FOLDER}/inner; chown lab {FOLDER}/inner"
    with bench.changed("server", make, f"rm -rf {FOLDER}"):
        with connected(hosts, "server") as host:
            refused = host.shell(CLOSE, FOLDER, "lab", root=True, given=PROOF, check=False)
        message = f"file-share-lab: refused: {FOLDER} is not lab's, or not open to all\n"
        assert (refused.exit_code, refused.stderr) == (77, message)
        assert bench.inside("server", f"stat -c %a {FOLDER}") == "1777\n"
