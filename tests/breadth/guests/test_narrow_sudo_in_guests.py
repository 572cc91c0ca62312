"""A narrow sudo where the kernel itself mounts SMB and NFS: as root, by the helper, at a place of the account's."""

import pytest
from support.guests import left
from support.local_lab import Bench
from support.narrow_sudo import TRACES, give_password, narrow_hosts, serving


@pytest.fixture(scope="module")
def narrow(booted: Bench) -> Bench:
    """The helper is on the client; the servers are not the lab's."""
    give_password(booted)
    booted.check_output("host", "install", "--hosts", str(narrow_hosts(booted)))
    with serving(booted):
        return booted


def test_shares_are_mounted_by_the_kernel_and_give_no_rights(narrow: Bench) -> None:
    hosts = narrow.directory / "hosts.changed.ini"
    before = left(narrow)["client"]
    options = {"smb.dialect": ["3.0", "3.1.1"], "nfs.nconnect": [2]}
    values = {"protocol": ["smb", "nfs"], "tool": ["cp"], "size": "1 MiB", "store": ["disk"], **options}
    for trial in narrow.measure(hosts=hosts, tcp_space=["64 KiB"], **values):
        assert (trial["status"], trial["effective"]["mount"]) == ("ok", "kernel")
        assert trial["effective"]["mount_options"].startswith("rw,nosuid,nodev,")
    assert left(narrow)["client"] == before
    assert narrow.lab("host", "remove", "--hosts", str(hosts)).returncode == 0
    assert narrow.inside("client", TRACES) == ""
