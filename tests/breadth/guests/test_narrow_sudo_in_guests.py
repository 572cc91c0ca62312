"""A narrow sudo where the kernel itself mounts SMB and NFS: as root, by the helper, at a place of the account's."""

import pytest
from support.guests import left
from support.local_lab import Bench
from support.narrow_sudo import TRACES, give_password, narrow_hosts, serving


@pytest.fixture(scope="module")
def narrow(booted: Bench) -> Bench:
    """With the helper on the client, and servers that are not the lab's."""
    give_password(booted)
    installed = booted.lab("host", "install", "--hosts", str(narrow_hosts(booted)))
    assert installed.returncode == 0, installed.stderr
    with serving(booted):
        return booted


def test_shares_are_mounted_by_the_kernel_and_give_no_rights(narrow: Bench) -> None:
    hosts = narrow.directory / "hosts.changed.ini"
    before = left(narrow)["client"]
    options = {"smb.dialect": ["3.0", "3.1.1"], "nfs.nconnect": [2]}
    values = {"protocol": ["smb", "nfs"], "tool": ["cp"], "size": "1 MiB", "store": ["disk"], **options}
    done = narrow.run(hosts=hosts, tcp_space=["64 KiB"], **values)
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in narrow.trials()])
    for trial in narrow.trials():
        assert (trial["status"], trial["effective"]["mount"]) == ("ok", "kernel")
        assert trial["effective"]["mount_options"].startswith("rw,nosuid,nodev,")
    assert left(narrow)["client"] == before
    assert narrow.lab("host", "remove", "--hosts", str(hosts)).returncode == 0
    assert narrow.inside("client", TRACES) == ""
