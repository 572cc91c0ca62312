"""Whether guests boot on this machine: one is booted, for /dev/kvm alone proves nothing.

The answer holds until the machine boots again.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.local import layered_root
from lab.local.subprocesses import last_lines

SCRIPT = "echo guest''booted"  # when process 1 has ended the kernel panics, which ends the guest
BOOTED = "guestbooted"  # not as SCRIPT spells it, for the kernel prints its command line
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def find_problem(answer: Path, layers: Sequence[Path], start: str, deadline_s: float) -> str:
    """Why ``start``, a shell script run in a root made of ``layers``, boots no guest; empty where it does.

    ``answer`` is the file that keeps the result; where it is missing a guest is booted again.
    """
    boot = BOOT_ID.read_text().strip()
    result: dict[str, str] = json.loads(answer.read_text()) if answer.exists() else {}
    if result.get("boot") != boot:
        result = {"boot": boot, "problem": _boot(layers, start, deadline_s)}
        part = answer.with_name(f"{answer.name}.{os.getpid()}")
        part.write_text(json.dumps(result))
        part.rename(answer)
    return result["problem"]


def _boot(layers: Sequence[Path], start: str, deadline_s: float) -> str:
    deadline = ""
    try:
        output = layered_root.run(layers, start, deadline_s).stdout
    except subprocess.TimeoutExpired as error:
        output, deadline = error.stdout or b"", f" in {deadline_s:.0f} s"
    text = output.decode(errors="replace")
    return "" if BOOTED in text else f"a guest did not boot{deadline}: {last_lines(text)}"
