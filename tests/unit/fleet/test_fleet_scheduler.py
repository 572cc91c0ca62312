"""What Dask is told, what listens where, and which schedulers are taken."""

import copy
import http.client
import importlib
import importlib.util
import os
import socket
import sys
from contextlib import closing
from typing import Any

import psutil
import pytest
from support.fleets import FleetFolder, wait_until

from lab.base.errors import BadInput, LabFailure
from lab.fleet import attempt, scheduler

TELLING = ("/info/main/workers.html", "/json/identity.json", "/json/counts.json", "/metrics", "/status")


def listening(process: int) -> set[tuple[str, int]]:
    """The addresses and ports at which a process listens, as the kernel says."""
    return {
        (f"unix:{connection.laddr}", 0) if connection.family == socket.AF_UNIX else tuple(connection.laddr)
        for connection in psutil.Process(process).net_connections(kind="all")
        if connection.status == psutil.CONN_LISTEN or (connection.type == socket.SOCK_DGRAM and connection.laddr)
    }


def answers(port: int, path: str) -> int:
    """The status that a server of HTTP on loopback answers with."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def test_during_a_fleet_nothing_listens_but_on_loopback_and_tells_nothing(fleet: FleetFolder) -> None:
    fleet.pair("a")
    fleet.write()
    fleet.take(30)
    before = listening(os.getpid())
    with fleet.running() as run:
        wait_until(fleet.pids)
        addresses = listening(os.getpid()) - before
        of_task = listening(fleet.pids()[0])
        statuses = {answers(port, path) for ip, port in addresses if ip == "127.0.0.1" for path in TELLING}
        attempt.STOP.set()
    run.result()
    assert ({ip for ip, _ in addresses}, statuses, of_task) == ({"127.0.0.1"}, {404}, set())


def test_dask_is_told_neither_to_try_again_nor_to_move_nor_to_kill() -> None:
    config = importlib.import_module("dask.config")
    with scheduler.embedded(3, ["berlin"]) as chosen:
        assert config.get("distributed.scheduler.allowed-failures") == 0
        assert config.get("distributed.scheduler.work-stealing") is False
        limits = ("target", "spill", "pause", "terminate")
        assert {config.get(f"distributed.worker.memory.{limit}") for limit in limits} == {False}
        of_dask = chosen._client.cluster.scheduler
        assert of_dask.allowed_failures == 0
        (worker,) = of_dask.workers.values()
        assert (worker.nthreads, worker.resources) == (3, {"berlin": 3})
        (made,) = chosen._client.cluster.workers.values()
        assert made._dashboard is False  # it would draw pages, where bokeh is installed
        assert of_dask.address.startswith("inproc://")
        assert (chosen.slots, list(chosen.sites)) == (3, ["berlin"])


def test_a_dashboard_has_its_style_sheets_and_tells_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    expected = pytest.raises(BadInput, match="bokeh, which is not installed: `pip install bokeh`")
    with expected, scheduler.embedded(1, [], has_dashboard=True):
        pass
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    before = listening(os.getpid())
    with scheduler.embedded(1, [], has_dashboard=True) as chosen:
        ports = {port for _, port in listening(os.getpid()) - before}
        port = int(chosen.dashboard.removeprefix("http://127.0.0.1:").removesuffix("/status"))
        assert port in ports
        assert answers(port, "/statics/css/base.css") == 200
        assert {answers(number, path) for number in ports for path in TELLING[:-1]} == {404}


def test_tls_and_this_process_are_taken_and_other_addresses_are_refused() -> None:
    for address in ("tls://10.0.0.5:8786", "tls://127.0.0.1:8786", "inproc://10.0.0.5/1/2"):
        scheduler.check_address(address)
    by_tcp = ("tcp://10.0.0.5:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:1", "tcp://0.0.0.0:1", "tcp://localhost")
    for address in (*by_tcp, "10.0.0.5:8786", "ws://127.0.0.1:1"):
        with pytest.raises(BadInput, match=r"can run programs as its account; .*: give it TLS"):
            scheduler.check_address(address)


@pytest.mark.parametrize(("at", "workers", "message"), [
    ("tcp://192.0.2.5:8786", {}, "the scheduler listens at tcp://192.0.2.5:8786: whoever reaches"),
    ("tls://192.0.2.5:8786", {"tcp://192.0.2.6:1": {}}, "a worker listens at tcp://192.0.2.6:1: whoever reaches"),
])  # fmt: skip
def test_what_listens_by_another_address_without_tls_is_refused(
    monkeypatch: pytest.MonkeyPatch, at: str, workers: dict[str, Any], message: str
) -> None:
    distributed = importlib.import_module("distributed")
    identity = {"address": at, "workers": workers}
    monkeypatch.setattr(distributed.Client, "scheduler_info", lambda *_, **__: identity)
    with scheduler.embedded(1, []) as chosen:
        address = chosen._client.scheduler.address
        with pytest.raises(BadInput, match=f"{address}: {message}"), scheduler.by_address(address, 1):
            pass


@pytest.fixture(scope="module")
def versions() -> dict[str, Any]:
    """What Dask says of its own cluster."""
    with scheduler.embedded(1, []) as chosen:
        reported: dict[str, Any] = chosen._client.get_versions(packages=[scheduler.OWN])
    return reported


@pytest.mark.parametrize(("place", "package", "message"), [
    ("scheduler", "distributed", "the scheduler has distributed 2022.12.1, this program "),
    ("worker", "file-share-lab", "the worker inproc://.* has file-share-lab 2022.12.1, this program "),
    ("worker", "msgpack", "the worker .* has msgpack 2022.12.1"),
])  # fmt: skip
def test_only_the_same_versions_are_taken(versions: dict[str, Any], place: str, package: str, message: str) -> None:
    scheduler.check_versions(versions, "tls://x:1")
    other = copy.deepcopy(versions)
    node = other["scheduler"] if place == "scheduler" else next(iter(other["workers"].values()))
    node["packages"][package] = "2022.12.1"
    with pytest.raises(LabFailure, match=rf"tls://x:1: {message}.*install the same versions at both ends"):
        scheduler.check_versions(other, "tls://x:1")


def test_an_address_where_nobody_is_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_S", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tls://127.0.0.1:{port}"
    expected = pytest.raises(LabFailure, match=rf"{address}: no scheduler that can be talked to")
    with expected, scheduler.by_address(address, 1):
        pass


def test_a_client_that_is_closed_is_a_scheduler_that_is_gone() -> None:
    order = attempt.Order("a/quick/1", 1, "runs/a", "a.ini", "quick.toml", "stop")
    with scheduler.embedded(1, []) as chosen:
        chosen._client.close()
        for use in (lambda: chosen.submit(order, "key", 0, ""), chosen.placed, lambda: list(chosen.ended())):
            with pytest.raises(LabFailure, match=r"the scheduler is gone: .*: `lab fleet resume` goes on"):
                use()


def test_without_dask_it_says_that_it_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInput, match="is not installed"), scheduler.embedded(1, []):
        pass
