"""dask.distributed runs the attempts, in this process or by a scheduler of your own.

A task is submitted once all its hosts are free, and Dask never runs it again: the queue remembers what Dask forgets.
Dask is imported only when a scheduler is needed, because its import takes more than a second.
"""

import importlib
import importlib.util
import logging
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

from lab.base.errors import BadInput, LabFailure
from lab.base.os_errors import reason_of
from lab.base.untrusted import listing, one_line
from lab.fleet.attempt import Ended, Order, attempt, sees_queue
from lab.fleet.journal import Outcome
from lab.fleet.plan import Plan

INSTALL = "`pip install 'file-share-lab[fleet]'`"
NOT_INSTALLED = "a fleet is scheduled by dask.distributed, which is not installed"
CONNECT_S, WORKERS_S = 20, 60
UNUSED = "127.0.0.1:0"  # Dask always listens for HTTP: let it use a free port of loopback
CONFIG = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,  # would look at every thread a hundred times a second
    "distributed.admin.tick.interval": "10s",  # would wake up 50 times a second, maybe on a measured host
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.http.routes": ["distributed.http.health"],  # other pages show tasks and stacks
    "distributed.worker.http.routes": ["distributed.http.health"],
    "distributed.scheduler.worker-saturation": "inf",  # every submitted task begins at once
}
# The dashboard's style sheets and pictures; without them it shows nothing but a list of links
DASHBOARD_CONFIG = {"distributed.scheduler.http.routes": ["distributed.http.health", "distributed.http.statics"]}
# Loggers that report lost connections, which the journal has already; Dask sets the level of each
LOGGERS = ("distributed", "distributed.client", "distributed.gc", "tornado", "tornado.application", "asyncio", "bokeh")
OWN = "file-share-lab"
COMPARED = ("python", "dask", "distributed", "msgpack", OWN)  # packages that need the same version at both ends


