"""The process that keeps a local lab up.

Run as ``python -m lab.local.supervisor NAME REQUEST``; REQUEST is the JSON of a :class:`lab.local.state.Request`.

The supervisor starts the hosts and waits; on a signal it reboots one of them. When it ends, the kernel ends the hosts
and the mounts of their disks, which are in the supervisor's namespace. The supervisor removes the rest: control groups,
files under /run, the hosts file. Its parent, the cleaner, waits for its end and removes the same. So nothing is left
behind when either of the two is stopped, crashes or is killed.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from lab.base import durable
from lab.base.errors import LabError, LabFailure
from lab.local import backends, cleanup, host_config, network, overlay, platforms, state, syscalls
from lab.local.proxy_command import dial
from lab.local.state import Lab, Process, Request
from lab.local.subprocesses import last_lines

INIT = Path(__file__).with_name("init.sh")
START_DEADLINE_S = 300.0  # two guests on processors in software, on a busy machine
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Supervisor:
    """One local lab from start to stop."""

    def __init__(self, name: str, request: Request):
        self.backend = backends.find(request.backend)
        self.name, self.hosts_file = name, Path(request.hosts_file)
        self.shape = network.Shape(request.rates, network.delay_seconds(request.delay))
        rate = request.rates["client"]
        self.directory = state.directory(name)
        self.hosts: dict[str, subprocess.Popen[bytes]] = {}
        self.link_processes: list[subprocess.Popen[bytes]] = []
        self.group_of_link = cleanup.control_group(name, cleanup.LINK)
        self.lab = Lab(
            name, secrets.token_hex(8), supervisor=Process.of(os.getpid()), cleaner=Process.of(os.getppid()), hosts={},
            rate=rate, delay=request.delay, hosts_file=request.hosts_file, platforms=request.platforms,
            backend=request.backend, why=request.why, ssh_address=self.backend.ssh_address,
            rates={host: host_rate for host, host_rate in request.rates.items() if host_rate != rate},
        )  # fmt: skip

    def start(self) -> None:
        """Bring the hosts and the link up, and write the hosts file. Raises LabError."""
        host_config.write(self.directory, self.name, self.lab.platforms)
        if self.group_of_link is not None:
            self.group_of_link.mkdir(exist_ok=True)
        syscalls.keep_mounts_private()
        for host in self.lab.platforms:
            overlay.attach(self.name, host, self.backend.layers())
            self.backend.furnish(self.lab, host)
        pids = {host: self._start_host(host) for host in self.lab.platforms}
        for host, pid in pids.items():
            self._wait_for_sshd(host, pid)
        self.link_processes = network.connect(pids, self.shape, self.group_of_link)
        for host, pid in pids.items():
            self._plug_in(host, pid)
            self.lab.hosts[host] = Process.of(pid)
        durable.replace(self.hosts_file, host_config.hosts_ini(self.lab).encode())
        self.lab.save()

    def reboot(self, host: str) -> None:
        """Cut a host's power and start it again; only its disk and its end of the link stay. Raises LabError."""
        old_network = Path(f"/proc/{self.lab.hosts[host].pid}/ns/net")
        with old_network.open("rb") as namespace:  # kept open, because the end of the link would go with the network
            self.lab.hosts[host].signal(signal.SIGKILL)
            self.hosts.pop(host).wait()
            cleanup.remove_group(self.name, host)
            pid = self._start_host(host)
            self._wait_for_sshd(host, pid)  # before that the host still makes its file system
            network.move(namespace.fileno(), pid)
        self._plug_in(host, pid)
        self.lab.hosts[host] = Process.of(pid)
        self.lab.save()

    def _plug_in(self, host: str, pid: int) -> None:
        network.shape_end(network.End(pid), self.shape.rates[host], self.shape.delay_of_link_s)
        self.backend.plug_in(self.lab, host, pid)

    def _start_host(self, host: str) -> int:
        group = cleanup.control_group(self.name, host)
        supervisor = os.getpid()

        def before_exec() -> None:
            syscalls.die_with_parent(supervisor)
            syscalls.allow_many_files()
            signal.pthread_sigmask(signal.SIG_SETMASK, ())  # servers in the host must not inherit blocked signals
            if group is not None:
                (group / "cgroup.procs").write_text("0")

        if group is not None:
            group.mkdir(exist_ok=True)
        namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--fork", "--kill-child=SIGKILL"]
        mac_package = str(platforms.emulated_mac_folder()) if platforms.mac_version(self.lab.platforms[host]) else ""
        words = [str(overlay.root(self.name, host)), mac_package, self.backend.boot(self.lab, host)]
        command = ["unshare", *namespaces, "--", "/bin/sh", str(INIT), *words, str(self.group_of_link or "")]
        with self._log(host).open("wb") as log:
            self.hosts[host] = subprocess.Popen(  # noqa: S603 – unshare, with words of the local lab's own
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=before_exec
            )
        return self._wait_for_child(host, self.hosts[host])

    def _wait_for_child(self, host: str, process: subprocess.Popen[bytes]) -> int:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + START_DEADLINE_S
        while process.poll() is None and time.monotonic() < deadline:
            if pids := children.read_text().split():
                return int(pids[0])
            time.sleep(0.005)
        raise LabFailure(f"local lab: host {host} did not start: {self._last_lines(host)}")

    def _wait_for_sshd(self, host: str, pid: int) -> None:
        many = len(self.lab.platforms) / len(state.HOSTS)  # all boot at once, on as many cores
        deadline = time.monotonic() + START_DEADLINE_S * many
        while self.hosts[host].poll() is None and time.monotonic() < deadline:
            # dial moves its thread into the host's network for good
            with ThreadPoolExecutor(1) as thread, suppress(OSError):
                thread.submit(dial, pid, self.backend.ssh_address, 1.0).result().close()
                return
            time.sleep(0.02)
        raise LabFailure(f"local lab: sshd on {host} does not answer: {self._last_lines(host)}")

    def _last_lines(self, host: str) -> str:
        return last_lines(self._log(host).read_text(errors="replace"))

    def _log(self, host: str) -> Path:
        return self.directory / f"{host}.log"

    def processes(self) -> list[subprocess.Popen[bytes]]:
        """The processes of the lab; when one ends, the others are stopped."""
        return [*self.hosts.values(), *self.link_processes]

    def stop(self) -> None:
        """Kill the hosts and the link; namespaces, mounts and interfaces end with them."""
        for process in self.processes():
            process.kill()
        for process in self.processes():
            process.wait()
        for host in self.lab.platforms:
            overlay.detach(self.name, host)


