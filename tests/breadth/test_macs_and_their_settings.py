"""Sweeps over emulated Macs: options of mounts, servers that are switched off, exports, and old systems."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from scenarios import test_two_macs as two_macs
from support.again import again
from support.local_lab import HOSTS, Bench
from support.macs import check_names, check_pieces, state, swept

test_the_protocols_of_further_systems_are_measured_and_nothing_stays = again(
    two_macs.test_the_protocols_of_two_systems_are_measured_and_nothing_stays,
    "client, server, store, protocols",
    ("macos@27", "macos@26", "disk", ["nfs", "smb"]),  # nfsd knows the share by its place on the data volume
    ("macos@10.6", "linux", "ram", ["afp", "nfs", "smb"]),  # knows SMB 1 alone
    ("linux", "macos@10.15", "ram", ["afp", "nfs", "smb"]),
)


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
    assert {tuple(effective[name] for name in ("dialect", "signing", "multichannel")) for effective in over_smb} == {
        (dialect, signing, multichannel)
        for dialect, cipher in ciphers.items()
        for signing in ("off", cipher)
        for multichannel in ("off", *(["on"] if dialect == "SMB 3.1.1" else []))
    }
    over_nfs = trials[trials["protocol"] == "nfs"]
    assert {effective["nfs.readahead"] for effective in over_nfs["effective"]} == {"4", "128"}
    assert {effective["rsize"] for effective in over_nfs["effective"]} == {65536}


@pytest.mark.parametrize("trouble", ["launchd-override-wins", "launchctl-without-load"])
def test_a_server_that_is_off_is_switched_on_for_the_sweep(new_bench: Callable[..., Bench], trouble: str) -> None:
    bench = new_bench("--platform", "client=linux", "--platform", "server=macos@15.5")
    bench.inside("server", "launchctl disable system/com.apple.smbd")
    note = "launchctl print-disabled system | grep smbd"
    before = state(bench, ("linux", "macos@15.5")), bench.inside("server", note)
    bench.lab("local", "fault", "--name", bench.name, "server", trouble)
    swept(bench, protocol=["smb"], tool=["cp"], direction=["write"], size="1 MiB")
    assert (state(bench, ("linux", "macos@15.5")), bench.inside("server", note)) == before


def test_a_line_in_the_exports_is_taken_out_again_and_no_other(new_bench: Callable[..., Bench]) -> None:
    """Other lines stay, byte by byte, also a last line without a line end."""
    bench = new_bench("--platform", "client=linux", "--platform", "server=macos@12")
    mine = "printf '# mine\\n/Users/Shared/mine -ro 10.99.0.9' > /etc/exports"
    bench.inside("server", f"mkdir -p /Users/Shared/mine; {mine}")
    look = "od -c /etc/exports; nfsd status | sed 's/(pid.*//'"
    before = bench.inside("server", look)
    swept(bench, protocol=["nfs"], tool=["cp"], store=["disk"], size="1 MiB")
    assert bench.inside("server", look) == before


def test_old_macs_are_reached_by_their_hosts_file_and_account(new_bench: Callable[..., Bench]) -> None:
    """Their SSH knows only SHA-1 and RSA; their sudo asks, remembers, and takes no -k with a command."""
    bench = new_bench("--platform", "macos@10.6")
    password = f"file:/run/file-share-lab/{bench.name}/password"
    own = {"user": "you", "sudo": "password", "sudo_password": password}
    hosts = bench.changed_hosts(**{f"{host}_{key}": value for host in HOSTS for key, value in own.items()})
    before = state(bench, ("macos@10.6",) * 2)
    trials = swept(bench, hosts=hosts, protocol=["nfs", "ssh"], direction=["write"], size="1 MiB")
    assert state(bench, ("macos@10.6",) * 2) == before
    assert len(trials) == 2
    hosts_of_run = bench.run_json()["hosts"].values()
    assert {(facts["transport"], facts["user"]) for facts in hosts_of_run} == {("openssh", "you")}
    hosts.write_text(re.sub(r"(?m)^(transport|ssh_algorithms) .*\n", "", hosts.read_text()))
    problems = bench.lab("check", "--hosts", str(hosts)).stdout.splitlines()
    advice = f"-> give transport = openssh and ssh_algorithms = ssh-rsa in {hosts}: "
    assert [line.partition(advice)[2] for line in problems[:2]] == [f"[{host}]" for host in HOSTS]


REFUSED = "fsync (F_FULLFSYNC: Operation not supported)"


def test_only_a_share_for_time_machine_flushes_at_a_full_sync(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "client=macos@15.5", "--platform", "server=linux")
    levels: dict[str, Any] = {"smb.time_machine": ["default", False, True]}
    trials = bench.measure(protocol=["smb"], tool=["cp"], direction=["write"], size="1 MiB", **levels)
    flushed = {
        trial["options"]["smb.time_machine"]: [trial["effective"].get(key) for key in ("smb.time_machine", "flushed")]
        for trial in trials
    }
    assert flushed == {"default": [None, REFUSED], "false": ["false", REFUSED], "true": ["true", "F_FULLFSYNC"]}
    assert bench.inside("client", "cat /linux/run/emulated_mac_smbfs/flushes-*") == "FLUSH\n" * len(trials)
