"""A run that is told to be of other hosts than it was of: what its facts contradict is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.contributions import Lines, change_run, contribute_kept, forge, matching

from lab.results.packed_run import RUN

pytestmark = pytest.mark.usefixtures("any_name")
Run = dict[str, Any]
MAC = {
    "platform": "macos", "os": "macOS 15.5 (24F74)", "kernel": "Darwin 24.5.0", "cpu": "Apple M2", "interface": "en0",
    "memory_bytes": 17179869184, "about": {"model": "Macmini9,1"}, "user": "lab", "home": "/Users/lab", "mtu_min": 1280,
    "mtu_max": 9000,
}  # fmt: skip


def of_both(**facts: Any) -> Callable[[Run], object]:
    return lambda run: [host.update(facts) for host in run["hosts"].values()]


FORGED: dict[str, tuple[Callable[[Run], object], str]] = {
    "no local lab": (lambda run: run.update(instance=None), "hosts_file hosts.local"),
    "no hosts file either": (lambda run: run.update(instance=None, hosts_file="hosts.ini"),
        "instance: no local lab is named, and trials count link_cores"),
    "no instance": (lambda run: run.pop("instance"), "instance: missing: every lab writes there"),
    "two Macs by name": (of_both(platform="macos"), "kernel 'Linux 6.* is none of macos"),
    "two Macs": (of_both(**MAC), r"its perl \(.*linux.*\) is none of macos"),
    "two Macs with a Mac's perl": (of_both(**MAC, tools={"perl": "v5.34.1 built for darwin-thread-multi-2level"}),
        "platform macos, and trials have client_tcp_rmem, client_tcp_wmem, cpu_cores, .*link_cores"),
    "an old Darwin": (of_both(**MAC | {"kernel": "Darwin 17.7.0"}), "macOS 15.5 has Darwin 24, and not 17"),
    "a kernel of no Linux": (of_both(kernel="Darwin 24.5.0"), "kernel 'Darwin 24.5.0' is none of linux"),
    "an os of no Linux": (of_both(os="macOS 15.5 (24F74)"), r"os 'macOS 15.5 \(24F74\)' is none of linux"),
    "a processor of another kind": (of_both(cpu="Apple M2"), "cpu 'Apple M2' does not run its perl"),
    "more cores": (of_both(cores=12), "cores 12, and 2 in trials such as b001-0001"),
    "less memory": (of_both(memory_bytes=1 << 30, available_bytes=1), "memory_bytes 1073741824, and trials such as"),
    "more room than memory": (of_both(available_bytes=1 << 50), "available_bytes .* is more than memory_bytes"),
    "a smaller MTU at most": (of_both(mtu=1400, mtu_max=1400), "mtu_max 1400, and b001-.* has MTU 1500"),
    "a system of none": (of_both(platform="beos"), "platform 'beos': this lab knows no such platform"),
    "no server": (lambda run: run["hosts"].pop("server"), "no server, and trials such as b001-0001 have what it"),
    "an emulated Mac": (lambda run: run.update(emulated="a Mac"), "emulated: 'a Mac', and None by its hosts"),
    "a quiet machine": (lambda run: run["load"][0].update(client=0.4),
        "load: block 1: .*, and .* by what its trials counted"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_a_forger_says_of_the_hosts_is_contradicted_by_other_facts(folder: Path, name: str) -> None:
    change, expected = FORGED[name]
    change_run(folder, lambda run: run.update(hosts_file="hosts.local.example.ini"))
    flaws = forge(folder, run=change)
    assert matching(rf"^{RUN}: (hosts: client: |.*){expected}", flaws), flaws


def test_one_machine_is_seen_by_its_memory_where_nothing_else_tells(folder: Path) -> None:
    def without_link(lines: Lines) -> None:
        for usage in (usage for trial in lines for usage in trial["observed"].values() if isinstance(usage, dict)):
            usage.pop("link_cores", None)

    flaws = forge(folder, without_link, lambda run: run.update(instance=None))
    expected = rf"^{RUN}: instance: .* the same memory left in \d+ of 168 trials: they are one machine"
    assert len(flaws) == len(matching(expected, flaws)) == 1


def test_emulated_macs_cannot_pass_for_real_ones(tmp_path: Path) -> None:
    folder = contribute_kept("macs", tmp_path)
    change_run(folder, lambda run: run.update(instance=None, emulated=None, hosts_file="hosts.ini"))
    flaws = forge(folder, run=of_both(cpu="Apple M2"))
    assert f"{RUN}: hosts: client: cpu 'Apple M2' is none of an emulated Mac, and the model is one's" in flaws
    flaws = forge(folder, run=of_both(about={"model": "Macmini9,1"}))
    assert matching(r"its perl \(.*x86_64-linux-gnu.*\) is none of macos", flaws)


def test_a_run_of_two_machines_adds_up(folder: Path) -> None:
    """As two machines count: no load of a link, other memory, and what others used while nothing moved."""

    def as_of_two(lines: Lines) -> None:
        for trial in lines:
            for role, usage in trial["observed"].items():
                if role in ("client", "server"):
                    usage.pop("link_cores", None)
                    usage["memory_least_bytes"] -= 4096 if role == "server" else 0

    (folder / "samples.jsonl").unlink()
    change_run(folder, lambda run: run.update(instance=None, load=[{"block": 1, "client": 0.1, "server": 0.3}]))
    assert forge(folder, lines=as_of_two) == []
    assert json.loads((folder / RUN).read_text())["instance"] is None
