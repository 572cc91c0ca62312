"""Running programs of the Linux that an emulated Mac stands on: once, or as a daemon."""

import os
import pwd
import subprocess
from collections.abc import Mapping
from pathlib import Path

# Programs that need Linux's /proc, /etc or /usr get mounts of their own, which follow the Mac's. What they mount below
# /private/var/fuse everybody sees
IN_LINUX_MOUNTS = Path(__file__).with_name("in_linux_mounts.sh")


def linux_command(*argv: str, user: int = 0) -> tuple[str, ...]:
    """The command that runs ``argv`` with Linux's /proc, /etc and /usr."""
    enter = ("/linux/usr/bin/unshare", "--mount", "--propagation", "unchanged", "--", "/linux/usr/bin/sh")
    return (*enter, str(IN_LINUX_MOUNTS), *(as_user(user) if user else ()), *argv)


def as_user(user: int, capability: str = "") -> tuple[str, ...]:
    """The words before a command that run it as this user, in the user's groups, with one capability of Linux."""
    group = pwd.getpwuid(user).pw_gid
    capabilities = (f"--inh-caps=+{capability}", f"--ambient-caps=+{capability}") if capability else ()
    return ("/linux/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups", *capabilities, "--")


def environment() -> dict[str, str]:
    """The environment of such programs."""
    return {"PATH": "/linux/usr/sbin:/linux/usr/bin", "LC_ALL": "C.UTF-8", "HOME": "/private/var/root"} | {
        name: value for name, value in os.environ.items() if name == "TZ"
    }


class Daemon:
    """A shell script and all its processes, in a PID namespace: none of them outlives it."""

    def __init__(
        self,
        script: Path,
        *args: str,
        log: Path,
        user: int = 0,
        variables: Mapping[str, str] | None = None,
        descriptors: tuple[int, ...] = (),
        capability: str = "",
    ):
        """Start the script; it inherits the open files ``descriptors``."""
        in_namespace = ("unshare", "--pid", "--fork", "--kill-child=SIGKILL", "--")
        argv = (*in_namespace, *as_user(user, capability), "tini", "-s", "--", "sh", str(script), *args)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                linux_command(*argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment() | dict(variables or {}),
                pass_fds=descriptors,
            )

    def pid(self) -> int | None:
        """The process id, or None if it has ended."""
        return self._process.pid if self._process.poll() is None else None

    def stop(self) -> None:
        """End the script and all its processes; returns when they are gone."""
        self._process.kill()
        self._process.wait()
