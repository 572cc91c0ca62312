"""Sweeps over emulated Macs: options of mounts, servers that are switched off, exports, and old systems."""

import json
import re
from collections.abc import Callable

import pytest
from scenarios.test_two_macs import test_what_two_systems_have_is_measured_and_put_back as measured_and_put_back
from support.local_lab import HOSTS, Bench
from support.macs import check_names, check_pieces, state, swept


@pytest.mark.parametrize(
    ("client", "server", "store", "protocols"),
    [
        ("macos@27", "macos@26", "disk", ["nfs", "smb"]),  # which nfsd knows by its place on the data volume
        ("macos@10.6", "linux", "ram", ["afp", "nfs", "smb"]),  # knows SMB 1 alone
        ("linux", "macos@10.15", "ram", ["afp", "nfs", "smb"]),
    ],
)
def test_what_further_systems_have_is_measured_and_put_back(
    new_bench: Callable[..., Bench], client: str, server: str, store: str, protocols: list[str]
) -> None:
    measured_and_put_back(new_bench, client, server, store, protocols)


def test_two_macs_flush_pieces_and_make_names(new_bench: Callable[..., Bench]) -> None:
    pair = "macos@10.13", "macos@10.13"
    bench = new_bench("--platform", pair[0])
    before = state(bench, pair)
    check_pieces(bench)
    check_names(bench)
    assert state(bench, pair) == before


def test_macs_are_told_options_of_a_mount_and_their_owners_file_stays(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=linux")
    mine = "mkdir -p ~/Library/Preferences; echo '[default]\nmc_on=no' > ~/Library/Preferences/nsmb.conf"
    bench.inside("client", mine)
    before = state(bench, ("macos@15.5", "linux"))
    options = {
        "smb.multichannel": [True, False], "smb.signing": [True, False], "smb.dialect": ["2.1", "3.1.1"],
        "nfs.rsize": ["64 KiB"], "nfs.readahead": [4, 128], "nfs.hard": [True],
    }  # fmt: skip
    trials = swept(bench, protocol=["smb", "nfs"], direction=["write"], size="1 MiB", **options)
    assert state(bench, ("macos@15.5", "linux")) == before
    assert "mc_on=no" in bench.inside("client", "cat ~/Library/Preferences/nsmb.conf")
    over_smb = [effective for effective in trials["effective"] if effective["dialect"].startswith("SMB")]
    ciphers = {"SMB 2.1": "AES_128_CMAC", "SMB 3.1.1": "AES_128_GMAC"}
    assert {tuple(told[name] for name in ("dialect", "signing", "multichannel")) for told in over_smb} == {
        (dialect, signing, multichannel)
        for dialect, cipher in ciphers.items()
        for signing in ("off", cipher)
        for multichannel in ("off", *(["on"] if dialect == "SMB 3.1.1" else []))
    }
    over_nfs = trials[trials["protocol"] == "nfs"]
    assert {effective["nfs.readahead"] for effective in over_nfs["effective"]} == {"4", "128"}
    assert {effective["rsize"] for effective in over_nfs["effective"]} == {65536}


@pytest.mark.parametrize("trouble", ["launchd-override-wins", "launchctl-without-load"])
def test_a_server_that_is_switched_off_is_switched_on_for_the_sweep(
    new_bench: Callable[..., Bench], trouble: str
) -> None:
    bench = new_bench("--platform", "client=linux", "--platform", "server=macos@15.5")
    bench.inside("server", "launchctl disable system/com.apple.smbd")
    note = "launchctl print-disabled system | grep smbd"
    before = state(bench, ("linux", "macos@15.5")), bench.inside("server", note)
    bench.lab("local", "fault", "--name", bench.name, "server", trouble)
    swept(bench, protocol=["smb"], tool=["cp"], direction=["write"], size="1 MiB")
    assert (state(bench, ("linux", "macos@15.5")), bench.inside("server", note)) == before


def test_a_line_in_the_exports_is_taken_out_again_and_no_other(new_bench: Callable[..., Bench]) -> None:
    """Others' lines stay, byte by byte, also one that does not end."""
    bench = new_bench("--platform", "client=linux", "--platform", "server=macos@12")
    bench.inside(
        "server", "mkdir -p /Users/Shared/mine; printf '# mine\\n/Users/Shared/mine -ro 10.99.0.9' > /etc/exports"
    )
    before = bench.inside("server", "od -c /etc/exports; nfsd status | sed 's/(pid.*//'")
    swept(bench, protocol=["nfs"], tool=["cp"], store=["disk"], size="1 MiB")
    assert bench.inside("server", "od -c /etc/exports; nfsd status | sed 's/(pid.*//'") == before


def test_old_macs_are_reached_as_their_hosts_file_says_by_an_account_as_their_owner_has_it(
    new_bench: Callable[..., Bench],
) -> None:
    """SSH with SHA-1 and RSA only, and a sudo that asks, remembers, and takes no -k with a command."""
    bench = new_bench("--platform", "macos@10.6")
    password = f"file:/run/file-share-lab/{bench.name}/password"
    own = {"user": "you", "sudo": "password", "sudo_password": password}
    hosts = bench.changed_hosts(**{f"{host}_{key}": value for host in HOSTS for key, value in own.items()})
    before = state(bench, ("macos@10.6",) * 2)
    trials = swept(bench, hosts=hosts, protocol=["nfs", "ssh"], direction=["write"], size="1 MiB")
    assert state(bench, ("macos@10.6",) * 2) == before
    assert len(trials) == 2
    about = json.loads((bench.newest() / "run.json").read_text())["hosts"]
    assert {(facts["transport"], facts["user"]) for facts in about.values()} == {("openssh", "you")}
    hosts.write_text(re.sub(r"(?m)^(transport|ssh_algorithms) .*\n", "", hosts.read_text()))
    problems = bench.lab("check", "--hosts", str(hosts)).stdout.splitlines()
    advice = f"-> give transport = openssh and ssh_algorithms = ssh-rsa in {hosts}: "
    assert [line.partition(advice)[2] for line in problems[:2]] == [f"[{host}]" for host in HOSTS]
