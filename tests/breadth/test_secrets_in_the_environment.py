"""A sudo password that comes from the environment."""

import os
import subprocess
import time

from support.account_of_signs import SECRET, assert_nowhere, watch
from support.local_lab import HOSTS, Bench
from support.secret_watch import forms, watching


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
