"""What the helper of a narrow sudo costs, beside plain sudo: python benchmarks/narrow_sudo.py [N].

The same commands by one live connection each to the client of a local lab of its own, in turn, N times (default: 200).
Needs root.
"""

import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.local_lab import Bench
from support.narrow_sudo import give_password, narrow_hosts

from lab.hosts.command import Command, command, script
from lab.hosts.hosts_file import load_hosts
from lab.hosts.own_folder import LAB_HOME
from lab.hosts.ssh import SshHost
from lab.platforms.linux.settings import LinuxMtu
from lab.settings import host_journal

EVERYTHING = "echo 'lab ALL=(root) NOPASSWD: ALL' > /etc/sudoers.d/everything"
COMMANDS = {
    "id -u": command("id", "-u", root=True),
    "the lab's folder": script(LAB_HOME, root=True),
    "an MTU": LinuxMtu("eth0").change("1500")[0],
    "the host journal, read": script(host_journal.READ, "", root=True),
}


def measure(ways: dict[str, SshHost], step: Command, count: int) -> dict[str, list[float]]:
    """Seconds of each call, by way."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(count):
        for name in sorted(ways, reverse=bool(number % 2)):
            began = time.perf_counter()
            step.run(ways[name])
            seconds[name].append(time.perf_counter() - began)
    return seconds


def main(count: int) -> None:
    """Print medians in ms, and their ratio."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "work"
        folder.mkdir()
        bench = Bench("narrow-sudo-benchmark", folder)
        bench.up()
        stack.callback(bench.lab, "local", "down", "--name", bench.name)
        give_password(bench)
        hosts = narrow_hosts(bench)
        installed = bench.lab("host", "install", "--hosts", str(hosts))
        if installed.returncode:
            raise SystemExit(installed.stderr)
        bench.inside("client", EVERYTHING)
        section = load_hosts(hosts).client
        ways = {sudo: SshHost("client", section.model_copy(update={"sudo": sudo})) for sudo in ("nopasswd", "helper")}
        for host in ways.values():
            stack.callback(host.close)
        print(f"{count} calls each, in turn: median, and the quartiles")
        print(f"{'':24}{'plain ms':21}{'helper ms':21}ratio")
        for name, step in COMMANDS.items():
            seconds = measure(ways, step, count)
            quartiles = {way: [1e3 * value for value in statistics.quantiles(seconds[way])] for way in ways}
            cells = [f"{middle:5.1f} ({low:.1f}-{high:.1f})" for low, middle, high in
                     (quartiles["nopasswd"], quartiles["helper"])]  # fmt: skip
            ratio = quartiles["helper"][1] / quartiles["nopasswd"][1]
            print(f"{name:24}{cells[0]:21}{cells[1]:21}{ratio:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
