"""What rpc.mountd's table says of the lab's export: lines of /var/lib/nfs/etab of Debian 13, written by exportfs."""

from __future__ import annotations

import pytest

from lab.errors import Unsupported
from lab.protocols.knfsd import cannot, parse_export

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


@pytest.mark.parametrize("level", ["default", "sync", "async"])
def test_the_durabilities_that_it_can_give_are_told_from_the_others(level: str) -> None:
    assert cannot(level) == ""
    assert cannot("always") == "the kernel's NFS server writes through only for clients that ask for it"
