"""Controllers that sleep, and what a Mac cannot put back by itself."""

import json
import signal
from collections.abc import Callable

from faults.observe import Observer, State, difference
from scenarios.test_hosts_left_alone import check_that_hosts_put_themselves_back
from support.leases import (
    MACS,
    in_a_transfer,
    kill_in_a_transfer,
    left_at_the_end,
    prepared,
)
from support.local_lab import Bench


def test_hosts_put_themselves_back_by_every_protocol(new_bench: Callable[..., Bench]) -> None:
    check_that_hosts_put_themselves_back(new_bench("--rate", "200mbit"), "nfs", "afp")


def test_a_controller_that_slept_finds_out_and_measures_on_settings_made_anew(new_bench: Callable[..., Bench]) -> None:
    bench, observer, before = prepared(new_bench("--rate", "40mbit"))
    with in_a_transfer(bench, "smb", blocks=2) as run:
        run.send_signal(signal.SIGSTOP)
        assert [what for what in left_at_the_end(observer, before) if "controller: " not in what] == []
        run.send_signal(signal.SIGCONT)
        output, _ = run.communicate(timeout=600)
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok"), output
    for host in ("client", "server"):
        assert f"{host}: it has heard nothing of this run for too long (`lease`" in output
    observer.settle()
    assert difference(before, observer.state()) == []


def test_what_a_mac_cannot_put_back_waits_for_lab_restore_and_keeps_nothing_else(
    new_bench: Callable[..., Bench],
) -> None:
    bench, observer, before = prepared(new_bench("--rate", "200mbit", *MACS))
    fault = ("local", "fault", "--name", bench.name, "client", "mtu-refused")
    kill_in_a_transfer(bench, "nfs")
    assert bench.lab(*fault, "9999").returncode == 0
    journal = "/private/var/db/file-share-lab/journal"
    for host in ("client", "server"):
        bench.inside(host, f"while [ -e {journal}/lease.socket ]; do sleep 0.2; done")
    bench.wait_until_free()
    records = bench.inside("client", f"cat {journal}/*-[0-9]*").splitlines()
    assert {json.loads(record)["operation"]["kind"] for record in records} == {"folder", "mac-mtu"}
    assert [what for what in left_but_journal(observer, before) if "9000" not in what] == []
    assert bench.lab(*fault, "0").returncode == 0
    restored = bench.lab("restore")
    assert restored.returncode == 0, restored.stdout + restored.stderr
    observer.settle()
    assert difference(before, observer.state()) == []


def left_but_journal(observer: Observer, before: State) -> list[str]:
    """What differs, but for the host journal."""
    return [what for what in difference(before, observer.state()) if "/file-share-lab" not in what]
