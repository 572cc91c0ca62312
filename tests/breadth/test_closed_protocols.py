"""A Mac's SMB that knows no password of the account: NFS is measured without it, and what to do is said everywhere."""

import json
from collections.abc import Callable

from support.local_lab import Bench

REMEDY = "Windows File Sharing"


def test_one_protocol_is_left_out_and_the_others_run(new_bench: Callable[..., Bench]) -> None:
    macs = new_bench("--platform", "client=macos@15.5", "--platform", "server=macos@15.5")
    assert macs.lab("local", "fault", "--name", macs.name, "server", "smb-no-hash").returncode == 0
    alone = macs.run(protocol=["smb"])
    assert alone.returncode == 1
    assert REMEDY in alone.stderr
    assert macs.trials_if_any() == []
    done = macs.run(protocol=["smb", "nfs"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert {(trial["protocol"], trial["status"]) for trial in macs.trials()} == {("nfs", "ok")}
    run = json.loads((macs.newest() / "run.json").read_text())
    assert REMEDY in run["closed"]["smb"]
    assert done.stderr.count(REMEDY) == 2  # when it begins, and when it has ended
    assert "smb was left out: `lab show" in " ".join(macs.lab("show").stdout.split())
    assert REMEDY in macs.lab("show", "--full").stdout
