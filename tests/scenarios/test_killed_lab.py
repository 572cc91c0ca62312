"""What a lab leaves on this machine that was killed is ended, and what a living one runs is not."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.sshd import gone, wait_for

from lab.hosts.host_config import HostConfig
from lab.hosts.processes import END_ORPHANS, ENDING
from lab.hosts.ssh import SshHost

# a lab of its own, of which one command runs on and on; it says that command's pid
LAB = """
import sys
from lab.hosts.ssh import SshHost
from lab.hosts.host_config import HostConfig
host = SshHost("client", HostConfig(transport="local", sudo="none", data_address="192.0.2.1"))
host.shell('echo $$ > "$1.new"; mv "$1.new" "$1"; while :; do sleep 1; done', sys.argv[1], deadline_s=300)
"""


@contextmanager
def other_lab(file: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A lab beside this one, and the pid of its command on this machine, which ends with the test."""
    with subprocess.Popen([sys.executable, "-c", LAB, str(file)]) as process:
        try:
            wait_for(lambda: file.exists() or process.poll() is not None)
            yield process, file.read_text().strip()
        finally:
            process.kill()
            with suppress(OSError, ValueError):
                os.killpg(os.getpgid(int(file.read_text())), signal.SIGKILL)


def test_what_a_killed_lab_left_is_ended_and_what_a_living_one_runs_is_not(tmp_path: Path) -> None:
    host = SshHost("client", HostConfig(transport="local", sudo="none", data_address="192.0.2.1"))
    with other_lab(tmp_path / "killed") as (killed, lost), other_lab(tmp_path / "living") as (_, kept):
        host.shell(ENDING + END_ORPHANS + "end_orphans", deadline_s=60)
        assert not _has_ended(lost)
        killed.kill()
        killed.wait()
        host.shell(ENDING + END_ORPHANS + "end_orphans", deadline_s=60)
        assert gone(lost)
        assert not _has_ended(kept)


def _has_ended(pid: str) -> bool:
    return not Path(f"/proc/{pid}").exists()
