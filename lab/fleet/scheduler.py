"""Who runs attempts: dask.distributed, in this process, or by the address of a scheduler of your own.

Dask is told as little as it can be: a task is submitted once all its hosts are free, and never run again by Dask. What
it forgets, the queue knows. Its import takes more than a second, so it is imported where a scheduler is wanted.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

from lab.base.errors import BadInput, LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import listing, one_line
from lab.fleet.attempt import Ended, Order, attempt, sees_queue
from lab.fleet.journal import Outcome

INSTALL = "`pip install 'file-share-lab[fleet]'`"
NOT_INSTALLED = "a fleet is scheduled by dask.distributed, which is not installed"
CONNECT_S, WORKERS_S = 20, 60
UNUSED = "127.0.0.1:0"  # Dask listens for HTTP whether it is wanted or not: on loopback then, on a free port
CONFIG = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,  # it would look at every thread a hundred times a second
    "distributed.admin.tick.interval": "10s",  # it would wake twice 50 times a second, on what may be a measured host
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.http.routes": ["distributed.http.health"],  # others would tell of tasks and stacks
    "distributed.worker.http.routes": ["distributed.http.health"],
    "distributed.scheduler.worker-saturation": "inf",  # what is submitted is to begin
}
# Its style sheets and pictures, without which it shows a list of links and nothing else
OF_DASHBOARD = {"distributed.scheduler.http.routes": ["distributed.http.health", "distributed.http.statics"]}
# What they would say of lost connections stands in the journal; Dask gives each of these a level of its own
LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application", "asyncio", "bokeh")
OWN = "file-share-lab"
COMPARED = ("python", "dask", "distributed", "msgpack", OWN)  # of which other versions may not understand ours


class Scheduler:
    """Takes attempts, and says how they ended. ``slots`` are how many it takes at a time."""

    def __init__(self, client: Any, slots: int, sites: frozenset[str], dashboard: str = "") -> None:
        self._client, self.slots, self.sites, self.dashboard = client, slots, sites, dashboard
        self._completed = _distributed().as_completed()
        self._pending: dict[str, Any] = {}  # the futures of attempts that have not ended, by key

    def submit(self, order: Order, key: str, priority: int, site: str) -> None:
        """Have an attempt made by a worker that reaches the site; ``key`` is one of its own."""
        options = {"resources": {site: 1}} if site else {}
        with self._talking():
            future = self._client.submit(attempt, order, key=key, pure=False, retries=0, priority=priority, **options)
            self._completed.add(future)
            self._pending[key] = future

    def ended(self) -> Iterator[tuple[str, Ended]]:
        """The attempts that have ended since this was asked last, by key. Raises LabFailure where Dask is gone."""
        for future in self._completed.next_batch(block=False):
            is_known = future.status != "cancelled" or self._client.status == "running"
            if self._pending.pop(str(future.key), None) and is_known:
                yield str(future.key), _ending_of(future)
        if self._client.status != "running":
            raise _lost(f"the client of Dask is {self._client.status}")

    def placed(self) -> tuple[int, frozenset[str]]:
        """How many workers there are, and the attempts that one of them has or that have ended, by key.

        Dask keeps an attempt for a worker that is yet to come for as long as it takes, one whose worker is lost, too.
        Raises LabFailure where Dask is gone.
        """
        with self._talking():
            by_worker: Mapping[str, Iterable[str]] = self._client.processing()
        keys = {str(key) for keys in by_worker.values() for key in keys}
        keys |= {key for key, future in self._pending.items() if future.status != "pending"}
        return len(by_worker), frozenset(keys)

    def withdraw(self, key: str) -> None:
        """Have no worker begin an attempt any more; nobody is told of its end. Raises LabFailure where Dask is gone."""
        with self._talking():
            self._client.cancel([self._pending.pop(key)])

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Raise LabFailure where the client is closed meanwhile, of which Dask tells by errors of any kind."""
        try:
            yield
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, OSError | RuntimeError | ValueError):
                raise
            raise _lost(one_line(reason_of(error), 200)) from error

    def check_sites(self, sites: Iterable[str]) -> None:
        """Raise BadInput for a site that no worker reaches: Dask would wait for one for ever."""
        missing = sorted(set(sites) - self.sites - {""})
        if missing:
            here = listing(sorted(self.sites)) or "none"
            raise BadInput(
                f"no worker reaches {listing(missing)}; sites that are reached: {here}",
                f"`lab fleet run --site {missing[0]}`, where this machine reaches it; or start a worker there with "
                f"--resources '{missing[0]}=1'",
            )

    def check_queue(self, plan_file: str, identity: str) -> None:
        """Raise LabFailure where a worker does not see the queue."""
        try:
            answers = self._client.run(sees_queue, plan_file, identity)
        except ImportError as error:
            raise LabFailure(f"a worker cannot import the lab: {error}", "install it there, too") from error
        blind = [worker for worker, is_seen in answers.items() if not is_seen]
        if blind:
            raise LabFailure(
                f"workers do not see {plan_file}: {listing(blind)}",
                "give a --queue that all of them see by the same name, such as a folder on NFS",
            )


def _lost(why: str) -> LabFailure:
    return LabFailure(f"the scheduler is gone: {why}", "`lab fleet resume` goes on")


def _ending_of(future: Any) -> Ended:
    """How an attempt ended, or what became of its worker."""
    if future.status == "finished":
        result = future.result()
        if isinstance(result, Ended):
            return result
        return Ended(Outcome.FAILED, reason=f"no end of an attempt: {result!r:.99}")
    error = repr(future.exception()) if future.status == "error" else future.status
    return Ended(Outcome.FAILED, reason=one_line(f"its worker is lost: {error}", 300))


