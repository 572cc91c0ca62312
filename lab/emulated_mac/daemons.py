"""Programs of the Linux below that the emulated kernel runs in the background: servers, and clients of shares."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from .kernel import as_user, environment, linux


class Daemon:
    """A shell script and all that it starts, in a PID namespace: whatever it leaves behind goes with it."""

    def __init__(
        self,
        script: str,
        *args: str,
        log: Path,
        user: int = 0,
        more: Mapping[str, str] | None = None,
        descriptors: tuple[int, ...] = (),
        capability: str = "",
    ):
        own = ("unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--")
        argv = (*own, *as_user(user, capability), "tini", "-s", "--", "sh", "-c", script, "sh", *args)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                linux(*argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment() | dict(more or {}),
                pass_fds=descriptors,
            )

    def pid(self) -> int | None:
        """Its process id; None where it has ended."""
        return self._process.pid if self._process.poll() is None else None

    def stop(self) -> None:
        """End it and all that it started; returns when they are gone."""
        self._process.kill()
        self._process.wait()
