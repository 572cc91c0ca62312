"""Sweeps and measurements over IPv6, on a link that has both families."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from support.dual_stack import ADDRESSES, add_addresses, hosts_at
from support.local_lab import HOSTS, Bench
from support.measured import Scene, arrange, measure_well

SWEEP: dict[str, Any] = {
    "protocol": ["afp", "nfs", "smb", "ssh"], "tool": ["rsync"], "direction": ["write", "read"],
    "mtu": [1500, 9000], "size": "1 MiB", "blocks": 1,
}  # fmt: skip
LINK_LOCAL = "ip -o -6 address show dev eth0 scope link | sed 's/.*inet6 \\([^/]*\\).*/\\1/'"


@pytest.fixture(scope="module")
def dual(new_bench: Callable[..., Bench]) -> Bench:
    bench = new_bench()
    add_addresses(bench)
    return bench


def known(trial: Mapping[str, Any]) -> tuple[object, ...]:
    """What a trial has, without its numbers. What is sampled during a transfer, as buffers are, is left out."""
    facts = [{name for name, value in part.items() if value is not None} for part in (trial, trial["effective"])]
    sampled = {f"{role}_{buffer}" for role in ("client", "server") for buffer in ("rcvbuf", "sndbuf")}
    return trial["case_id"], trial["status"], *(sorted(names - sampled) for names in facts)


def test_the_same_sweep_gives_the_same_tables_over_both_families(dual: Bench) -> None:
    """As much is known of each trial, and the same tables are shown."""
    v4 = dual.measure(**SWEEP)
    v6 = dual.measure(hosts=hosts_at(dual, ADDRESSES), **SWEEP)
    assert sorted(map(known, v4)) == sorted(map(known, v6))
    assert {trial["status"] for trial in v6} == {"ok"}
    assert any(trial["observed"].get("tcp", {}).get("rtt_ms") for trial in v6)
    runs = map(str, sorted(dual.directory.glob("results/*")))
    over_v4, over_v6 = (json.loads(dual.check_output("show", run, "--json")) for run in runs)
    assert over_v4.keys() == over_v6.keys()


def test_addresses_of_one_link_serve_what_listens_with_a_zone(dual: Bench) -> None:
    """A link-local address needs an interface: netatalk and sshd take it, Samba and Ganesha say that they do not."""
    hosts = hosts_at(dual, {host: f"{dual.inside(host, LINK_LOCAL).strip()}%eth0" for host in HOSTS})
    trials = dual.measure(hosts=hosts, **SWEEP | {"protocol": ["afp", "ssh"], "mtu": [1500], "direction": ["write"]})
    assert {trial["status"] for trial in trials} == {"ok"}
    message = dual.refused_run(1, hosts=hosts, **SWEEP | {"protocol": ["smb", "nfs"]})
    assert "Samba cannot serve at fe80:" in message
    assert "give both hosts another data_address" in message


@pytest.fixture(scope="module")
def one_scene(new_bench: Callable[..., Bench]) -> Scene:
    scene = arrange(new_bench, "--rate", "200mbit")
    add_addresses(scene.bench)
    return scene


@pytest.mark.parametrize(
    ("protocol", "target"),
    [
        ("smb", "smb://lab@[{address}]/labram"),
        ("nfs", "nfs://[{address}]/mnt/share"),
        ("smb", "smb://lab@[{zoned}]/labram"),
    ],
)
def test_a_share_at_an_address_of_ipv6_is_measured(scene: Scene, protocol: str, target: str) -> None:
    zoned = f"{scene.on_server(LINK_LOCAL).strip()}%25eth0"
    measure_well(scene, protocol, target.format(address=ADDRESSES["server"], zoned=zoned))


def test_a_folder_that_a_desktop_mounted_by_ipv6_is_measured(scene: Scene) -> None:
    try:
        folder = scene.mount(f"smb://[{ADDRESSES['server']}]/labram", f"lab\nWORKGROUP\n{scene.password}\n")
        measure_well(scene, "smb", folder)
    finally:
        scene.end_session()
