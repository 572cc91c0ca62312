"""Passwords from the environment and from GNOME's keyring: no program, file or output holds one."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import HOSTS, Bench
from support.secret_watch import SECRET, assert_nowhere, forms, watch, watching

from lab.base.present import present


def test_no_program_inherits_a_sudo_password_of_the_environment(keeper: Bench) -> None:
    since, seen = time.time(), watch(keeper)
    user = {"user": "lab", "sudo": "password", "sudo_password": "env:SECRET_OF_A_TEST"}
    keys = {f"{role}_{key}": value for role in HOSTS for key, value in user.items()}
    hosts = keeper.changed_hosts(**keys, share_password="env:SECRET_OF_A_TEST")
    command = keeper.command("run", "--hosts", str(hosts), str(keeper.sweep(protocol=["smb"], tool=["cp"])))
    environment = os.environ | keeper.environment | {"SECRET_OF_A_TEST": SECRET}
    with watching(seen):
        done = subprocess.run(command, cwd=keeper.directory, env=environment, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "sudo" in seen.names
    assert not [form for form in forms(SECRET) if form in done.stdout + done.stderr]
    # the kernel shows a program's first environment to the program's own user
    assert len({name for name in seen.processes if name.startswith("environ of")}) <= 1
    seen.processes = {name for name in seen.processes if not name.startswith("environ of")}
    assert_nowhere(keeper, seen, since)


PROGRAMS = ("dbus-run-session", "gnome-keyring-daemon")
# $1 this Python. Standard input is the password, a line. Prints where the session listens; lasts until the input ends
SESSION = """
printf unlock | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null &&
read -r password && printf %s "$password" | "$1" -m keyring set file-share-lab lab &&
echo "$DBUS_SESSION_BUS_ADDRESS" && exec cat
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[str]:
    """The address of a session whose keyring holds the password."""
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    environment = os.environ | folders | {"XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["dbus-run-session", "--", "sh", "-c", SESSION, "sh", sys.executable]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, encoding="utf-8", **pipes) as process:
        given = present(process.stdin)
        given.write(f"{SECRET}\n")
        given.flush()
        yield present(process.stdout).readline().strip()
        given.close()


def test_one_of_the_keyring_is_in_no_words_and_no_file_of_a_whole_sweep(keeper: Bench, session: str) -> None:
    keeper.environment["DBUS_SESSION_BUS_ADDRESS"] = session
    since, seen = time.time(), watch(keeper)
    hosts = keeper.changed_hosts(share_password="keyring:file-share-lab")
    with watching(seen):
        done = keeper.run(hosts=hosts, protocol=["afp", "smb", "nfs", "ssh"], tool=["rsync"], size="1 MiB")
    assert done.returncode == 0, done.stdout + done.stderr + str([trial["reason"] for trial in keeper.trials()])
    assert {"gio", "smbpasswd"} <= seen.names
    assert not [form for form in forms(SECRET) if form in (done.stdout + done.stderr).encode()]
    assert_nowhere(keeper, seen, since)
