"""A local lab in a test's hands: its commands, its hosts' state, and ways to break it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.local import lifecycle, syscalls
from lab.local.names import hosts_of
from lab.results.trial import CEILINGS
from support.lab_server import lab_server

HOSTS = ("client", "server")  # of a lab that is not asked for more
# Everything that the lab may change, and what it must not leave: read as a person would, not through the lab. What
# looks is left out, and so is a process that is just ending: it has no words any more, ps shows its name in brackets.
STATE = r"""
cat /sys/class/net/eth0/mtu /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem
cut -d ' ' -f 2,3,4 /proc/self/mounts | sort
ps -eo args= | grep -v -e '^ps ' -e '^sort' -e '^grep' -e '^cut' -e '^sh -c' -e '^sshd' -e '^\[[^]]*\]$' | sort
find /tmp /srv /run /etc/samba /etc/exports /etc/mtab /var/lib /root -xdev 2>/dev/null | grep -v ^/run/sudo | sort
find /dev/shm | sort
md5sum /etc/passwd /etc/shadow /etc/hosts
ip -o -4 address
"""
# $1 a server: the command from $3 on is run once, as soon as $2 bytes came in since it began; tries for two minutes
UNDER_WAY = """
received() { cat /sys/class/net/eth0/statistics/rx_bytes; }
tries=0
until pgrep "$1" >/dev/null; do tries=$((tries + 1)); [ $tries -gt 6000 ] && exit 1; sleep 0.02; done
enough=$(($(received) + $2))
until [ $(received) -gt $enough ]; do tries=$((tries + 1)); [ $tries -gt 6000 ] && exit 1; sleep 0.02; done
shift 2; "$@"
"""
WAIT_UNTIL_FREE = """
tries=0
for above in /var/lib /private/var/db; do
    while { read -r run pid start < $above/file-share-lab/journal/lock && kill -s 0 "$pid"; } 2>/dev/null; do
        sleep 0.05; tries=$((tries + 1)); [ $tries -lt 1200 ] || exit 1
    done
