"""A password of all the signs that programs encode, and a lab whose account has it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.local import state
from support.local_lab import HOSTS, Bench
from support.secret_watch import KEPT, Watch

SECRET = "p%40 ss/w:o'r\"d\\$x,é;#&+<"


@pytest.fixture
def keeper(new_bench: Callable[..., Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A lab whose account has that password, on both hosts; its hosts file names a file that holds it."""
    bench = new_bench()
    temporary = bench.directory.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    for host in HOSTS:
        lab = state.load(bench.name)
        assert lab is not None
        enter = ["nsenter", "--target", str(lab.hosts[host].pid), "--all", "--", "chpasswd"]
        subprocess.run(enter, input=f"lab:{SECRET}\n".encode(), check=True)
    (tmp_path / "password").touch(0o600)
    (tmp_path / "password").write_text(SECRET)
    return bench


def watch(bench: Bench) -> Watch:
    lab = state.load(bench.name)
    assert lab is not None
    return Watch(SECRET, {host: Path(f"/proc/{lab.hosts[host].pid}/root") for host in HOSTS})


def assert_nowhere(bench: Bench, seen: Watch, since: float) -> None:
    assert seen.rounds > 10
    assert seen.processes == set()
    assert seen.files == set()
    left = [path for root in seen.roots.values() for name in KEPT for path in seen.found_below(root / name, since)]
    left += seen.found_below(bench.directory, since)
    left += seen.found_below(bench.directory.parent / "temporary", since)
    assert left == []
