"""A client and a server that somebody else set up, and ``ann``, an ordinary user of the client, who measures."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import pytest

from support.inside_host import PYTHON, Account, bring_python
from support.local_lab import Bench, succeeded
from support.other_servers import password_of, serve
from support.paths import TESTS
from support.waiting import wait_until

MORE_SHARES = (TESTS / "support" / "more_shares.sh").read_text()
SERVER = "10.99.0.2"
# Files, processes and mounts of the user, which a measurement might leave
CLIENT_STATE = """
find /dev/shm /home/ann/.local/file-share-lab -mindepth 1 2>/dev/null | sort
grep -e /home/ann -e /dev/shm/ /proc/self/mounts
ps -u ann -o args= | sort; cat /sys/class/net/eth0/mtu
"""
SERVER_STATE = "find /mnt /dev/shm | sort"
# A GVfs session as a desktop starts it. $1 is the URI of a share, $2 answers questions
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
class Scene:
    """Servers that are not the lab's, their client's user ``ann``, and the password of the shares' account ``lab``."""

    bench: Bench
    ann: Account
    password: str

    def url(self, protocol: str, share: str = "labram") -> str:
        return f"nfs://{SERVER}/mnt/share" if protocol == "nfs" else f"{protocol}://lab@{SERVER}/{share}"

    def measure(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Measure as ann, in a folder without other results."""
        self.ann.shell("rm -rf results")
        return self.ann.lab(*self.options(*words, seconds=10), **({"SECRET": self.password} | environment))

    def mistake(self, *words: str, **environment: str) -> str:
        """What a measurement says that cannot be made: no file of the lab's own, and no hosts file."""
        done = self.measure(*words, **environment)
        assert (done.returncode, done.stdout) == (1, ""), done.stdout + done.stderr
        for word in (".local", "[server]", "[share]", "a script of the lab's", "Traceback"):
            assert word not in done.stderr, done.stderr
        assert self.ann.lab("list").stdout == ""
        *_, message, remedy = done.stderr.splitlines()
        assert message.startswith(f"{words[0]}: ")
        return f"{message}\n{remedy}"

    @staticmethod
    def options(*words: str, seconds: int) -> list[str]:
        return ["measure", *words, "--password", "env:SECRET", "--time", f"{seconds}s"]

    @contextmanager
    def started(self, *words: str, seconds: int = 60) -> "Iterator[Measurement]":
        """A measurement that a test interrupts; killed at the end."""
        self.ann.shell("rm -rf results")
        command = ["setsid", "--wait", PYTHON, "-m", "lab", *self.options(*words, seconds=seconds)]
        with subprocess.Popen(
            self.ann.words(*command, SECRET=self.password), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            try:
                yield Measurement(self, process)
            finally:
                process.kill()

    def log(self) -> str:
        """The commands and trials of the newest run, if any."""
        return self.ann.shell("cat results/*/commands.log results/*/trials.jsonl 2>/dev/null; :")

    def trials(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.ann.shell("cat results/*/trials.jsonl").splitlines()]

    def state(self) -> dict[str, list[str]]:
        looks = {"client": CLIENT_STATE, "server": SERVER_STATE}
        return {host: self.bench.inside(host, look).splitlines() for host, look in looks.items()}

    @contextmanager
    def left_as_found(self) -> Iterator[Self]:
        """A measurement leaves nothing behind, and the file of the share's owner is unchanged."""
        before = self.state()
        yield self
        after = self.state()
        changes = {host: sorted(set(before[host]) ^ set(after[host])) for host in before}
        assert not any(changes.values()), changes
        assert self.on_server("cat /mnt/share/mine") == "mine\n"

    def on_server(self, script: str) -> str:
        return self.bench.inside("server", script)

    def mount(self, uri: str, answers: str = "") -> str:
        """Mount a share as ann's desktop does; its folder."""
        return self.ann.shell(f"set -- '{uri}' '{answers}'\n{MOUNT}").rstrip("\n")

    def end_session(self) -> None:
        """Log ann out: end her processes and mounts."""
        self.bench.inside("client", "pkill -KILL -u ann; umount -l /home/ann/run/gvfs; rm -rf /home/ann/run; :")


@dataclass(frozen=True)
class Measurement:
    scene: Scene
    process: subprocess.Popen[str]

    def wait_for(self, text: str, seconds: float = 120) -> None:
        """Wait until the log of commands, or a trial, holds ``text``."""
        wait_until(lambda: text in self.scene.log(), repr(text), seconds, self.process)

    def wait_for_process(self, pattern: str) -> None:
        assert self.sees_process(pattern), self.process.communicate()

    def sees_process(self, pattern: str) -> bool:
        """Whether ann runs a command that fits a pattern before the measurement ends."""
        deadline = time.monotonic() + 120
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
        output, _ = self.process.communicate(timeout=300)
        return self.process.returncode, output


def arrange(new_bench: Callable[..., Bench], *options: str) -> Scene:
    """A local lab with servers that are not the lab's, and ann; on a Mac she is the account there."""
    bench = new_bench(*options)
    bring_python(bench, "client")
    is_mac = any("macos@" in word for word in options)
    ann = Account(bench, "client", "lab" if is_mac else "ann", is_mac)
    ann.create()
    serve(bench)
    bench.inside("server", MORE_SHARES)
    bench.inside("server", "echo mine > /mnt/share/mine && chown lab /mnt/share/mine")
    return Scene(bench, ann, password_of(bench))


KEYS = "/etc/ssh/lab_authorized_keys"  # keys of all accounts on hosts of a local lab
LINK = 200e6 / 8  # bytes a second
OWN = r"file-share-lab-[0-9a-f]{16}"


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Scene:
    return arrange(new_bench, "--rate", "200mbit")


@pytest.fixture
def scene(one_scene: Scene) -> Iterator[Scene]:
    with one_scene.left_as_found():
        yield one_scene


def log_in(scene: Scene, port: int = 22) -> None:
    """Let ann log in to the server, as lab, by a key; her ssh knows it as ``nas``."""
    key = scene.ann.shell(
        f"mkdir -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519 && ssh-keyscan -p {port} -t ed25519 "
        f"{SERVER} 2>/dev/null > .ssh/known_hosts && printf 'Host nas\\nHostName {SERVER}\\nUser lab\\nPort {port}\\n' "
        "> .ssh/config && "
        "cat .ssh/id_ed25519.pub"
    )
    scene.on_server(f"cp {KEYS} /root/keys && echo '{key.strip()}' >> {KEYS}")


def measure_well(scene: Scene, protocol: str, *words: str) -> str:
    """Measure a target; the run must go well. Returns what it printed."""
    done = succeeded(scene.measure(*words))
    assert "[server]" not in done.stderr
    check_measured(scene, protocol)
    return done.stdout


def check_measured(scene: Scene, protocol: str) -> None:
    """A run succeeded: verified trials crossed the wire each way, and every command reads the run folder."""
    trials = [trial for trial in scene.trials() if trial["protocol"] == protocol]
    good = [trial for trial in trials if trial["status"] == "ok"]
    assert {trial["direction"] for trial in good} == {"read", "write"}, trials
    for trial in good:
        assert trial["verified"]
        moved = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= moved < 1.2 * trial["size_bytes"]
        assert trial["size_bytes"] / trial["elapsed_s"] < 1.02 * LINK  # no cache gave it
    for words in (["show"], ["show", "--json"], ["report"]):
        done = succeeded(scene.ann.lab(*words))
        assert done.stderr == "" or ("report" in words and done.stderr.startswith("replaced ")), words
        assert "--json" not in words or json.loads(done.stdout)
    assert scene.ann.shell("ls results/*/report/report.html")
    done = scene.ann.lab("contribute", "--output", "given")
    refused = [line for line in (done.stdout + done.stderr).splitlines() if ".json" in line]
    # if both hosts are seen, they are recognized as a local lab that nobody named to `lab measure`
    both = any("server" in trial["observed"] for trial in good)
    assert all(both and "no local lab is named" in line for line in refused), refused
    scene.ann.shell("rm -r given")