done
"""
SWEEP = """
name = "{name}"
blocks = {blocks}
seed = 7
slowest = {slowest}
[workload]
size = "{size}"
[factors]
protocol = {protocol}
tool = {tool}
direction = {direction}
mtu = {mtu}
tcp_space = {tcp_space}
store = {store}
server_sync = {server_sync}
client_sync = {client_sync}
server_cache = {server_cache}
clients = {clients}
read_from = {read_from}
{options}
"""
FACTORS: dict[str, Any] = {
    "name": "test", "blocks": 1, "slowest": 2_000_000, "size": "4 MiB", "protocol": ["ssh"], "tool": ["rsync"],
    "direction": ["write", "read"], "mtu": [1500], "tcp_space": ["default"], "store": ["ram"],
    "server_sync": ["default"], "client_sync": ["fsync"], "server_cache": ["warm"], "clients": [1],
    "read_from": ["default"],
}  # fmt: skip


class Bench:
    """One local lab and a working folder with its hosts file and results."""

    def __init__(self, name: str, directory: Path):
        self.name, self.directory = name, directory
        self.host_names: tuple[str, ...] = HOSTS
        self.hosts = directory / f"hosts.local.{name}.ini"
        # a register of its own: to it the runs of another bench are those of another controller
        self.environment = {"XDG_STATE_HOME": str(directory.with_name(f"{directory.name}-state"))}

    def up(self, *options: str, ceilings: bool = False) -> None:
        """Bring it up. Its runs measure the link only where ``ceilings`` are asked for."""
        self.host_names = hosts_of(int(options[options.index("--clients") + 1])) if "--clients" in options else HOSTS
        done = self.lab("local", "up", "--name", self.name, *options, timeout=1800)
        assert done.returncode == 0, done.stdout + done.stderr
        if not ceilings:
            self.hosts.write_text(self.changed_hosts(server_iperf3="off").read_text())

    def with_ceilings(self) -> Path:
        """A hosts file for a run that measures the link."""
        return self.changed_hosts(server_iperf3=None)

    def command(self, *arguments: str) -> list[str]:
        """The `lab` command with these arguments, for a process of its own."""
        return [sys.executable, "-m", "lab", *arguments]

    def lab(self, *arguments: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """Run a `lab` command in the working folder."""
        return lab_server().run(arguments, self.directory, timeout, os.environ | self.environment)

    def strike_under_way(self, program: str, after_bytes: int, *strike: str, host: str = "server") -> tuple[str, ...]:
        """The `lab` command that runs another in a host, in the middle of a transfer to it, once a program runs."""
        words = ("sh", "-c", UNDER_WAY, "sh", program, str(after_bytes), *strike)
        return ("local", "exec", "--name", self.name, host, "--", *words)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A `lab` command that the test will interrupt; ended at the end, where the test did not."""
        options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "cwd": self.directory}
        environment = os.environ | self.environment
        with subprocess.Popen(self.command(*arguments), text=True, env=environment, **options) as process:
            try:
                yield process
            finally:
                process.kill()

    def execute(self, host: str, *words: str) -> subprocess.CompletedProcess[str]:
        """What `lab local exec` does, without a process of the lab: tests ask a thousand times."""
        return subprocess.run(
            lifecycle.inside_command(self.name, host, words),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=900, check=False,
            preexec_fn=syscalls.allow_many_files,
        )  # fmt: skip

    def inside(self, host: str, script: str) -> str:
        """What a shell script prints inside a host."""
        done = self.execute(host, "sh", "-c", script)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def state(self) -> dict[str, list[str]]:
        """The state of all hosts, line by line."""
        return {host: self.inside(host, STATE).splitlines() for host in self.host_names}

    def sweep(self, **factors: Any) -> Path:
        """A sweep file with these factors."""
        chosen = (FACTORS | factors).items()
        values = {key: value if key in ("name", "size") else json.dumps(value) for key, value in chosen}
        path = self.directory / "sweep.toml"
        options = "\n".join(f"{key} = {value}" for key, value in values.items() if "." in key)
        path.write_text(SWEEP.format(**values, options=options))
        return path

    def run(self, *options: str, hosts: Path | None = None, **factors: Any) -> subprocess.CompletedProcess[str]:
        """Run a sweep with these factors."""
        return self.lab("run", "--hosts", str(hosts or self.hosts), str(self.sweep(**factors)), *options)

    def changed_hosts(self, **changes: str | None) -> Path:
        """A copy of the hosts file with ``section_key = value`` changed or added, or without it where it is None."""
        lines = self.hosts.read_text().splitlines()
        for name, value in changes.items():
            section, _, key = name.partition("_")
            start = lines.index(f"[{section}]")
            new = [] if value is None else [f"{key} = {value}"]
            lines = [*lines[: start + 1], *new, *_without(lines[start + 1 :], key)]
        path = self.directory / "hosts.changed.ini"
        path.write_text("\n".join(lines) + "\n")
        return path

    def newest(self) -> Path:
        """The newest run folder."""
        return max((self.directory / "results").iterdir())

    def trials(self) -> list[dict[str, Any]]:
        """The trials of the newest run, without the ceilings."""
        lines = (self.newest() / "trials.jsonl").read_text().splitlines()
        return [trial for trial in map(json.loads, lines) if trial["protocol"] not in CEILINGS]

    def trials_if_any(self) -> list[dict[str, Any]]:
        """The same, where there is a run."""
        return self.trials() if any(self.directory.glob("results/*/trials.jsonl")) else []

    def wait_until_free(self) -> None:
        """Wait until the SSH sessions of a run that was killed have ended, so that no host is in use any more."""
        for host in self.host_names:
            self.inside(host, WAIT_UNTIL_FREE)

    def wait_for(self, text: str, process: subprocess.Popen[str], seconds: float = 600) -> None:
        """Wait until the newest run's log of commands, or its trials, hold ``text``."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            logs = [*self.directory.glob("results/*/commands.log"), *self.directory.glob("results/*/trials.jsonl")]
            if any(text in log.read_text() for log in logs):
                return
            assert process.poll() is None, process.stdout and process.stdout.read()
            time.sleep(0.03)
        raise AssertionError(f"{text!r} did not come")


def _without(lines: list[str], key: str) -> list[str]:
    """The lines, less the first one of this key in the section that they begin in."""
    for number, line in enumerate(lines):
        if line.startswith("["):
            break
        if line.startswith(f"{key} ="):
            return lines[:number] + lines[number + 1 :]
    return lines


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Send a signal and wait; exit code and what was printed."""
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=600)
    return process.returncode, output
