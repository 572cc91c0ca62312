"""Waits for the moment of a run at which a test strikes."""

import re
import subprocess
import time

from faults.observe import Observer, processes

LOOK_EVERY_S = 0.05  # to look takes some milliseconds, which the run lacks


def wait_for_process(lab: str, host: str, pattern: str, run: subprocess.Popen[str]) -> None:
    """Wait until a process runs on a host of a local lab whose words hold ``pattern``, while the run goes on."""
    init = Observer(lab).init(host)
    while not any(re.search(pattern, process.command) for process in processes(init).values()):
        assert run.poll() is None, run.communicate()
        time.sleep(LOOK_EVERY_S)
