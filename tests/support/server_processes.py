"""The processes of a server of the lab's, watched while a sweep runs."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

from lab.local import state
from support.local_lab import Bench

PROGRAM = {"nfs": "ganesha.nfsd", "smb": "smbd", "afp": "afpd"}


def running(bench: Bench, program: str) -> list[str]:
    """The processes of this name on the bench's server, as this machine numbers them."""
    lab = state.load(bench.name)
    assert lab is not None
    argv = ["pgrep", "--ns", str(lab.hosts["server"].pid), "--nslist", "pid", "-x", program]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()


def during_a_run(bench: Bench, program: str, look: Callable[[list[str]], Any], **factors: Any) -> Any:
    """What ``look`` returns, called with the server's processes as soon as there are any; the run must end well."""
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        while not (found := running(bench, program)):
            assert run.poll() is None, run.communicate()
            time.sleep(0.01)
        seen = look(found)
        output, _ = run.communicate(timeout=120)
    assert run.returncode == 0, output
    return seen
