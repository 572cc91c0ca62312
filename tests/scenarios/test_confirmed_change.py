"""A change on the very link that leads to the host: the host takes it back, unless the controller reached it again."""

import pytest
from support.own_link import Network


def test_a_change_that_does_no_harm_is_confirmed_and_stays_until_it_is_put_back(network: Network) -> None:
    before = network.link()
    with network.started("1400", "well", 60) as run:
        said, _ = run.communicate(timeout=120)
    assert said.splitlines() == ["confirmed", "unwound []"]
    assert network.link() == before


@pytest.mark.parametrize("change", ["9000"])
def test_what_cuts_the_controller_off_is_taken_back_by_the_host(network: Network, change: str) -> None:
    """MTU 9000 lets every handshake through, and no packet that is full."""
    before = network.link()
    with network.started(change, "well", 5) as run:
        said, _ = run.communicate(timeout=120)
    refused, *_, unwound = said.splitlines()
    assert f"with '{change}' the controller did not reach the host again within 5 s" in refused
    assert unwound == "unwound []"
    assert network.link() == before


@pytest.mark.parametrize("how", ["killed"])
def test_a_controller_that_is_gone_leaves_a_host_that_takes_it_back(network: Network, how: str) -> None:
    before = network.link()
    with network.started("1400", how, 12) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "changed\n"
        if how == "unplugged":
            network.unplug()
        assert network.link() != before
        network.wait_for(before)
        run.kill()
    if how == "unplugged":
        # its SSH session is still there, so that the host is in use as far as anybody can tell
        asked = network.bench.lab("restore", "--hosts", str(network.bench.hosts))
        assert asked.returncode == 1
        assert "in use by a test (process" in asked.stderr
        network.bench.inside("server", "kill " + asked.stderr.split("kill ")[1].split("`")[0])
    network.restore()
