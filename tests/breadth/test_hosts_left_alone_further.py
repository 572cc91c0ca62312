"""Controllers that sleep, and what a Mac cannot put back by itself."""

import json
import signal
from collections.abc import Callable

from faults.observe import difference
from scenarios import test_hosts_left_alone as left_alone
from support.again import again
from support.killed_runs import MACS, in_a_transfer, kill_in_a_transfer, left_at_the_end, prepared
from support.local_lab import Bench

test_hosts_restore_themselves_by_every_protocol = again(
    left_alone.test_hosts_restore_themselves_after_their_controller_was_killed,
    "platforms, protocols",
    ((), ["nfs", "afp"]),
)


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


def test_what_a_mac_cannot_restore_waits_for_lab_restore(new_bench: Callable[..., Bench]) -> None:
    bench, observer, before = prepared(new_bench("--rate", "200mbit", *MACS))
    fault = ("local", "fault", "--name", bench.name, "client", "mtu-refused")
    kill_in_a_transfer(bench, "nfs")
    bench.check_output(*fault, "9999")
    journal = "/private/var/db/file-share-lab/journal"
    for host in ("client", "server"):
        bench.inside(host, f"while [ -e {journal}/lease.socket ]; do sleep 0.2; done")
    bench.wait_until_free()
    records = bench.inside("client", f"cat {journal}/*-[0-9]*").splitlines()
    assert {json.loads(record)["operation"]["kind"] for record in records} == {"folder", "mac-mtu"}
    left = [what for what in difference(before, observer.state()) if "/file-share-lab" not in what]
    assert [what for what in left if "9000" not in what] == []
    bench.check_output(*fault, "0")
    bench.check_output("restore")
    observer.settle()
    assert difference(before, observer.state()) == []