def _distributed() -> ModuleType:
    """The package. Raises BadInput where it is not installed."""
    try:
        module = importlib.import_module("distributed")
    except ImportError as error:
        raise BadInput(NOT_INSTALLED, INSTALL) from error
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return module


def check_installed() -> None:
    """Raise BadInput where Dask is not installed; imports nothing."""
    if importlib.util.find_spec("distributed") is None:
        raise BadInput(NOT_INSTALLED, INSTALL)


@contextmanager
def embedded(most_at_once: int, sites: Iterable[str], has_dashboard: bool = False) -> Iterator[Scheduler]:
    """A scheduler in this process, with a thread for each sweep that runs; nothing listens but on loopback.

    Raises BadInput for a dashboard where what it is drawn by is not installed.
    """
    distributed = _distributed()
    if has_dashboard and importlib.util.find_spec("bokeh") is None:
        raise BadInput("--dashboard: Dask draws it by bokeh, which is not installed", "`pip install bokeh`")
    config = importlib.import_module("dask.config")
    with ExitStack() as stack:
        stack.enter_context(config.set(CONFIG | (OF_DASHBOARD if has_dashboard else {})))
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-fleet-"))
        names = frozenset(sites)
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=most_at_once, processes=False, protocol="inproc://",
                dashboard_address=UNUSED, worker_dashboard_address=UNUSED, silence_logs=logging.CRITICAL,
                local_directory=place, memory_limit=None, scheduler_kwargs={"dashboard": has_dashboard},
                resources=dict.fromkeys(names, most_at_once), worker_class=_without_pages(distributed.Worker),
            )
        )  # fmt: skip
        client = stack.enter_context(distributed.Client(cluster))
        port = cluster.scheduler.services["dashboard"].port
        yield Scheduler(client, most_at_once, names, f"http://127.0.0.1:{port}/status" if has_dashboard else "")


def _without_pages(worker: Callable[..., Any]) -> Callable[..., Any]:
    """What makes a worker without pages of its own, which LocalCluster has each draw that is told where to listen."""
    return lambda *words, **options: worker(*words, **{**options, "dashboard": False})


@contextmanager
def by_address(address: str, most_at_once: int) -> Iterator[Scheduler]:
    """The scheduler at an address, as it is: SSHCluster, Slurm or any other. Raises BadInput and LabFailure."""
    check_address(address)
    distributed = _distributed()
    with ExitStack() as stack:
        client = stack.enter_context(_connected(distributed, address))
        check_versions(client.get_versions(packages=[OWN]), address)
        try:
            client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError as error:
            raise LabFailure(f"{address}: no worker came within {WORKERS_S} s", "start one: `dask worker`") from error
        identity = _identity(client)
        check_listeners(identity, address)
        sites = frozenset(name for worker in identity["workers"].values() for name in worker.get("resources", {}))
        yield Scheduler(client, most_at_once, sites, str(client.dashboard_link))


def check_address(address: str) -> None:
    """Raise BadInput for an address at which others could run code as you: on loopback these are all accounts there."""
    if address.startswith(("tls://", "inproc://")):
        return
    raise BadInput(
        f"{one_line(address, 100)}: whoever reaches such a scheduler can run programs as its account; loopback is "
        "reached by every account of its machine",
        "give it TLS, and an address of tls://HOST:PORT: docs/how-to/run-a-fleet.md says how",
    )


def check_listeners(identity: Mapping[str, Any], address: str) -> None:
    """Raise BadInput where a scheduler, or a worker of it, is at an address that is not taken, as Dask's own are."""
    for name, its in [("the scheduler", identity["address"]), *(("a worker", one) for one in identity["workers"])]:
        try:
            check_address(str(its))
        except BadInput as error:
            raise BadInput(f"{address}: {name} listens at {error.message}", error.remedy) from error


@contextmanager
def _connected(distributed: ModuleType, address: str) -> Iterator[Any]:
    """A client of the scheduler there. Raises LabFailure where there is none, or none that understands ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: they are compared below
            client = distributed.Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise LabFailure(
            f"{address}: no scheduler that can be talked to: {one_line(reason_of(error), 300)}",
            f"see that it runs, and has this version of distributed: {distributed.__version__}",
        ) from error
    with client:
        yield client


def check_versions(versions: Mapping[str, Any], address: str) -> None:
    """Raise LabFailure where scheduler or workers have other versions than this program; as Dask tells them."""
    own = _packages(versions["client"])
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"the worker {name}": worker for name, worker in versions["workers"].items()}
    differences = []
    for name, other in others.items():
        theirs = _packages(other)
        if name == "the scheduler":
            theirs[OWN] = own.get(OWN, "")  # it runs nothing of ours
        differences += [
            f"{name} has {package} {theirs.get(package) or 'not at all'}, this program {own.get(package)}"
            for package in COMPARED
            if theirs.get(package, "") != own.get(package, "")
        ]
    if differences:
        raise LabFailure(f"{address}: {'; '.join(differences[:6])}", "install the same versions at both ends")


def _packages(node: Mapping[str, Any]) -> dict[str, str]:
    """The versions of a client, scheduler or worker; of Python without the last part."""
    versions = {name: str(version) for name, version in node.get("packages", {}).items() if version is not None}
    python = str(node.get("host", {}).get("python", "") or versions.get("python", ""))
    versions["python"] = ".".join(python.split(".")[:2])
    return versions


def _identity(client: Any) -> dict[str, Any]:
    """What the scheduler says of itself and of each of its workers."""
    ask: Callable[..., Any] = client.scheduler_info
    try:
        return dict(ask(n_workers=-1))
    except TypeError:  # of versions that tell of all anyway
        return dict(ask())
