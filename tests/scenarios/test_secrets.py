"""A password of all the signs that programs encode, looked for everywhere while a sweep runs, and after it."""

import time
from pathlib import Path
from typing import Any

from support.account_of_signs import SECRET, assert_nowhere, watch
from support.local_lab import Bench
from support.secret_watch import forms, watching


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
