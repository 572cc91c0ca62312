"""Which size a run chooses where the sweep leaves that to the link."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from support.pairs import hosts_model
from support.runner_bench import Bench
from support.sweeps import sweep_with

from lab.base.errors import BadInput, LabFailure
from lab.design.payload_size import MIB
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES
from lab.results.run_folder import RunFolder
from lab.run.begin.look import plan_of
from lab.run.begin.payload_size import choose_size, recorded_size

SWEEP = sweep_with(workload={"seconds": 3}, factors={"mtu": [1500, 9000], "tcp_space": [65536, "default"]})


def choose(bench: Bench, sweep: Sweep = SWEEP, ram_disk: int = 2048 * MIB, speed: int | None = None) -> tuple[int, str]:
    """The chosen size in MiB, and what was told."""
    host = {"ram_disk": f"{ram_disk // MIB} MiB"}
    config = hosts_model(client=host, server=host, share={"path": "~/media"})
    facts = dict.fromkeys(ROLES, SimpleNamespace(link_bits_per_s=speed, home="/home/me"))
    pair = bench.session.pair = replace(bench.session.pair, config=config, facts=facts)
    pair.platforms["server"].files = SimpleNamespace(free_bytes={"/home/me/media": 100 * MIB}.__getitem__)
    told: list[str] = []
    folder = RunFolder(bench.folder.path)
    sized, planned = choose_size(bench.session, folder, sweep, plan_of(folder, sweep), told.append)
    assert planned == plan_of(folder, sized)
    size = sized.workload.size or 0
    return size // MIB, "\n".join(told)


def test_it_is_what_iperf3_moves_on_the_fastest_network_and_the_first_block_has_that_ceiling(bench: Bench) -> None:
    assert choose(bench) == (512, "a trial moves 512 MiB, which takes 5.4 s or more: iperf3 moved 100 MB/s")
    assert bench.ceilings == [("write", 9000), ("read", 9000)]
    assert set(bench.trials()) == {"b001-link-mtu9000-tcpdefault-write", "b001-link-mtu9000-tcpdefault-read"}
    assert RunFolder(bench.folder.path).run["payload_bytes"] == 512 * MIB


def test_a_run_that_is_resumed_has_the_size_that_was_chosen(bench: Bench) -> None:
    choose(bench)
    folder = RunFolder(bench.folder.path)
    again = recorded_size(SWEEP, folder)
    assert again.workload.size == 512 * MIB
    assert choose(bench, again) == (512, "")
    assert len(bench.ceilings) == 2
    folder.update(payload_bytes=-1)
    with pytest.raises(BadInput, match="payload_bytes: -1 is no size"):
        recorded_size(SWEEP, folder)


def test_a_size_that_the_sweep_has_is_taken(bench: Bench) -> None:
    assert choose(bench, sweep_with()) == (1, "")
    assert "payload_bytes" not in RunFolder(bench.folder.path).run


def test_where_there_is_less_room_it_takes_what_fits_and_warns(bench: Bench) -> None:
    size, told = choose(bench, ram_disk=256 * MIB)
    assert size == 243
    assert (
        "warning: that is less than the 3 s of the sweep, and too short for some verdicts: the client's RAM disk "
        "(ram_disk in the hosts file) has room for no more; 538 MiB would do"
    ) in told


def test_a_disk_counts_too(bench: Bench) -> None:
    size, told = choose(bench, sweep_with(workload={"seconds": 3}, factors={"store": ["disk"]}))
    assert size == 95
    assert "the server's disk, at /home/me/media, has room for no more" in told


@pytest.mark.parametrize(
    ("speed", "size", "source"), [(10**10, 1950, "the interfaces say 10 Gbit/s"), (None, 512, "1 Gbit/s is assumed")]
)
def test_without_iperf3_the_interfaces_say_how_fast_the_link_is(
    bench: Bench, speed: int | None, size: int, source: str
) -> None:
    def fail(_: str) -> Any:
        raise LabFailure("iperf3: no")

    bench.link = fail
    chosen, told = choose(bench, speed=speed)
    assert chosen == size
    assert source in told
