"""Programs that the lab tries or leaves behind are ended; those of a living lab are not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.sshd import gone
from support.waiting import wait_until

from lab.hosts.host_config import HostConfig
from lab.hosts.processes import END_ORPHANS, ENDING
from lab.hosts.ssh import SshHost
from lab.platforms.files import TRY

# a lab with a command that never ends; the command writes its pid into a file
LAB = """
import sys
from lab.hosts.ssh import SshHost
from lab.hosts.host_config import HostConfig
host = SshHost("client", HostConfig(transport="local", sudo="none", data_address="192.0.2.1"))
host.shell('echo $$ > "$1.new"; mv "$1.new" "$1"; while :; do sleep 1; done', sys.argv[1], deadline_s=300)
"""


@contextmanager
def other_lab(file: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Another lab on this machine, and the pid of its command; both end with the test."""
    with subprocess.Popen([sys.executable, "-c", LAB, str(file)]) as process:
        try:
            wait_until(lambda: file.exists() or process.poll() is not None)
            yield process, file.read_text().strip()
        finally:
            process.kill()
            with suppress(OSError, ValueError):
                os.killpg(os.getpgid(int(file.read_text())), signal.SIGKILL)


def test_what_a_killed_lab_left_is_ended_and_what_a_living_one_runs_is_not(tmp_path: Path) -> None:
    host = SshHost("client", HostConfig(transport="local", sudo="none", data_address="192.0.2.1"))
    with other_lab(tmp_path / "killed") as (killed, lost), other_lab(tmp_path / "living") as (_, kept):
        host.shell(ENDING + END_ORPHANS + "end_orphans", deadline_s=60)
        assert Path("/proc", lost).exists()
        killed.kill()
        killed.wait()
        host.shell(ENDING + END_ORPHANS + "end_orphans", deadline_s=60)
        assert gone(lost)
        assert Path("/proc", kept).exists()


PROGRAMS = {
    "good": "echo; echo good 1.2",
    "hanging": "echo begun; sleep 612614",
    "deaf": 'trap "" TERM PIPE; while :; do sleep 612614; done',
    "endless": "while :; do echo nonsense; done",
    "quiet": "exit 3",
}


def test_each_ends_or_is_ended_and_its_first_line_is_told(tmp_path: Path) -> None:
    """Two shells try the programs at the same time."""
    for name, script in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    words = [word for name in [*PROGRAMS, "missing"] for word in (str(tmp_path / name), "--version", "")]
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    begun = time.monotonic()
    trying = {
        shell: subprocess.Popen(
            [shell, "-c", TRY, "sh", "1", *words], stdout=subprocess.PIPE, text=True, env=environment
        )
        for shell in ("sh", "bash")
    }
    for shell, process in trying.items():
        lines = process.communicate(timeout=120)[0].splitlines()
        states = [line.partition(" ")[0] for line in lines[:5]]
        assert states == ["ended", "hangs", "hangs", "ended", "ended"], shell
        assert [lines[0], lines[3], lines[4]] == ["ended good 1.2", "ended nonsense", "ended "], shell
        assert "not found" in lines[5] or "No such file" in lines[5], shell
    assert time.monotonic() - begun < 60
    assert not list(tmp_path.glob("file-share-lab.*"))
    left = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in left if b"612614" in line]
