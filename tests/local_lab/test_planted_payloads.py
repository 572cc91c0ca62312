"""Somebody with an account on both hosts sees a payload's name on the client, and plants a link for it on the server.

The share was there before, and its folder is open to all. The attacker is always in time, for the
client's `cp` waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from support.attackers import NOBODY
from support.local_lab import Bench
from support.other_samba import other_samba

AS_NOBODY = " ".join(NOBODY)
AS_NEIGHBOUR = "setpriv --reuid=neighbour --regid=users --clear-groups --"
SLOW_CP = """
mkdir -m 755 /run/slow; cat > /usr/local/bin/cp <<'END'; chmod 755 /usr/local/bin/cp
#!/bin/sh
case $* in *.bin*)
    tries=0
    touch /run/slow/waits
    until [ -e /run/slow/go ] || [ $tries -gt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done ;;
esac
exec /bin/cp "$@"
END
"""
NAMES = f"""
tries=0
until [ -e /run/slow/waits ]; do sleep 0.05; tries=$((tries + 1)); [ $tries -lt 2400 ] || exit 1; done
{AS_NOBODY} ps -eo args=
"""
VICTIM = "umask 077; echo theirs > /srv/other/precious; chown {writer} /srv/other/precious"


def attack(bench: Bench, writer: str, before: str, attacker: str = AS_NOBODY, stays_open: bool = False) -> str:
    """Write by a share as an account ``writer``; what is in a file of that account's then, which is not for others.

    The run must say whether the folder ``stays_open``.
    """
    bench.inside("server", VICTIM.format(writer=writer))
    bench.inside("client", SLOW_CP)
    hosts = bench.changed_hosts(share_serve="existing", share_path="/srv/other", share_name="media")
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], direction=["write"], store=["disk"], size="1 MiB")
    try:
        with bench.started("run", "--hosts", str(hosts), str(sweep)) as run:
            (path,) = set(re.findall(r"/(file-share-lab-\w+/b\S+\.bin)$", bench.inside("client", NAMES), re.MULTILINE))
            folder = f"/srv/other/{path.partition('/')[0]}"
            bench.inside("server", before.format(folder=folder))
            planting = f"{attacker} ln -s /srv/other/precious /srv/other/{path} 2>/dev/null; :"
            bench.inside("server", planting)
            bench.inside("client", "touch /run/slow/go")
            output, _ = run.communicate(timeout=300)
        assert ("stays open" in output) == stays_open, output
        bench.wait_until_free()
        return bench.inside("server", "head -c 7 /srv/other/precious | tr -c 'a-z\\n' ?")
    finally:
        bench.inside("client", "rm -rf /run/slow /usr/local/bin/cp")


@pytest.mark.parametrize("writer", ["root", "www-data"])
def test_nobody_else_can_plant_in_the_folder_of_a_share_that_was_there(bench: Bench, writer: str) -> None:
    with other_samba(bench, "media", writer=writer, mode="1777"):
        assert attack(bench, writer, "") == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_the_attacker_would_win_where_all_could_write_into_it(bench: Bench) -> None:
    """As it was before: otherwise the test above would prove nothing."""
    with other_samba(bench, "media", writer="root", mode="1777"):
        assert attack(bench, "root", "chmod 1777 {folder}") != "theirs\n"


@pytest.fixture
def sharer(bench: Bench) -> Iterator[str]:
    """An account of the server's without a group of its own, as every account of a Mac is."""
    bench.inside("server", "for name in sharer neighbour; do useradd --no-create-home --gid users $name; done")
    with other_samba(bench, "media", writer="sharer", mode="1777"):
        yield "sharer"
    bench.inside("server", "for name in sharer neighbour; do userdel $name; done")


def test_nor_where_who_writes_has_no_group_of_its_own(bench: Bench, sharer: str) -> None:
    """Then by an access control list, which lets no neighbour in that shares the group."""
    assert attack(bench, sharer, "", AS_NEIGHBOUR) == "theirs\n"
    assert [trial["status"] for trial in bench.trials()] == ["ok"]


def test_where_no_list_can_be_had_the_folder_stays_open_and_the_run_says_so(bench: Bench, sharer: str) -> None:
    """As it was before, with who attacks in the test above."""
    bench.inside("server", "mv /usr/bin/setfacl /usr/bin/setfacl.away")
    try:
        assert attack(bench, sharer, "", AS_NEIGHBOUR, stays_open=True) != "theirs\n"
    finally:
        bench.inside("server", "mv /usr/bin/setfacl.away /usr/bin/setfacl")
