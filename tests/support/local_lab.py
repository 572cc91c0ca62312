"""A local lab for tests: its commands, the state of its hosts, and ways to break it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lab.local import cleanup, lifecycle, state, syscalls
from lab.local.names import ALL_HOSTS, hosts_of
from lab.results.trial import CEILINGS
from support.input_files import read_ini, toml, write_ini
from support.lab_server import lab_server
from support.waiting import last_look, wait_until

HOSTS = ("client", "server")  # of a lab by default
SMALL = "/srv/small"  # a file system with little room on the server
# All that the lab may change or leave behind, read as a person would. Leaves out what looks, and processes that
# are ending: they have no words any more, and ps shows their names in brackets
STATE = r"""
cat /sys/class/net/eth0/mtu /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem
cut -d ' ' -f 2,3,4 /proc/self/mounts | sort
ps -eo args= | grep -v -e '^ps ' -e '^sort' -e '^grep' -e '^cut' -e '^sh -c' -e '^sshd' -e '^\[[^]]*\]$' | sort
find /tmp /srv /run /etc/samba /etc/exports /etc/mtab /var/lib /root -xdev 2>/dev/null | grep -v ^/run/sudo | sort
find /dev/shm | sort
md5sum /etc/passwd /etc/shadow /etc/hosts
ip -o -4 address
"""
# Runs the command from $3 on when server $1 has received $2 bytes since it began; gives up after two minutes
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
DESIGN: dict[str, Any] = {"name": "test", "blocks": 1, "seed": 7, "slowest": 2_000_000}
MORE_KEYS = ("effects", "store_tools", "bonnie_size")
FACTORS: dict[str, Any] = {
    "protocol": ["ssh"], "tool": ["rsync"],
    "direction": ["write", "read"], "mtu": [1500], "tcp_space": ["default"], "store": ["ram"],
    "server_sync": ["default"], "client_sync": ["fsync"], "server_cache": ["warm"], "clients": [1],
    "read_from": ["default"],
}  # fmt: skip


class Bench:
    """One local lab, and a working folder with its hosts file and results."""

    def __init__(self, name: str, directory: Path):
        self.name, self.directory = name, directory
        self.host_names: tuple[str, ...] = HOSTS
        self.hosts = directory / f"hosts.local.{name}.ini"
        # a register of its own, so that benches are different controllers
        self.environment = {"XDG_STATE_HOME": str(directory.with_name(f"{directory.name}-state"))}

    def up(self, *options: str, ceilings: bool = False) -> None:
        """Bring the lab up. Runs measure the link only with ``ceilings``."""
        self.host_names = hosts_of(int(options[options.index("--clients") + 1])) if "--clients" in options else HOSTS
        succeeded(self.lab("local", "up", "--name", self.name, *options, timeout=1800))
        if not ceilings:
            self.hosts.write_text(self.changed_hosts(server_iperf3="off").read_text())

    def with_ceilings(self) -> Path:
        """A hosts file for a run that measures the link."""
        return self.changed_hosts(server_iperf3=None)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "lab", *arguments]

    def lab(self, *arguments: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """Run a `lab` command in the working folder."""
        return lab_server().run(arguments, self.directory, timeout, os.environ | self.environment)

    def strike_under_way(self, program: str, after_bytes: int, *strike: str, host: str = "server") -> tuple[str, ...]:
        """The `lab` command that runs ``strike`` in a host once a program runs there and a transfer has begun."""
        words = ("sh", "-c", UNDER_WAY, "sh", program, str(after_bytes), *strike)
        return ("local", "exec", "--name", self.name, host, "--", *words)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A `lab` command that the test interrupts; killed at the end."""
        options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "cwd": self.directory}
        environment = os.environ | self.environment
        with subprocess.Popen(self.command(*arguments), text=True, env=environment, **options) as process:
            try:
                yield process
            finally:
                process.kill()

    def init(self, host: str) -> int:
        """The PID 1 of a host, as this machine numbers it."""
        return init_of(self.name, host)

    def execute(self, host: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a host, without a process of the lab: tests do this a thousand times."""
        return subprocess.run(
            lifecycle.inside_command(self.name, host, words),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=900, check=False,
            preexec_fn=syscalls.allow_many_files,
        )  # fmt: skip

    def inside(self, host: str, script: str) -> str:
        return succeeded(self.execute(host, "sh", "-c", script)).stdout

    def state(self) -> dict[str, list[str]]:
        return {host: self.inside(host, STATE).splitlines() for host in self.host_names}

    def sweep(self, **factors: Any) -> Path:
        """A sweep file with these factors, other keys, ``size`` or ``workload``."""
        design = DESIGN | {key: factors.pop(key) for key in (*DESIGN, *MORE_KEYS) if key in factors}
        workload = factors.pop("workload", None) or {"size": factors.pop("size", "4 MiB")}
        path = self.directory / "sweep.toml"
        path.write_text(f"{toml(design)}[workload]\n{toml(workload)}[factors]\n{toml(FACTORS | factors)}")
        return path

    def run(self, *options: str, hosts: Path | None = None, **factors: Any) -> subprocess.CompletedProcess[str]:
        return self.lab("run", "--hosts", str(hosts or self.hosts), str(self.sweep(**factors)), *options)

    def measure(self, *options: str, hosts: Path | None = None, **factors: Any) -> list[dict[str, Any]]:
        """The trials of a sweep with these factors, which must end well."""
        done = self.run(*options, hosts=hosts, **factors)
        reasons = [trial["reason"] for trial in self.trials_if_any()]
        assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *reasons])
        return self.trials()

    def check_output(self, *arguments: str, timeout: float = 900) -> str:
        """What a `lab` command that must end well prints, as in subprocess."""
        done = self.lab(*arguments, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refusal(self, code: int, *arguments: str) -> str:
        """The message of a `lab` command that must end with this exit code, and without a traceback."""
        done = self.lab(*arguments)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stdout + done.stderr
        return done.stderr

    def refused_run(self, code: int, *options: str, hosts: Path | None = None, **factors: Any) -> str:
        return self.refusal(code, "run", "--hosts", str(hosts or self.hosts), str(self.sweep(**factors)), *options)

    def started_run(
        self, *options: str, hosts: Path | None = None, **factors: Any
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        """A run of a sweep with these factors, which the test will interrupt."""
        return self.started("run", "--hosts", str(hosts or self.hosts), str(self.sweep(**factors)), *options)

    def kill_run(self, moment: str, *options: str, hosts: Path | None = None, **factors: Any) -> None:
        """Run a sweep with these factors; kill its controller as soon as the log of commands holds ``moment``."""
        with self.started_run(*options, hosts=hosts, **factors) as run:
            self.wait_for(moment, run)
            assert end(run, signal.SIGKILL)[0] == -signal.SIGKILL

    def run_struck(self, strike: tuple[str, ...], **factors: Any) -> tuple[int, str]:
        """Run a sweep during which another `lab` command strikes; the exit code of the run, and what it printed."""
        with self.started(*strike) as striking, self.started_run(**factors) as run:
            output, _ = run.communicate(timeout=600)
            assert striking.wait() == 0
        return run.returncode, output

    @contextmanager
    def changed(self, host: str, do: str, undo: str) -> Iterator[None]:
        self.inside(host, do)
        try:
            yield
        finally:
            self.inside(host, undo)

    def missing(self, host: str, *paths: str) -> AbstractContextManager[None]:
        """A host without these files for the time of a block."""
        away = " && ".join(f"mv {path} {path}.away" for path in paths)
        back = " && ".join(f"mv {path}.away {path}" for path in paths)
        return self.changed(host, away, back)

    def run_json(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.newest() / "run.json").read_text())
        return content

    def changed_hosts(self, **changes: str | None) -> Path:
        """A copy of the hosts file with ``section_key = value`` changed, added or, if None, removed."""
        hosts = read_ini(self.hosts)
        for name, value in changes.items():
            section, _, key = name.partition("_")
            if value is None:
                hosts.remove_option(section, key)
            else:
                hosts.set(section, key, value)
        return write_ini(self.directory / "hosts.changed.ini", hosts)

    def newest(self) -> Path:
        return max((self.directory / "results").iterdir())

    def trials(self) -> list[dict[str, Any]]:
        """The trials of the newest run, without ceilings."""
        lines = (self.newest() / "trials.jsonl").read_text().splitlines()
        return [trial for trial in map(json.loads, lines) if trial["protocol"] not in CEILINGS]

    def trials_if_any(self) -> list[dict[str, Any]]:
        return self.trials() if any(self.directory.glob("results/*/trials.jsonl")) else []

    def wait_until_free(self) -> None:
        """Wait until the SSH sessions of a killed run have ended, so that its hosts are free."""
        for host in self.host_names:
            self.inside(host, WAIT_UNTIL_FREE)

    def wait_for(self, text: str, process: subprocess.Popen[str], seconds: float = 600) -> None:
        """Wait until the newest run's log of commands, or its trials, hold ``text``."""

        def is_there() -> bool:
            logs = [*self.directory.glob("results/*/commands.log"), *self.directory.glob("results/*/trials.jsonl")]
            return any(text in log.read_text() for log in logs)

        wait_until(is_there, repr(text), seconds, process)


def init_of(lab_name: str, host: str) -> int:
    lab = state.load(lab_name)
    assert lab is not None, f"the local lab {lab_name} is gone"
    return lab.hosts[host].pid


def small_disk(bench: Bench, options: str) -> AbstractContextManager[None]:
    """The server with a file system in memory at SMALL for the time of a block."""
    mount = f"mkdir {SMALL} && mount -t tmpfs -o {options} small {SMALL}"
    return bench.changed("server", mount, f"umount {SMALL} && rmdir {SMALL}")


def succeeded(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    os.kill(process.pid, number)
    output, _ = process.communicate(timeout=600)
    return process.returncode, output


def traces(name: str) -> list[str]:
    """All that belongs to a lab of this name."""
    groups = filter(None, (cleanup.control_group(name, host) for host in (*ALL_HOSTS, cleanup.LINK)))
    disks = (cleanup.disk_directory(name, host) for host in ALL_HOSTS)
    leftovers = [str(path) for path in (state.directory(name), *groups, *disks) if path.exists()]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"/{name}/" in command or f" {name} " in command:
            leftovers.append(command)
    mounts = Path("/proc/self/mounts").read_text()
    return leftovers + [line for line in mounts.splitlines() if f"/{name}/" in line]


def gone(name: str) -> list[str]:
    """The traces after all are gone, or after the time is over."""
    return last_look(lambda: traces(name), [], 30)


# findings about this machine, which may be busy
OF_THE_MACHINE = ("client load", "server load", "client swap", "server swap")


def check_findings(bench: Bench, hosts: Path | None = None) -> list[dict[str, Any]]:
    """The findings without those about this machine; checks the exit code, too."""
    done = bench.lab("check", "--json", "--hosts", str(hosts or bench.hosts))
    assert done.stderr == ""
    all_findings = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if any(finding["level"] == "problem" for finding in all_findings) else 0)
    return [finding for finding in all_findings if finding["subject"] not in OF_THE_MACHINE]


def findings_at(all_findings: list[dict[str, Any]], *levels: str) -> list[tuple[str, str]]:
    return [(finding["subject"], finding["message"]) for finding in all_findings if finding["level"] in levels]


def only_finding(all_findings: list[dict[str, Any]], level: str) -> dict[str, Any]:
    """The one finding of a level, except the note about jumbo frames."""
    (finding,) = [other for other in all_findings if other["level"] == level and other["subject"] != "link MTU"]
    return finding
