"""Both hosts with the helper alone: a share that is there is measured, all of it is put back, also after a crash."""

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.local_lab import HOSTS, Bench, end
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
    assert bench.lab("host", "remove", "--hosts", str(hosts)).returncode == 0
    assert [bench.inside(host, TRACES) for host in HOSTS] == ["", ""]


@pytest.fixture
def unchanged(narrow: tuple[Bench, Path]) -> Iterator[tuple[Bench, Path]]:
    """The same, with no results yet; both hosts must be afterwards as they were before, and the share empty."""
    bench = narrow[0]
    shutil.rmtree(bench.directory / "results", ignore_errors=True)
    before = bench.state()
    yield narrow
    # a process of Samba's for a client that has left ends when it likes
    assert without_servers(bench.state()) == without_servers(before)
    assert bench.inside("server", "find /mnt/share -mindepth 1") == ""


def without_servers(state: dict[str, list[str]]) -> dict[str, list[str]]:
    """A state without the processes and files of the servers that are not the lab's."""
    theirs = ("smbd", "afpd", "cnid", "netatalk", "ganesha", "rpcbind", "/run/servers")
    return {host: [line for line in lines if not any(name in line for name in theirs)] for host, lines in state.items()}


def test_what_a_server_needs_is_there(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    done = bench.lab("check", "--hosts", str(hosts))
    assert done.returncode == 0, done.stdout + done.stderr
    for host in HOSTS:
        assert f"{host} sudo" in done.stdout


@pytest.mark.parametrize(("protocol", "mtus"), [("smb", [1500, 9000]), ("nfs", [9000])])
def test_an_existing_share_is_measured_and_everything_put_back(
    unchanged: tuple[Bench, Path], protocol: str, mtus: list[int]
) -> None:
    bench, hosts = unchanged
    done = bench.run(hosts=hosts, protocol=[protocol], tool=["cp"], size="1 MiB", **(SETTINGS | {"mtu": mtus}))
    trials = bench.trials()
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in trials])
    assert {trial["status"] for trial in trials} == {"ok"}
    effective = [trial["effective"] for trial in trials]
    assert {(values["client_mtu"], values["server_mtu"]) for values in effective} == {(str(mtu),) * 2 for mtu in mtus}
    assert {values.get("server_cache") for values in effective} == {"warm", "cold", None}
    assert {values["server_tcp_rmem"] for values in effective} == {values["client_tcp_rmem"] for values in effective}
    assert "drop_caches" in (bench.newest() / "commands.log").read_text()


def test_what_a_killed_controller_left_on_both_is_restored(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    factors = {**SETTINGS, "mtu": [9000], "server_cache": ["cold"]}
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], blocks=50, **factors)
    with bench.started("run", "--hosts", str(hosts), str(sweep)) as run:
        bench.wait_for('"b001-0001"', run)
        end(run, signal.SIGKILL)
    assert [bench.inside(host, MTU) for host in HOSTS] == ["9000\n", "9000\n"]
    bench.wait_until_free()
    restored = bench.lab("restore")
    assert (restored.returncode, "put back" in restored.stdout) == (0, True), restored.stdout + restored.stderr


@pytest.mark.parametrize(
    ("owner", "closed"),
    [("lab", "700 lab"), ("root", "700 lab"), ("other", "1770 other"), ("games", "1770 lab"), ("", "755 lab")],
)
def test_a_folder_in_a_share_is_closed_to_all_but_who_writes_there(
    unchanged: tuple[Bench, Path], owner: str, closed: str
) -> None:
    """As by plain sudo: ``games`` has no group of its own: it gets a list, whose mask is in the mode."""
    bench, hosts = unchanged
    bench.inside("server", "useradd --no-create-home other; usermod -g users games")
    try:
        bench.inside("server", f"mkdir -m 1777 {FOLDER}; chown lab:lab {FOLDER}")
        if owner:
            bench.inside("server", f"touch {FOLDER}/{PROOF}; chown {owner} {FOLDER}/{PROOF}")
        with connected(hosts, "server") as host:
            how = host.shell(CLOSE, FOLDER, "lab", root=True, given=PROOF if owner else "").stdout
        assert how == ("list\n" if owner == "games" else "")
        assert bench.inside("server", f"stat -c '%a %G' {FOLDER}; ls -A {FOLDER}") == f"{closed}\n"
        listed = bench.inside("server", f"getfacl -cp {FOLDER}")
        assert ("user:games:rwx\ngroup::---\nmask::rwx\nother::---" in listed) == (owner == "games"), listed
    finally:
        bench.inside("server", f"rm -rf {FOLDER}; userdel other; usermod -g games games")


def test_a_folder_of_others_is_not_closed(unchanged: tuple[Bench, Path]) -> None:
    bench, hosts = unchanged
    bench.inside("server", f"mkdir -m 1777 {FOLDER}; mkdir -m 755 {FOLDER}/inner; chown lab {FOLDER}/inner")
    try:
        with connected(hosts, "server") as host:
            refused = host.shell(CLOSE, FOLDER, "lab", root=True, given=PROOF, check=False)
        assert (refused.exit_code, refused.stderr) == (
            77,
            f"file-share-lab: refused: {FOLDER} is not lab's, or not open to all\n",
        )
        assert bench.inside("server", f"stat -c %a {FOLDER}") == "1777\n"
    finally:
        bench.inside("server", f"rm -rf {FOLDER}")
