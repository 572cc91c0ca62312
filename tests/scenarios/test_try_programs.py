"""Trying programs of a host: which do nothing, and which never end; none of them is waited for."""

import subprocess
import time
from pathlib import Path

from lab.platforms.programs import TRY

PROGRAMS = {
    "good": "echo; echo good 1.2",
    "hanging": "echo begun; sleep 612614",
    "deaf": 'trap "" TERM PIPE; while :; do sleep 612614; done',
    "endless": "while :; do echo nonsense; done",
    "quiet": "exit 3",
}


def test_each_ends_or_is_ended_and_its_first_line_is_told(tmp_path: Path) -> None:
    """By either shell, which try them at the same time."""
    for name, script in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    words = [word for name in [*PROGRAMS, "missing"] for word in (str(tmp_path / name), "--version", "")]
    begun = time.monotonic()
    trying = {
        shell: subprocess.Popen(
            [shell, "-c", TRY, "sh", "1", *words], stdout=subprocess.PIPE, text=True,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        )
        for shell in ("sh", "bash")
    }  # fmt: skip
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
