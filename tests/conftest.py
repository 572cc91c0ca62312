"""Settings of every test, its tier (by its folder), and the fixtures that several folders share."""

import gc
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings
from support.local_lab import Bench
from support.paths import TESTS

import lab.hosts.passwords
from lab.local import lifecycle, state

pytest_plugins = [  # fixtures of several folders; what others import comes first
    f"support.{name}"
    for name in (
        "other_servers", "attackers", "killed_runs", "lying_host", "measured", "narrow_sudo",
        "own_link", "secret_watch", "several_clients", "sshd_fixtures",
    )
]  # fmt: skip
# pytest by itself rewrites asserts only in files that it collects, not in those that other tests import
pytest.register_assert_rewrite("unit", "scenarios", "breadth")
# the marker of a test by the folder of `tests` that it is in; docs/contributing/tests.md says what each is for
TIERS = {
    "unit": "unit", "examples": "unit", "fuzz": "generated", "scenarios": "scenario", "breadth": "breadth",
    "release": "release",
}  # fmt: skip
QUICK = ("unit", "generated")
# objects of tests are freed soon: looking for cycles every 700 objects takes a tenth of the time
gc.set_threshold(20_000, 10, 10)
# the names of all local labs of this test run begin with this; workers of pytest-xdist inherit it
NAME_OF_LABS = "LABS_OF_THIS_TEST_RUN"
LABS = os.environ.setdefault(NAME_OF_LABS, f"test-{os.getpid()}")
# no deadline, because the machine may be slow or busy
# the same examples in every run; `make fuzz` looks for new ones
settings.register_profile(
    "lab", parent=settings(), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", parent=settings.get_profile("lab"), max_examples=10)
settings.register_profile(  # for `make fuzz`
    "fuzz", parent=settings.get_profile("lab"), max_examples=2000, derandomize=False, print_blob=True
)
settings.load_profile("lab")


def tier_of(path: Path) -> str:
    return TIERS[path.relative_to(TESTS).parts[0]]


def pytest_configure(config: pytest.Config) -> None:
    """On SIGTERM, as from timeout(1), let the workers clean up what their tests made."""

    def end(*_: object) -> None:
        if config.getoption("numprocesses", None):
            for worker in psutil.Process().children():
                worker.terminate()
        pytest.exit("told to end", 143)

    signal.signal(signal.SIGTERM, end)


def pytest_unconfigure() -> None:
    """Take down labs and end processes that workers left: pytest-xdist kills workers that need 10 s to end."""
    if f"test-{os.getpid()}" == LABS:
        for path in state.RUN.glob(f"{LABS}-*"):
            lifecycle.down(path.name)
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(NAME_OF_LABS) == LABS and process.pid != os.getpid():
                    process.kill()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show the message of each first try of a test that was run again: passing later does not explain it."""
    for tried in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {tried.nodeid}")
        terminalreporter.line(tried.longreprtext)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part 2/4`` runs every fourth file, from the second on: a landing runs one part of the slow tests."""
    parser.addoption("--part", metavar="N/M", help="every M-th file alone, from the N-th on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier and run the slow tests first: short files keep all workers busy until the end."""
    for item in items:
        item.add_marker(tier_of(item.path))
    items.sort(key=lambda item: tier_of(item.path) in QUICK)
    if part := config.getoption("--part"):
        number, count = map(int, part.split("/"))
        chosen = sorted({item.path for item in items})[number - 1 :: count]
        config.hook.pytest_deselected(items=[item for item in items if item.path not in chosen])
        items[:] = [item for item in items if item.path in chosen]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Read a file with the profile of its tests, because ``@settings`` takes its defaults from there."""
    _load_profile(collector)


def pytest_runtest_setup(item: pytest.Item) -> None:
    _load_profile(item)


def _load_profile(node: pytest.Collector | pytest.Item) -> None:
    """Unit tests try fewer generated examples, unless the command line names a profile."""
    if not node.config.getoption("--hypothesis-profile"):
        below = node.path.relative_to(TESTS).parts if node.path.is_relative_to(TESTS) else ()
        settings.load_profile("quick" if below and TIERS.get(below[0]) == "unit" else "lab")


def pytest_collection_finish() -> None:
    """Freeze what was imported: it stays until the end, and the garbage collector need not look at it."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _passwords_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password that one test takes from the environment is not there for the next test."""
    monkeypatch.setattr(lab.hosts.passwords, "_taken", {})


@pytest.fixture(autouse=True)
def _register_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each test has a register of its own: it neither changes the developer's nor sees runs that others left open."""
    place = tmp_path_factory.getbasetemp() / f"state-{secrets.token_hex(8)}"
    monkeypatch.setenv("XDG_STATE_HOME", str(place))


@pytest.fixture
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from support.memory_host import lab_signals

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(state, "RUN", tmp_path / "no-local-lab")
    with lab_signals():
        yield


@pytest.fixture
def empty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports with empty figures: drawing takes most of the time, and few tests look at figures."""
    from matplotlib.figure import Figure

    from lab.report import figures
    from lab.report.figures import compared_runs

    for drawn in (figures, compared_runs):
        monkeypatch.setattr(drawn, "ALL", dict.fromkeys(drawn.ALL, lambda run: Figure((1, 1))))


@pytest.fixture(scope="session")
def root() -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("the local lab needs Linux and root: `sudo make test`")


@contextmanager
def making_benches(paths: pytest.TempPathFactory) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(*options: str, ceilings: bool = False) -> Bench:
        bench = Bench(f"{LABS}-{secrets.token_hex(3)}", paths.mktemp("bench"))
        made.append(bench)
        bench.up(*options, ceilings=ceilings)
        return bench

    yield make
    down = [bench.lab("local", "down", "--name", bench.name) for bench in made]
    assert [done.stderr for done in down if done.returncode != 0] == []


@pytest.fixture(scope="module")
def new_bench(root: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Bench]]:
    """Makes local labs with options; each is taken down with its module at the latest."""
    with making_benches(tmp_path_factory) as make:
        yield make


@pytest.fixture(scope="session")
def shared_bench(root: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One local lab for all tests that leave it unchanged."""
    with making_benches(tmp_path_factory) as make:
        yield make()


@pytest.fixture
def bench(shared_bench: Bench) -> Iterator[Bench]:
    """The shared lab without results; both hosts must be unchanged afterwards."""
    shutil.rmtree(shared_bench.directory / "results", ignore_errors=True)
    before = shared_bench.state()
    yield shared_bench
    after = shared_bench.state()
    if after != before:
        shared_bench.lab("restore")  # so that the next test does not fail, too
    changes = {host: [*unified_diff(before[host], after[host], lineterm="", n=0)] for host in before}
    assert not any(changes.values()), changes
