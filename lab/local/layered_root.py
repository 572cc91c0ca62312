"""Scripts in a root made of folders, in namespaces that end with this process; one of them tests that guests boot."""

import json
import os
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO

from lab.local import syscalls
from lab.local.subprocesses import last_lines

SCRIPT = Path(__file__).with_name("layered_root.sh")
BOOT_TEST = "echo guest''booted"  # when process 1 has ended the kernel panics, which ends the guest
BOOTED = "guestbooted"  # spelt differently in BOOT_TEST, because the kernel prints its command line
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
NAMESPACES = ("--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL")


def run(
    layers: Sequence[Path], script: str, deadline_s: float, work: str = "", output: int | IO[str] = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """Run a shell script in a read-only root of these layers, uppermost first.

    ``work`` is a folder that the script can write as /tmp; ``output`` gets its output and its errors. At the deadline
    every process of the script is ended, and subprocess.TimeoutExpired is raised.
    """
    command = ["unshare", *NAMESPACES, "--", "/bin/sh", str(SCRIPT), ":".join(map(str, layers)), script, work]
    return subprocess.run(  # noqa: S603 – a script of the local lab's own
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False, timeout=deadline_s,
        preexec_fn=partial(syscalls.die_with_parent, os.getpid()),
    )  # fmt: skip


def find_problem(answer: Path, layers: Sequence[Path], start: str, deadline_s: float) -> str:
    """Why the shell script ``start``, run in a root made of ``layers``, boots no guest; empty if it does.

    A guest is really booted, because /dev/kvm alone proves nothing. The file ``answer`` keeps the result until this
    machine boots again.
    """
    boot = BOOT_ID.read_text().strip()
    result: dict[str, str] = json.loads(answer.read_text()) if answer.exists() else {}
    if result.get("boot") != boot:
        deadline = ""
        try:
            output = run(layers, start, deadline_s).stdout
        except subprocess.TimeoutExpired as error:
            output, deadline = error.stdout or b"", f" in {deadline_s:.0f} s"
        text = output.decode(errors="replace")
        problem = "" if BOOTED in text else f"a guest did not boot{deadline}: {last_lines(text)}"
        result = {"boot": boot, "problem": problem}
        part = answer.with_name(f"{answer.name}.{os.getpid()}")
        part.write_text(json.dumps(result))
        part.rename(answer)
    return result["problem"]
