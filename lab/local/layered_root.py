"""Running a script in a root made of folders, in namespaces that end with this process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

from lab.local import syscalls

SCRIPT = Path(__file__).with_name("layered_root.sh")
NAMESPACES = ("--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL")


def run(
    layers: Sequence[Path], script: str, deadline_s: float, work: str = "", output: int | IO[str] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run a shell script in a root of these layers, uppermost first, which are only read; its exit code and output.

    ``work`` is a folder that it can write, as /tmp; ``output`` is where its output and its errors go.
    Raises subprocess.TimeoutExpired at the deadline, with every process of it ended.
    """
    command = ["unshare", *NAMESPACES, "--", "/bin/sh", str(SCRIPT), ":".join(map(str, layers)), script, work]
    return subprocess.run(  # noqa: S603 – a script of the local lab's own
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=deadline_s,
        preexec_fn=partial(syscalls.die_with_parent, os.getpid()),
    )  # fmt: skip
