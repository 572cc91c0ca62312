"""What holds for every test: its tier, which follows from its folder, and the hosts that it may ask for."""

import gc
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, settings
from support.local_lab import Bench
from support.paths import ROOT, TESTS

import lab.hosts.passwords
from lab.local import lifecycle, state

# tests that others import; pytest rewrites the asserts of the files alone that it collects
pytest.register_assert_rewrite("unit", "scenarios", "breadth")
# the marker of a test by the folder of `tests` that it is in; docs/contributing/tests.md says what each is for
TIERS = {
    "unit": "unit", "examples": "unit", "fuzz": "generated", "scenarios": "scenario", "breadth": "breadth",
    "release": "release",
}  # fmt: skip
QUICK = ("unit", "generated")
# what a test makes is soon free again: to look for cycles in it every 700 objects takes a tenth of the time
gc.set_threshold(20_000, 10, 10)
# begins the name of every local lab of this test run: workers of pytest-xdist inherit it from their controller
NAME_OF_LABS = "LABS_OF_THIS_TEST_RUN"
LABS = os.environ.setdefault(NAME_OF_LABS, f"test-{os.getpid()}")
# a machine that is slow, or busy with something else, fails no test
# the same examples in every run: what nobody has seen yet is looked for by `make fuzz`
settings.register_profile(
    "lab", parent=settings(), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", parent=settings.get_profile("lab"), max_examples=10)
settings.register_profile(  # of `make fuzz`
    "fuzz", parent=settings.get_profile("lab"), max_examples=2000, derandomize=False, print_blob=True
)
settings.load_profile("lab")


def tier_of(path: Path) -> str:
    """The tier of a file of tests, by the folder of ``tests`` that it is in."""
    return TIERS[path.relative_to(TESTS).parts[0]]


def pytest_configure(config: pytest.Config) -> None:
    """A test run that is told to end, as by timeout(1), has its workers put away what their tests made first."""

    def end(*_: object) -> None:
        if config.getoption("numprocesses", None):
            for worker in psutil.Process().children():
                worker.terminate()
        pytest.exit("told to end", 143)

    signal.signal(signal.SIGTERM, end)


def pytest_unconfigure() -> None:
    """Take down what labs the workers left, and end what they ran: pytest-xdist kills those that need 10 s to end."""
    if f"test-{os.getpid()}" == LABS:
        for path in state.RUN.glob(f"{LABS}-*"):
            lifecycle.down(path.name)
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(NAME_OF_LABS) == LABS and process.pid != os.getpid():
                    process.kill()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the first try of a test said that had a second one: that it passed then does not explain it."""
    for tried in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {tried.nodeid}")
        terminalreporter.line(tried.longreprtext)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part 2/4``: what one of four landings runs of the tests that are too many for each."""
    parser.addoption("--part", metavar="N/M", help="every M-th file alone, from the N-th on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test with its tier, and begin with the slow ones: short files keep all workers busy until the end."""
    for item in items:
        item.add_marker(tier_of(item.path))
    items.sort(key=lambda item: tier_of(item.path) in QUICK)
    if part := config.getoption("--part"):
        number, count = map(int, part.split("/"))
        chosen = sorted({item.path for item in items})[number - 1 :: count]
        config.hook.pytest_deselected(items=[item for item in items if item.path not in chosen])
        items[:] = [item for item in items if item.path in chosen]


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Read a file of tests with the profile that its tests run with: ``@settings`` takes what it leaves out from it."""
    _load_profile(collector)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run each test with the profile of its tier."""
    _load_profile(item)


def _load_profile(node: pytest.Collector | pytest.Item) -> None:
    """Try fewer generated examples in the unit tests, unless this test run was given a profile."""
    if not node.config.getoption("--hypothesis-profile"):
        below = node.path.relative_to(TESTS).parts if node.path.is_relative_to(TESTS) else ()
        settings.load_profile("quick" if below and TIERS.get(below[0]) == "unit" else "lab")


def pytest_collection_finish() -> None:
    """What was imported stays until the end: the garbage collector need not look at it again and again."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _passwords_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test takes out of the environment is not there for the next."""
    monkeypatch.setattr(lab.hosts.passwords, "_taken", {})


@pytest.fixture(autouse=True)
def _register_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test has a hand in the register of who runs it, and none sees the runs that another left open."""
    place = tmp_path_factory.getbasetemp() / f"state-{secrets.token_hex(8)}"
    monkeypatch.setenv("XDG_STATE_HOME", str(place))


@pytest.fixture
def empty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures without content in a report: to draw them takes most of its time, and not every test looks at them."""
    from matplotlib.figure import Figure

    from lab.report import figures
    from lab.report.figures import compared_runs

    for drawn in (figures, compared_runs):
        monkeypatch.setattr(drawn, "ALL", dict.fromkeys(drawn.ALL, lambda run: Figure((1, 1))))


@pytest.fixture(scope="session")
def root() -> None:
    """For tests that make namespaces and mounts on this machine."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("the local lab needs Linux and root: `sudo make test`")


@contextmanager
def making_benches(paths: pytest.TempPathFactory) -> Iterator[Callable[..., Bench]]:
    """Makes local labs with options of their own; each is taken down in the end."""
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
    """Makes local labs with options of their own; each is taken down with its module at the latest."""
    with making_benches(tmp_path_factory) as make:
        yield make


@pytest.fixture(scope="session")
def shared_bench(root: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One local lab for all tests that leave it as they found it."""
    with making_benches(tmp_path_factory) as make:
        yield make()


@pytest.fixture
def bench(shared_bench: Bench) -> Iterator[Bench]:
    """The shared lab, with no results yet; both hosts must be afterwards as they were before."""
    shutil.rmtree(shared_bench.directory / "results", ignore_errors=True)
    before = shared_bench.state()
    yield shared_bench
    after = shared_bench.state()
    if after != before:
        shared_bench.lab("restore")  # so that one failure stays one
    assert {host: sorted(set(before[host]) ^ set(after[host])) for host in before} == {host: [] for host in before}


@pytest.fixture(scope="session")
def executed() -> Callable[[Path, Path], None]:
    """Executes the notebook on a run, as `make demo` does."""

    def execute(run: Path, target: Path) -> None:
        command = [sys.executable, "-m", "lab", "notebook", "explore", str(run), "--no-redact"]
        subprocess.run([*command, "--export", str(target / "explore.html")], check=True, cwd=ROOT, timeout=300)

    return execute
