"""A run whose server nobody logs in to: what it can do, where its files are, and what it counts."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.fake_host import FakeHost
from support.pairs import STORE_NAME, UNSEEN, hosts_model, pair_of
from support.runner_bench import Bench, measured
from support.sweeps import sweep_of, sweep_with

from lab.base.errors import BadInput, Unsupported
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.payload_size import MIB
from lab.design.plan import plan
from lab.hosts import Role
from lab.platforms import Counters, Reading, Timing
from lab.protocols import Attached, Share
from lab.results.run_folder import RunFolder
from lab.run.begin import payload_size as size_by_link
from lab.run.begin.capability import check_unseen_server
from lab.run.begin.compatibility import check_fit
from lab.run.begin.look import plan_of
from lab.run.case.catalogue import CATALOGUE
from lab.run.case.session import Session
from lab.run.case.setup import Setup
from lab.run.case.sharing import Mount, Served
from lab.run.transfer.observation import observe
from lab.run.transfer.places import Endpoints, Place, endpoints_of

SIZE = 16 * MIB
FILE = Path("hosts.ini")


def case(direction: str = "write", protocol: str = "smb", **options: str) -> Case:
    return Case(
        protocol, "cp", Direction(direction), 1500, "default", "disk", "file", SIZE, tuple(sorted(options.items()))
    )


def setup(attached: Attached) -> Setup:
    share, folder = cast(Share, SimpleNamespace(path="/srv/share")), f"/srv/share/{STORE_NAME}"
    return Setup(share, folder, Served({}, {}), Mount(attached, None), False, {})


def endpoints(direction: str, attached: Attached, server: Mapping[str, str | None] = UNSEEN) -> Endpoints:
    sides: dict[str, Any] = {Role.CLIENT: SimpleNamespace(directory="/lab")}
    pair = pair_of(hosts_model(server=server), sides=sides)
    return endpoints_of(pair, setup(attached), case(direction, client_sync="fsync"), "b001-0001")


# --- where the files are


def test_both_ends_are_on_the_client_and_one_of_them_in_the_mount() -> None:
    write, read = (endpoints(direction, Attached("/mnt/nas")) for direction in ("write", "read"))
    for path, place in ((write.target, write.target_place), (read.source, read.source_place)):
        assert (place.role, place.path, place.in_mount) == (Role.CLIENT, path, True)
        assert path.startswith(f"/mnt/nas/{STORE_NAME}/b001-0001")
    for path, place in ((write.source, write.source_place), (read.target, read.target_place)):
        assert (place.role, place.path, place.in_mount) == (Role.CLIENT, path, False)
        assert path.startswith("/lab/ram/b001-0001")
    assert (write.flush, read.flush) == (write.target, read.target)


def test_with_a_login_the_end_in_the_share_is_the_servers() -> None:
    write = endpoints("write", Attached("/mnt/nas"), {})
    assert write.target_place == Place(Role.SERVER, f"/srv/share/{STORE_NAME}/{write.seed}")
    assert write.target == f"/mnt/nas/{STORE_NAME}/{write.seed}"


# --- what it can do


@pytest.mark.parametrize(
    ("asked", "share", "message"),
    [
        (case("read", server_cache="cold"), {}, "server_cache = cold: nobody logs in to the server: leave it out of"),
        (case(protocol="ssh"), {}, r"ssh: nobody logs in to the server: give \[server\] host in the hosts file"),
        (
            case(**{"smb.signing": "true", "smb.dialect": "3.0"}),
            {"mounted": "/mnt/nas"},
            "smb.dialect, smb.signing: /mnt/nas was mounted by somebody else: leave that out, or let the lab mount",
        ),
    ],
)
def test_what_needs_a_login_or_a_mount_of_the_labs_own_is_refused(
    asked: Case, share: Mapping[str, str], message: str
) -> None:
    with pytest.raises(Unsupported, match=message):
        check_unseen_server(asked, pair_of(hosts_model(server=UNSEEN, share=share)))


def test_what_needs_neither_is_not_refused() -> None:
    options = {"smb.signing": "true"}
    check_unseen_server(case(**options), pair_of(hosts_model(server=UNSEEN)))
    for asked in (case("read", server_cache="cold"), case(protocol="ssh")):
        check_unseen_server(asked, pair_of(hosts={Role.SERVER: FakeHost("server")}))


@pytest.mark.parametrize(
    ("share", "protocols", "message"),
    [
        (
            {"mounted": "/mnt/nas"},
            ["smb", "nfs"],
            '[share] mounted: a share that is mounted already has one protocol, the sweep wants smb, nfs: '
            'give protocol = ["smb"] in the sweep, if that is it, or let the lab mount the share',
        ),
        ({"path": None}, ["nfs"], "[share] path: missing: NFS mounts the folder that the server exports"),
        (
            {"path": "~/media"},
            ["smb"],
            "[share] path: ~/media: whose home that is only a login on the server would tell: give the full "
            "path",
        ),
        ({"path": None}, ["smb"], ""),
        ({"path": None, "mounted": "/mnt/nas"}, ["nfs"], ""),
        ({}, ["smb", "nfs"], ""),
    ],
)  # fmt: skip
def test_what_only_a_mount_leads_to_is_held_against_the_sweep(
    share: Mapping[str, str | None], protocols: list[str], message: str
) -> None:
    config, sweep = hosts_model(server=UNSEEN, share=share), sweep_of(protocol=protocols, store=["disk"])
    if not message:
        check_fit(config, sweep)
        return
    with pytest.raises(BadInput) as refused:
        check_fit(config, sweep)
    assert str(refused.value) == message


def test_what_the_lab_serves_from_memory_needs_no_path() -> None:
    config = hosts_model(share={"serve": "lab", "path": None})
    check_fit(config, sweep_of(protocol=["smb", "nfs"], store=["ram"]))


# --- what it measures


def unseen(bench: Bench, **server: str | None) -> Bench:
    """The same bench, with a server that nobody logs in to."""
    config = hosts_model(server={**UNSEEN, **server}, share={"path": None})
    bench.session.pair = replace(bench.session.pair, config=config)
    return bench


def test_without_an_iperf3_no_link_is_measured_and_every_trial_is_run(bench: Bench) -> None:
    trials = replace(measured(), server=None)
    unseen(bench).outcome = lambda _: trials
    bench.runner(sweep_of(blocks=1, store=["disk"])).run()
    assert bench.ceilings == []
    assert bench.trials() == bench.transferred()
    assert {(trial.status, trial.server_cpu_s, trial.retransmits) for trial in bench.trials().values()} == {
        ("ok", None, trials.timing.counted.retransmits)
    }


def test_an_iperf3_that_listens_already_is_asked_and_none_is_started(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, str]] = []

    def measure(_: Any, __: Any, address: str, direction: str, ___: float, port: int) -> dict[str, float]:
        asked.append((address, port, direction))
        return bench.link(direction)

    monkeypatch.setattr("lab.workloads.iperf3.measure", measure)
    monkeypatch.setattr("lab.workloads.iperf3.server", lambda *_: pytest.fail("it was started"))
    unseen(bench, iperf3="192.0.2.9:5555").runner(sweep_of(blocks=1, store=["disk"], direction=["write"])).run()
    assert set(asked) == {("192.0.2.9", 5555, "write"), ("192.0.2.9", 5555, "read")}
    assert {trial.ceiling_bytes_per_s for trial in bench.transferred().values()} == {100e6}


def test_without_an_iperf3_a_small_transfer_each_way_tells_how_much_to_move(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    left_out = {one.case_id: "no smb" for one in plan(sweep.sized(MIB), CATALOGUE).cases}
    bench.folder.update(left_out={name: why for name, why in left_out.items() if "smb" in name})
    monkeypatch.setattr(size_by_link, "transfer", transfer)
    unseen(bench).session.set_up = set_up
    bench.session.pair.platforms[Role.CLIENT].files = SimpleNamespace(free_bytes={"/mnt/nas": 150 * MIB}.__getitem__)
    told: list[str] = []
    folder = RunFolder(bench.folder.path)
    sized, _ = size_by_link.choose_size(bench.session, folder, sweep, plan_of(folder, sweep), told.append)
    assert tried == [("pilot-write", "nfs", SIZE), ("pilot-read", "nfs", SIZE)]
    assert (sized.workload.size or 0) // MIB == 142  # as much as there is room for on the share
    assert "a first transfer of 16 MiB reached 67.11 MB/s" in told[0]
    assert "the share has room for no more" in told[1]


def test_what_the_client_counts_is_observed_and_of_the_server_nothing_is_made_up() -> None:
    class Client:
        def samples(self, _: str) -> tuple[Reading, ...]:
            return ()

    clock = SimpleNamespace(clock=Client())
    pair = pair_of(hosts_model(server=UNSEEN), platforms={Role.CLIENT: clock}, facts={Role.CLIENT: _Cores()})
    sent = int(SIZE * 1.1)
    first = Counters(0, 0, None, None, {}, Reading(10, {"tx_bytes": 0, "rx_bytes": 0}))
    last = Counters(sent, 9, None, None, {}, Reading(12, {"tx_bytes": sent, "rx_bytes": 9}))
    readings = tuple(reading for reading in (first.reading, last.reading) if reading)
    timing = Timing(2.0, last.since(first), "monotonic", "fsync", 0.3, readings)
    seen = observe(pair, case(), timing, (), 1)
    assert seen.observed.client is not None
    assert seen.observed.client.tx_bytes == sent
    assert seen.observed.server is None
    assert seen.observed.wire is not None
    assert seen.observed.wire.overhead == pytest.approx(0.1)
    assert (seen.observed.wire.lost_bytes, seen.observed.wire.reverse_lost_bytes) == (None, None)


class _Cores:
    cores = 8
    link_bits_per_s = None
