"""Which size a run chooses where the sweep leaves that to the link."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from support.pairs import UNSEEN, hosts_model
from support.runner_bench import RunBench
from support.sweeps import sweep_with

from lab.base.errors import BadInput, LabFailure
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.payload_size import MIB
from lab.design.plan import plan
from lab.design.sweep_file import Sweep
from lab.hosts import ROLES, Role
from lab.platforms.files import NOT_TOLD
from lab.results.run_folder import RunFolder
from lab.run.begin import payload_size
from lab.run.begin.look import plan_of
from lab.run.begin.payload_size import choose_size, recorded_size
from lab.run.case.catalogue import CATALOGUE
from lab.run.case.session import Session
from lab.run.transfer.part import NoSpace

SWEEP = sweep_with(workload={"seconds": 3}, factors={"mtu": [1500, 9000], "tcp_space": [65536, "default"]})


def choose(bench: RunBench, sweep: Sweep = SWEEP, ram: str = "2048 MiB", speed: int | None = None) -> tuple[int, str]:
    """The chosen size in MiB, and the lines for the user."""
    host = {"ram_disk": ram}
    config = hosts_model(client=host, server=host, share={"path": "~/media"})
    facts = dict.fromkeys(ROLES, SimpleNamespace(link_bits_per_s=speed, home="/home/me"))
    pair = bench.session.pair = replace(bench.session.pair, config=config, facts=facts)
    pair.platforms["server"].files = SimpleNamespace(free_bytes={"/home/me/media": 100 * MIB}.__getitem__)
    return choose_on_pair(bench, sweep)


def choose_on_pair(bench: RunBench, sweep: Sweep) -> tuple[int, str]:
    lines: list[str] = []
    folder = RunFolder(bench.folder.path)
    sized, planned = choose_size(bench.session, folder, sweep, plan_of(folder, sweep), lines.append)
    assert planned == plan_of(folder, sized)
    return (sized.workload.size or 0) // MIB, "\n".join(lines)


def test_it_is_what_iperf3_moves_on_the_fastest_network_whose_first_ceiling_that_is(bench: RunBench) -> None:
    assert choose(bench) == (512, "a trial moves 512 MiB, which takes 5.4 s or more: iperf3 moved 100 MB/s")
    assert bench.ceilings == [("write", 9000), ("read", 9000)]
    assert set(bench.trials()) == {"b001-link-mtu9000-tcpdefault-write", "b001-link-mtu9000-tcpdefault-read"}
    assert RunFolder(bench.folder.path).run["payload_bytes"] == 512 * MIB


def test_a_run_that_is_resumed_has_the_size_that_was_chosen(bench: RunBench) -> None:
    choose(bench)
    folder = RunFolder(bench.folder.path)
    again = recorded_size(SWEEP, folder)
    assert (again.workload.size, choose(bench, again), len(bench.ceilings)) == (512 * MIB, (512, ""), 2)
    folder.update(payload_bytes=-1)
    with pytest.raises(BadInput, match="payload_bytes: -1 is no size"):
        recorded_size(SWEEP, folder)


def test_a_size_that_the_sweep_has_is_taken(bench: RunBench) -> None:
    assert choose(bench, sweep_with()) == (1, "")
    assert "payload_bytes" not in RunFolder(bench.folder.path).run


def test_where_there_is_less_room_it_takes_what_fits_and_warns(bench: RunBench) -> None:
    warning = (
        "warning: that is less than the 3 s of the sweep, and too short for some verdicts: the client's RAM disk "
        "(ram_disk in the hosts file) has room for no more; 538 MiB would do"
    )
    size, lines = choose(bench, ram="256 MiB")
    assert (size, warning in lines) == (243, True), lines


def test_a_disk_counts_too(bench: RunBench) -> None:
    size, lines = choose(bench, sweep_with(workload={"seconds": 3}, factors={"store": ["disk"]}))
    assert (size, "the server's disk, at /home/me/media, has room for no more" in lines) == (95, True), lines


@pytest.mark.parametrize(
    ("speed", "size", "source"), [(10**10, 1950, "the interfaces say 10 Gbit/s"), (None, 512, "1 Gbit/s is assumed")]
)
def test_without_iperf3_the_interfaces_are_believed(bench: RunBench, speed: int | None, size: int, source: str) -> None:
    bench.link = Mock(side_effect=LabFailure("iperf3: no"))
    chosen, lines = choose(bench, speed=speed)
    assert (chosen, source in lines) == (size, True), lines


@pytest.mark.parametrize(
    ("free_bytes", "message"),
    [
        (8 << 20, "the share media is full: a test needs 17 MB and 8 MB are free: make room there"),
        (9 << 30, "the share media takes no more, although it says that 9664 MB are free: a test needs 17 MB: a quota"),
        (NOT_TOLD, "the share media takes no more: a test needs 17 MB, and it does not say how much is free: a quota"),
    ],
)
def test_a_share_without_room_for_a_first_transfer_says_what_it_takes(
    bench: RunBench, monkeypatch: pytest.MonkeyPatch, free_bytes: int, message: str
) -> None:
    monkeypatch.setattr(payload_size, "transfer", Mock(side_effect=NoSpace("cp: No space left on device")))
    config = hosts_model(server=UNSEEN, share={"path": None, "name": "media"})
    files = SimpleNamespace(free_bytes={"/mnt/nas": free_bytes}.__getitem__)
    platforms = {Role.CLIENT: SimpleNamespace(files=files)}
    bench.session.pair = replace(bench.session.pair, config=config, platforms=platforms)
    bench.session.set_up = lambda _: SimpleNamespace(attached=SimpleNamespace(path="/mnt/nas"))
    sweep = sweep_with(workload={"seconds": 3}, factors={"protocol": ["smb"], "store": ["disk"]})
    with pytest.raises(LabFailure) as caught:
        choose_on_pair(bench, sweep)
    assert str(caught.value).startswith(message)


def test_without_iperf3_small_transfers_tell_how_much_to_move(bench: RunBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The faster of both counts. What these hosts cannot do is not tried."""
    seconds = {Direction.WRITE: 0.5, Direction.READ: 0.25}
    tried: list[tuple[str, str, int]] = []

    def transfer(_: Session, pilot: Case, trial_id: str, __: float) -> Any:
        tried.append((trial_id, pilot.protocol, pilot.size_bytes))
        return SimpleNamespace(timing=SimpleNamespace(elapsed_s=seconds[pilot.direction]))

    def set_up(first: Case) -> Any:
        assert first.protocol == "nfs"
        return SimpleNamespace(attached=SimpleNamespace(path="/mnt/nas"))

    sweep = sweep_with(workload={"seconds": 3}, factors={"protocol": ["smb", "nfs"], "store": ["disk"]})
    cases = plan(sweep.sized(MIB), CATALOGUE).cases
    bench.folder.update(left_out={case.case_id: "no smb" for case in cases if "smb" in case.case_id})
    monkeypatch.setattr(payload_size, "transfer", transfer)
    bench.session.set_up = set_up
    bench.hide_server()
    bench.session.pair.platforms[Role.CLIENT].files = SimpleNamespace(free_bytes={"/mnt/nas": 150 * MIB}.__getitem__)
    size, lines = choose_on_pair(bench, sweep)
    assert tried == [("pilot-write", "nfs", 16 * MIB), ("pilot-read", "nfs", 16 * MIB)]
    assert size == 142  # as much as there is room for on the share
    first, second = lines.splitlines()
    assert "a first transfer of 16 MiB reached 67.11 MB/s" in first
    assert "the share has room for no more" in second
