"""A controller that is gone, asleep or cut off: the hosts restore themselves, and the run can be resumed."""

from collections.abc import Callable

import pytest
from faults.observe import difference
from support.killed_runs import kill_in_a_transfer, left_at_the_end, prepared
from support.local_lab import Bench
from support.own_link import Network

from lab.base.present import present


@pytest.mark.parametrize(("platforms", "protocols"), [((), ["smb"])])
def test_hosts_restore_themselves_after_their_controller_was_killed(
    new_bench: Callable[..., Bench], platforms: tuple[str, ...], protocols: list[str]
) -> None:
    """Kill a run of each protocol, wait until its lease ends, and resume it."""
    bench, observer, before = prepared(new_bench("--rate", "200mbit", *platforms))
    for protocol in protocols:
        kill_in_a_transfer(bench, protocol)
        assert any("mtu 9000" in what for what in difference(before, observer.state()))
        assert left_at_the_end(observer, before) == []
        assert "both hosts were already unlocked (the lease expired" in bench.check_output("restore")
        assert difference(before, observer.state()) == []
        bench.check_output("run", "--resume", str(bench.newest()))
        observer.settle()
        assert difference(before, observer.state()) == []


def test_a_change_that_does_no_harm_is_confirmed_and_stays_until_it_is_put_back(network: Network) -> None:
    before = network.link()
    with network.started("1400", "well", 60) as run:
        output, _ = run.communicate(timeout=120)
    assert output.splitlines() == ["confirmed", "unwound []"]
    assert network.link() == before


@pytest.mark.parametrize("change", ["9000"])
def test_a_host_undoes_what_cuts_it_off(network: Network, change: str) -> None:
    """With MTU 9000 every handshake succeeds, but no full packet arrives."""
    before = network.link()
    with network.started(change, "well", 5) as run:
        output, _ = run.communicate(timeout=120)
    refused, *_, unwound = output.splitlines()
    assert f"with '{change}' the controller did not reach the host again within 5 s" in refused
    assert unwound == "unwound []"
    assert network.link() == before


@pytest.mark.parametrize("how", ["killed"])
def test_a_host_undoes_what_a_lost_controller_did(network: Network, how: str) -> None:
    before = network.link()
    with network.started("1400", how, 12) as run:
        assert present(run.stdout).readline() == "changed\n"
        if how == "unplugged":
            network.unplug()
        assert network.link() != before
        network.wait_for(before)
        run.kill()
    if how == "unplugged":
        # its SSH session is still open, so the host is still in use
        message = network.bench.refusal(1, "restore", "--hosts", str(network.bench.hosts))
        assert "in use by a test (process" in message
        network.bench.inside("server", "kill " + message.split("kill ")[1].split("`")[0])
    network.restore()
