"""A share's password that the keyring has: that of GNOME, in a session and a folder of the test's own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.account_of_signs import SECRET, assert_nowhere, watch
from support.local_lab import Bench
from support.secret_watch import forms, watching

PROGRAMS = ("dbus-run-session", "gnome-keyring-daemon")
# $1 this Python. Standard input is the password, a line. Prints where the session listens; lasts until the input ends
SESSION = """
printf unlock | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null &&
read -r password && printf %s "$password" | "$1" -m keyring set file-share-lab lab &&
echo "$DBUS_SESSION_BUS_ADDRESS" && exec cat
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[str]:
    """The address of a session whose keyring has the password."""
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    environment = os.environ | folders | {"XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["dbus-run-session", "--", "sh", "-c", SESSION, "sh", sys.executable]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{SECRET}\n")
        process.stdin.flush()
        yield process.stdout.readline().strip()
        process.stdin.close()


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
