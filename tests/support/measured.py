"""A client and a server that somebody else set up, and an ordinary user of the client who measures."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.inside_host import PYTHON, Account, MacAccount, bring_python
from support.local_lab import Bench
from support.paths import TESTS

SUPPORT = TESTS / "support"
SERVER = "10.99.0.2"
# What a measurement may leave on the client: files, processes and mounts of the user
CLIENT_STATE = """
find /dev/shm /home/ann/.local/file-share-lab -mindepth 1 2>/dev/null | sort
grep -e /home/ann -e /dev/shm/ /proc/self/mounts
ps -u ann -o args= | sort; cat /sys/class/net/eth0/mtu
"""
SERVER_STATE = "find /mnt /dev/shm | sort"
# A person's own GVfs session, as a desktop starts it; the URI of a share, and the answers to what is asked
MOUNT = """
export XDG_RUNTIME_DIR=$HOME/run; mkdir -p -m 700 "$XDG_RUNTIME_DIR/gvfs"
[ -S "$XDG_RUNTIME_DIR/bus" ] || {
    dbus-daemon --session --fork --nopidfile --address="unix:path=$XDG_RUNTIME_DIR/bus"
    export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
    setsid /usr/libexec/gvfsd --no-fuse >/dev/null 2>&1 </dev/null &
    until gio list computer:/// >/dev/null 2>&1; do sleep 0.1; done
    setsid /usr/libexec/gvfsd-fuse "$XDG_RUNTIME_DIR/gvfs" -f >/dev/null 2>&1 </dev/null &
    until grep -q "$XDG_RUNTIME_DIR/gvfs" /proc/self/mounts; do sleep 0.1; done
}
export DBUS_SESSION_BUS_ADDRESS="unix:path=$XDG_RUNTIME_DIR/bus"
printf '%s' "$2" | timeout 30 gio mount "$1" >/dev/null
path=$(gio info "$1" | sed -n 's/^local path: //p')
until [ -d "$path" ]; do sleep 0.1; done; echo "$path"
"""


@dataclass(frozen=True)
class Measured:
    """The bench, its user ``ann``, and the password of the account ``lab`` of the server's shares."""

    bench: Bench
    ann: Account
    password: str

    def url(self, protocol: str, share: str = "labram") -> str:
        """A share's URL as a person writes it."""
        return f"nfs://{SERVER}/mnt/share" if protocol == "nfs" else f"{protocol}://lab@{SERVER}/{share}"

    def measure(self, *words: str, seconds: int = 10, **environment: str) -> subprocess.CompletedProcess[str]:
        """Measure as ann, in a folder with no other results."""
        self.ann.shell("rm -rf results")
        return self.ann.lab(*self.options(*words, seconds=seconds), **({"SECRET": self.password} | environment))

    @staticmethod
    def options(*words: str, seconds: int) -> list[str]:
        return ["measure", *words, "--password", "env:SECRET", "--time", f"{seconds}s"]

    @contextmanager
    def started(self, *words: str, seconds: int = 60) -> Iterator[Running]:
        """A measurement that a test breaks in on; ended at the end, where the test did not."""
        self.ann.shell("rm -rf results")
        command = ["setsid", "--wait", PYTHON, "-m", "lab", *self.options(*words, seconds=seconds)]
        with subprocess.Popen(
            self.ann.words(*command, SECRET=self.password), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            try:
                yield Running(self, process)
            finally:
                process.kill()

    def log(self) -> str:
        """The commands of the newest run, and its trials; nothing where there is none yet."""
        return self.ann.shell("cat results/*/commands.log results/*/trials.jsonl 2>/dev/null; :")

    def trials(self) -> list[dict[str, Any]]:
        """The trials of the newest run."""
        return [json.loads(line) for line in self.ann.shell("cat results/*/trials.jsonl").splitlines()]

    def state(self) -> dict[str, list[str]]:
        """What a measurement must leave as it was."""
        looks = {"client": CLIENT_STATE, "server": SERVER_STATE}
        return {host: self.bench.inside(host, look).splitlines() for host, look in looks.items()}

    @contextmanager
    def left_as_found(self) -> Iterator[Measured]:
        """Nothing of a measurement is anywhere afterwards, and the own file of the share's owner is as it was."""
        before = self.state()
        yield self
        after = self.state()
        changes = {host: sorted(set(before[host]) ^ set(after[host])) for host in before}
        assert not any(changes.values()), changes
        assert self.on_server("cat /mnt/share/mine") == "mine\n"

    def on_server(self, script: str) -> str:
        """What a shell script prints there, as root."""
        return self.bench.inside("server", script)

    def mount(self, uri: str, answers: str = "") -> str:
        """Mount a share as ann's desktop does; its folder."""
        return self.ann.shell(f"set -- '{uri}' '{answers}'\n{MOUNT}").rstrip("\n")

    def end_session(self) -> None:
        """Log ann out: all that she runs, and her mounts."""
        self.bench.inside("client", "pkill -KILL -u ann; umount -l /home/ann/run/gvfs; rm -rf /home/ann/run; :")


@dataclass(frozen=True)
class Running:
    """A measurement under way."""

    scene: Measured
    process: subprocess.Popen[str]

    def wait_for(self, text: str, seconds: float = 120) -> None:
        """Wait until the log of commands, or a trial, holds ``text``."""
        deadline = time.monotonic() + seconds
        while text not in self.scene.log():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, f"{text!r} did not come"
            time.sleep(0.05)

    def wait_for_process(self, pattern: str) -> None:
        """Wait until ann runs a command that a regular expression fits."""
        assert self.sees_process(pattern), self.process.communicate()

    def sees_process(self, pattern: str, seconds: float = 120) -> bool:
        """The same; false where the measurement ended before one was seen."""
        deadline = time.monotonic() + seconds
        while self.scene.bench.execute("client", "pgrep", "-u", "ann", "-f", "--", pattern).returncode != 0:
            if self.process.poll() is not None:
                return False
            assert time.monotonic() < deadline, f"{pattern!r} did not run"
            time.sleep(0.02)
        return True

    def strike(self, signal: str) -> None:
        """Send a signal to the foreground processes of ann's terminal, as Ctrl-C does."""
        self.scene.bench.inside("client", f"kill -s {signal} -- -$(pgrep -o -u ann -f '^{PYTHON} -m lab measure')")

    def end(self) -> tuple[int, str]:
        """Exit code, and all that it printed."""
        output, _ = self.process.communicate(timeout=300)
        return self.process.returncode, output


def arrange(new_bench: Callable[..., Bench], *options: str) -> Measured:
    """A local lab with these servers, and ann, who has the lab; on a Mac it is the account there."""
    bench = new_bench(*options)
    bring_python(bench, "client")
    ann = (
        MacAccount(bench, "client", "lab")
        if any("macos@" in word for word in options)
        else Account(bench, "client", "ann")
    )
    ann.create()
    key = next(line for line in bench.hosts.read_text().splitlines() if "file:" in line)
    password = Path(key.partition("file:")[2]).read_text().strip()
    done = bench.execute("server", "sh", "-c", (SUPPORT / "linux_servers.sh").read_text(), "sh", password)
    assert done.returncode == 0, done.stdout + done.stderr
    done = bench.execute("server", "sh", "-c", (SUPPORT / "more_shares.sh").read_text())
    assert done.returncode == 0, done.stdout + done.stderr
    bench.inside("server", "echo mine > /mnt/share/mine && chown lab /mnt/share/mine")
    return Measured(bench, ann, password)
