"""A server that nobody logs in to: trees, mounts of others, and a share that vanishes."""

from typing import Any

import pytest
from scenarios import test_unseen_server as unseen_server
from support.again import again
from support.local_lab import Bench
from support.other_servers import LARGE, RESTART_SAMBA, SHARE, unseen_hosts, wait_until_under_way

test_an_unseen_server_of_nfs = again(
    unseen_server.test_an_unseen_server_is_measured_through_a_mount_of_the_lab,
    "protocol, share",
    ("nfs", {"path": SHARE}),
)
test_a_foreign_mount_after_a_kill = again(unseen_server.test_restore_after_a_kill_leaves_nothing, "mounted", True)


@pytest.mark.parametrize(("protocol", "share"), [("smb", {"name": "labram"}), ("nfs", {"path": SHARE})])
def test_a_tree_and_its_names_are_measured_through_a_mount(unseen: Bench, protocol: str, share: dict[str, str]) -> None:
    factors: dict[str, Any] = {"tool": ["cp", "rsync", "metadata"], "store": ["disk"], "client_sync": ["close"]}
    factors["metadata.phase"] = ["create", "stat", "list", "rename", "delete"]
    mail = {"kind": "tree", "profile": "mail", "size": "2 MiB"}
    trials = unseen.measure(hosts=unseen_hosts(unseen, **share), protocol=[protocol], workload=mail, **factors)
    assert len(trials) == 2 * 2 + 5
    assert {(trial["status"], trial["verified"]) for trial in trials} == {("ok", True)}
    assert {trial["files"] for trial in trials} == {trials[0]["files"]}
    assert trials[0]["files"] > 100


def test_a_share_that_vanishes_in_the_middle_fails_its_trials_and_the_folder_that_stays_is_named(unseen: Bench) -> None:
    hosts = unseen_hosts(unseen, name="labram")
    with unseen.started_run(hosts=hosts, **LARGE) as run:
        wait_until_under_way(unseen, run)
        unseen.inside("server", "pkill smbd")
        output, _ = run.communicate(timeout=400)
    (left,) = unseen.inside("server", f"ls -A {SHARE}").splitlines()
    unseen.inside("server", f"rm -r {SHARE}/{left}")
    unseen.inside("server", RESTART_SAMBA)
    assert run.returncode == 1
    assert f"warning: the folder {left} stays in the share, which is out of reach" in output
    assert "Traceback" not in output
    (trial,) = unseen.trials()
    assert trial["status"] == "failed"
    assert trial["reason"].startswith("client: ")
    unseen.check_output("restore")