def serve(supervisor: Supervisor) -> None:
    """Reboot hosts on request, until a signal asks to stop or a process of the lab ends."""
    requests: dict[int, str] = {number: host for host, number in state.REBOOT_SIGNALS.items()}
    while all(process.poll() is None for process in supervisor.processes()):
        number = signal.sigwait({*STOP_SIGNALS, *requests, signal.SIGCHLD})
        if number in STOP_SIGNALS:
            return
        if number in requests:
            supervisor.reboot(requests[number])


def close_standard_streams() -> None:
    """Close the terminal, or the pipe to the process that started this one."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def supervise(name: str, request: Request, cleaner: int) -> int:
    """Bring the lab up, print ``ready`` or the error, and keep the lab until a signal ends it; the exit code."""
    syscalls.die_with_parent(cleaner, signal.SIGTERM)
    signals = {*STOP_SIGNALS, *state.REBOOT_SIGNALS.values(), signal.SIGCHLD}
    supervisor = Supervisor(name, request)
    try:
        supervisor.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        print("ready", flush=True)
        close_standard_streams()
        serve(supervisor)
        return 0
    except (LabError, OSError, subprocess.SubprocessError) as error:
        print(error, flush=True)
        return 1
    finally:
        supervisor.stop()
        cleanup.remove(name, supervisor.hosts_file)


def main() -> int:
    """Keep a lab up in a child process, and clean up after it however it ended."""
    name, request = sys.argv[1], Request(**json.loads(sys.argv[2]))
    syscalls.adopt_orphans()
    cleaner = os.getpid()
    child = os.fork()
    if child == 0:
        os._exit(supervise(name, request, cleaner))
    close_standard_streams()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, _: os.kill(child, number))
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # keeps the pid, so that no signal reaches another process
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    cleanup.remove(name, Path(request.hosts_file))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