class Scheduler:
    """Runs attempts, at most ``slots`` at a time, and tells how they ended."""

    def __init__(self, client: Any, slots: int, sites: frozenset[str], dashboard: str = "") -> None:
        self._client, self.slots, self.sites, self.dashboard = client, slots, sites, dashboard
        self._completed = _distributed().as_completed()
        self._pending: dict[str, Any] = {}  # futures of the attempts that have not ended, by key

    def submit(self, order: Order, key: str, priority: int, site: str) -> None:
        """Let a worker that reaches the site make an attempt; ``key`` must be new."""
        options = {"resources": {site: 1}} if site else {}
        with self._talking():
            future = self._client.submit(attempt, order, key=key, pure=False, retries=0, priority=priority, **options)
            self._completed.add(future)
            self._pending[key] = future

    def ended(self) -> Iterator[tuple[str, Ended]]:
        """The attempts that have ended since the last call, by key. Raises LabFailure if Dask is gone."""
        for future in self._completed.next_batch(block=False):
            is_known = future.status != "cancelled" or self._client.status == "running"
            if self._pending.pop(str(future.key), None) and is_known:
                yield str(future.key), _ending_of(future)
        if self._client.status != "running":
            raise _lost(f"the client of Dask is {self._client.status}")

    def placed(self) -> tuple[int, frozenset[str]]:
        """The number of workers, and the keys of the attempts that a worker has or that have ended.

        Dask keeps an attempt without a worker, or with a lost one, until a worker comes. Raises LabFailure if Dask is
        gone.
        """
        with self._talking():
            by_worker: Mapping[str, Iterable[str]] = self._client.processing()
        keys = {str(key) for keys in by_worker.values() for key in keys}
        keys |= {key for key, future in self._pending.items() if future.status != "pending"}
        return len(by_worker), frozenset(keys)

    def withdraw(self, key: str) -> None:
        """Withdraw an attempt, whose end is then not reported. Raises LabFailure if Dask is gone."""
        with self._talking():
            self._client.cancel([self._pending.pop(key)])

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Raise LabFailure if the client is closed meanwhile; Dask then raises errors of any kind."""
        try:
            yield
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, OSError | RuntimeError | ValueError):
                raise
            raise _lost(one_line(reason_of(error), 200)) from error

    def check_sites(self, plan: Plan) -> None:
        """Raise BadInput for a site that no worker reaches: Dask would wait for ever."""
        for task in plan.tasks:
            if task.site and task.site not in self.sites:
                raise BadInput(
                    f"{task.pair}: no worker reaches {task.site}; sites that are reached: "
                    f"{listing(sorted(self.sites)) or 'none'}",
                    f"`lab fleet run --site {task.site}`, where this machine reaches it; or start a worker there with "
                    f"--resources '{task.site}=1'",
                )

    def check_queue(self, plan_file: str, identity: str) -> None:
        """Raise LabFailure if a worker does not see the queue."""
        try:
            answers = self._client.run(sees_queue, plan_file, identity)
        except ImportError as error:
            raise LabFailure(f"a worker cannot import the lab: {error}", "install it there, too") from error
        blind = [worker for worker, is_seen in answers.items() if not is_seen]
        if blind:
            problem = f"workers do not see {plan_file}: {listing(blind)}"
            raise LabFailure(problem, "give a --queue that all of them see by the same name, such as a folder on NFS")


def _lost(why: str) -> LabFailure:
    return LabFailure(f"the scheduler is gone: {why}", "`lab fleet resume` goes on")


def _ending_of(future: Any) -> Ended:
    """How an attempt ended; failed if its worker is lost."""
    if future.status == "finished":
        result = future.result()
        return result if isinstance(result, Ended) else Ended(Outcome.FAILED, reason=f"no result: {result!r:.99}")
    error = repr(future.exception()) if future.status == "error" else future.status
    return Ended(Outcome.FAILED, reason=one_line(f"its worker is lost: {error}", 300))


def _distributed() -> ModuleType:
    try:
        module = importlib.import_module("distributed")
    except ImportError as error:
        raise BadInput(NOT_INSTALLED, INSTALL) from error
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return module


def check_installed() -> None:
    """Raise BadInput if Dask is not installed, without importing it."""
    if importlib.util.find_spec("distributed") is None:
        raise BadInput(NOT_INSTALLED, INSTALL)


@contextmanager
def embedded(most_at_once: int, sites: Iterable[str], has_dashboard: bool = False) -> Iterator[Scheduler]:
    """A scheduler in this process, on loopback only, with a thread for each running sweep. Raises BadInput."""
    distributed = _distributed()
    if has_dashboard and importlib.util.find_spec("bokeh") is None:
        raise BadInput("--dashboard: Dask draws it by bokeh, which is not installed", "`pip install bokeh`")
    config = importlib.import_module("dask.config")
    with ExitStack() as stack:
        stack.enter_context(config.set(CONFIG | (DASHBOARD_CONFIG if has_dashboard else {})))
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-fleet-"))
        names = frozenset(sites)
        cluster = stack.enter_context(
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=most_at_once, processes=False, protocol="inproc://",
                dashboard_address=UNUSED, worker_dashboard_address=UNUSED, silence_logs=logging.CRITICAL,
                local_directory=place, memory_limit=None, scheduler_kwargs={"dashboard": has_dashboard},
                resources=dict.fromkeys(names, most_at_once),
                # LocalCluster makes each worker that is told where to listen draw pages of its own
                worker_class=lambda *words, **options: distributed.Worker(*words, **{**options, "dashboard": False}),
            )
        )  # fmt: skip
        client = stack.enter_context(distributed.Client(cluster))
        port = cluster.scheduler.services["dashboard"].port
        yield Scheduler(client, most_at_once, names, f"http://127.0.0.1:{port}/status" if has_dashboard else "")


@contextmanager
def by_address(address: str, most_at_once: int) -> Iterator[Scheduler]:
    """The scheduler at an address: SSHCluster, Slurm or any other. Raises BadInput and LabFailure."""
    check_address(address)
    distributed = _distributed()
    with _connect(distributed, address) as client:
        check_versions(client.get_versions(packages=[OWN]), address)
        try:
            client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError as error:
            raise LabFailure(f"{address}: no worker came within {WORKERS_S} s", "start one: `dask worker`") from error
        identity = client.scheduler_info(n_workers=-1)  # the scheduler's description of itself and of all its workers
        check_listeners(identity, address)
        sites = frozenset(name for worker in identity["workers"].values() for name in worker.get("resources", {}))
        yield Scheduler(client, most_at_once, sites, str(client.dashboard_link))


def check_address(address: str) -> None:
    """Raise BadInput for an address where others could run code as you; on loopback every local account could."""
    if address.startswith(("tls://", "inproc://")):
        return
    raise BadInput(
        f"{one_line(address, 100)}: whoever reaches such a scheduler can run programs as its account; loopback is "
        "reached by every account of its machine",
        "give it TLS, and an address of tls://HOST:PORT: docs/how-to/run-a-fleet.md says how",
    )


def check_listeners(identity: Mapping[str, Any], address: str) -> None:
    """Raise BadInput if the scheduler or a worker listens at an address that :func:`check_address` refuses."""
    listeners = [("the scheduler", identity["address"]), *(("a worker", worker) for worker in identity["workers"])]
    for name, listener in listeners:
        try:
            check_address(str(listener))
        except BadInput as error:
            raise BadInput(f"{address}: {name} listens at {error.message}", error.remedy) from error


def _connect(distributed: ModuleType, address: str) -> Any:
    """A client of the scheduler at an address. Raises LabFailure if none answers, or one of another version."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about versions, which check_versions compares
            return distributed.Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, TypeError, LookupError, RuntimeError) as error:
        raise LabFailure(
            f"{address}: no scheduler that can be talked to: {one_line(reason_of(error), 300)}",
            f"see that it runs, and has this version of distributed: {distributed.__version__}",
        ) from error


def check_versions(versions: Mapping[str, Any], address: str) -> None:
    """Raise LabFailure if the scheduler or a worker has other versions than this program."""
    ours = _packages(versions["client"])
    others = {"the scheduler": versions["scheduler"]}
    others |= {f"the worker {name}": worker for name, worker in versions["workers"].items()}
    differences = []
    for name, other in others.items():
        theirs = _packages(other)
        if name == "the scheduler":
            theirs[OWN] = ours.get(OWN, "")  # it runs no code of the lab
        differences += [
            f"{name} has {package} {theirs.get(package) or 'not at all'}, this program {ours.get(package)}"
            for package in COMPARED
            if theirs.get(package, "") != ours.get(package, "")
        ]
    if differences:
        raise LabFailure(f"{address}: {'; '.join(differences[:6])}", "install the same versions at both ends")


def _packages(node: Mapping[str, Any]) -> dict[str, str]:
    """The versions of a client, scheduler or worker; Python's without its last part."""
    versions = {name: str(version) for name, version in node.get("packages", {}).items() if version is not None}
    python = str(node.get("host", {}).get("python", "") or versions.get("python", ""))
    versions["python"] = ".".join(python.split(".")[:2])
    return versions
