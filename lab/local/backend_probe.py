"""Whether guests really boot on this machine: found out by booting one, for /dev/kvm alone proves nothing.

The answer holds until the machine boots again.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lab.local import syscalls
from lab.local.subprocesses import last_words

SCRIPT = "echo guest''booted"  # then process 1 ends, so the kernel panics, and so the guest ends
BOOTED = "guestbooted"  # what it prints: unlike the kernel, which prints its command line as it stands
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
AROUND = Path(__file__).with_name("backend_probe.sh")


def problem(answer: Path, layers: Sequence[Path], start: str, deadline_s: float) -> str:
    """Why ``start``, a shell script run in a root made of ``layers``, boots no guest; empty where it does.

    ``answer`` is the file that keeps it; without it the question is put again.
    """
    boot = BOOT_ID.read_text().strip()
    known = json.loads(answer.read_text()) if answer.exists() else {}
    if known.get("boot") != boot:
        known = {"boot": boot, "problem": _boot(layers, start, deadline_s)}
        part = answer.with_name(f"{answer.name}.{os.getpid()}")
        part.write_text(json.dumps(known))
        part.rename(answer)
    return str(known["problem"])


def _boot(layers: Sequence[Path], start: str, deadline_s: float) -> str:
    namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child=SIGKILL"]
    command = ["unshare", *namespaces, "--", "/bin/sh", str(AROUND), ":".join(map(str, layers)), start]
    how_long = ""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            timeout=deadline_s, preexec_fn=partial(syscalls.die_with_parent, os.getpid()),
        )  # fmt: skip
        said = done.stdout
    except subprocess.TimeoutExpired as error:
        said, how_long = error.stdout or b"", f" in {deadline_s:.0f} s"
    text = said.decode(errors="replace")
    return "" if BOOTED in text else f"a guest did not boot{how_long}: {last_words(text)}"
