"""A password of all the signs that programs encode, looked for everywhere while a sweep runs, and after it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import HOSTS, Bench
from support.secret_watch import KEPT, Watch, forms, watching

from lab.local import state

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


def test_it_is_in_no_words_and_no_file_of_a_whole_sweep(keeper: Bench, tmp_path: Path) -> None:
    since, seen = time.time(), watch(keeper)
    hosts = keeper.changed_hosts(share_password=f"file:{tmp_path / 'password'}")
    everything: dict[str, Any] = {"protocol": ["afp", "smb", "nfs", "ssh"], "tool": ["cp", "rsync"], "size": "1 MiB"}
    with watching(seen):
        done = keeper.run(hosts=hosts, **everything)
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in keeper.trials()])
    assert {"gio", "smbpasswd"} <= seen.names  # those that are given it were looked at while they had it
    assert not [form for form in forms(SECRET) if form in (done.stdout + done.stderr).encode()]
    assert_nowhere(keeper, seen, since)


def test_no_program_inherits_a_sudo_password_of_the_environment(keeper: Bench) -> None:
    since, seen = time.time(), watch(keeper)
    user = {"user": "lab", "sudo": "password", "sudo_password": "env:SECRET_OF_A_TEST"}
    keys = {f"{role}_{key}": value for role in HOSTS for key, value in user.items()}
    hosts = keeper.changed_hosts(**keys, share_password="env:SECRET_OF_A_TEST")
    command = keeper.command("run", "--hosts", str(hosts), str(keeper.sweep(protocol=["smb"], tool=["cp"])))
    environment = os.environ | keeper.environment | {"SECRET_OF_A_TEST": SECRET}
    with watching(seen):
        done = subprocess.run(
            command, cwd=keeper.directory, env=environment, capture_output=True, timeout=300, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "sudo" in seen.names
    assert not [form for form in forms(SECRET) if form in done.stdout + done.stderr]
    # the kernel goes on showing the environment that a program began with, to its own user
    assert len({name for name in seen.processes if name.startswith("environ of")}) <= 1
    seen.processes = {name for name in seen.processes if not name.startswith("environ of")}
    assert_nowhere(keeper, seen, since)
