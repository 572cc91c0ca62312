"""The check of the link: what its interfaces could carry, and what gets through."""

import pytest
from support.checked_macs import ADDRESSES, Macs, about, lines_of, machines_of

from lab.check import link


def check(macs: Macs) -> list[str]:
    machines = machines_of(macs)
    return lines_of(link.findings(machines["client"], machines["server"]))


def test_jumbo_frames_are_proven_where_that_changes_nothing(macs: Macs) -> None:
    for host in macs.values():
        (host.folder / "mtu").write_text("9000")
    assert about(check(macs), "link path")[0].startswith("note     link path: ping cannot send 9000 bytes at once")
    assert not any(host.calls("ping") for host in macs.values())
    values = macs["server"].folder / "values"
    values.write_text(values.read_text().replace("8192", "16384"))
    (line,) = about(check(macs), "link path")
    assert line == "ok       link path: packets of MTU 9000 cross it in one piece, and back"
    assert macs["server"].calls("ping") == [f"ping -n -D -s 8972 -c 1 -W 2000 {ADDRESSES['client']}"]
    assert not macs["client"].calls("ping")


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("\tmax mtu: 1500\n", "up to 1500 (client) and 9000 (server): this pair cannot do 9000  -> leave MTU 9000 out"),
        ("", "up to an unknown MTU (client) and 9000 (server); only trying tells if the path carries 9000  -> `lab"),
    ],
)
def test_what_the_interfaces_could_carry(macs: Macs, limit: str, message: str) -> None:
    (macs["client"].folder / "limit").write_text(limit)
    (line,) = about(check(macs), "link MTU")
    assert line.startswith("note     link MTU: today 1500 and 1500; the interfaces take ")
    assert message in line
