"""The kernel's NFS server: where it can be the lab's, and what rpc.mountd's table says of the lab's export.

The table's lines are of /var/lib/nfs/etab of Debian 13, written by exportfs.
"""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from support.fake_host import FakeHost
from support.sides import OWN, side_of

from lab import protocols
from lab.base.errors import Unsupported
from lab.protocols import Driver, Share, Side
from lab.protocols.nfs.knfsd import SERVER, parse_export

LINE = (
    "/srv/disk\t*(rw,{level},wdelay,hide,nocrossmnt,insecure,no_root_squash,no_all_squash,no_subtree_check,"
    "secure_locks,acl,no_pnfs,fsid=77,anonuid=65534,anongid=65534,sec=sys,rw,no_root_squash,no_all_squash)\n"
)


@pytest.mark.parametrize("level", ["sync", "async"])
def test_the_level_of_the_export_is_read(level: str) -> None:
    assert parse_export(LINE.format(level=level)) == level


@pytest.mark.parametrize("table", ["", "\n", LINE.format(level="maybe"), LINE.format(level="sync") * 2, "/x\t*(ro)\n"])
def test_any_other_table_is_an_error(table: str) -> None:
    with pytest.raises(Unsupported, match="not as the lab wrote it"):
        parse_export(table)


def asked(answer: str) -> tuple[Driver, Side]:
    """A server that says so of the one in its kernel, as often as it is asked."""
    host = FakeHost("server")
    side = side_of(host, "linux", "10.99.0.2", OWN, "me")
    host.on(SERVER.read_state(side), f"{answer}\n", times=9)
    return protocols.find("nfs").driver("linux"), side


def share(server_sync: str = "default", **options: str) -> Share:
    return Share(f"{OWN}/ram", "lab", "lab", SecretStr(""), True, server_sync, options=options)


@pytest.mark.parametrize("options", [{}, {"server": "kernel"}])
@pytest.mark.parametrize("level", ["default", "sync", "async"])
def test_the_durabilities_that_it_can_give_are_told_from_the_others(level: str, options: dict[str, str]) -> None:
    driver, side = asked("free")
    assert driver.cannot_serve(side, share(level, **options)) == ""
    assert "writes through only for clients that ask" in driver.cannot_serve(side, share("always", **options))
    assert driver.needs_to_serve(side, options) == {}


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        ("lacks rpc.nfsd rpcbind", "no rpc.nfsd, rpcbind: `apt-get install nfs-kernel-server`"),
        ("rpcbind", "rpcbind runs already, .*: `systemctl stop rpcbind.socket rpcbind`"),
        ("serving", "serves somebody already: `systemctl stop nfs-server`"),
    ],
)
def test_what_a_person_can_mend_is_said_to_whoever_named_it(answer: str, remedy: str) -> None:
    driver, side = asked(answer)
    with pytest.raises(Unsupported, match=f"^server: .*{remedy}"):
        driver.cannot_serve(side, share(server="kernel"))


def test_what_nobody_can_mend_is_a_reason_for_whoever_named_it() -> None:
    driver, side = asked("shared")
    assert "one NFS server for all" in driver.cannot_serve(side, share(server="kernel"))


@pytest.mark.parametrize("answer", ["shared", "unknown", "lacks rpcbind", "rpcbind", "serving", ""])
def test_where_nobody_named_it_ganesha_serves_instead(answer: str) -> None:
    driver, side = asked(answer)
    assert driver.cannot_serve(side, share("always")) == ""
    assert "ganesha.nfsd" in driver.needs_to_serve(side, {})
    assert driver.served_by(side, "lab") == "ganesha.nfsd"
