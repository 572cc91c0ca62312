"""A file system that is filled before its trial."""

import re
from typing import Any

from support.local_lab import Bench


def test_one_is_filled_before_its_trial_as_far_as_asked(bench: Bench) -> None:
    hosts = bench.changed_hosts(share_image_size="400 MiB")
    levels: dict[str, Any] = {"xfs.fill": [90]}
    done = bench.run(hosts=hosts, protocol=["smb"], tool=["cp"], direction=["write"], store=["xfs"], **levels)
    assert done.returncode == 0, done.stdout + done.stderr
    (trial,) = bench.trials()
    assert (trial["status"], trial["effective"]["xfs.fill"]) == ("ok", "90"), trial["reason"]
    filled = re.search(r"; filled to ([0-9.]+) %$", trial["effective"]["server_store"])
    assert filled
    assert abs(float(filled[1]) - 90) < 2
