"""Whole sweeps with real servers and real mounts, and everything that can go wrong in the middle of one."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.local_lab import Bench, end
from support.secret_watch import shown_in

EVERYTHING: dict[str, Any] = {
    "size": "8 MiB",
    "protocol": ["afp", "smb", "nfs", "ssh"],
    "tool": ["cp", "rsync"],
    "mtu": [1500, 9000],
}


def check_observed(trial: dict[str, Any]) -> None:
    """Both hosts' counts agree with the trial and with each other."""
    observed, size, writes = trial["observed"], trial["size_bytes"], trial["direction"] == "write"
    client, server = observed["client"], observed["server"]
    assert (client["tx_bytes"], client["rx_bytes"]) == (trial["wire_tx_bytes"], trial["wire_rx_bytes"])
    assert abs(client["tx_bytes"] - server["rx_bytes"]) + abs(server["tx_bytes"] - client["rx_bytes"]) < 65536
    for name, side in (("client", client), ("server", server)):
        assert side["cpu_cores"] == pytest.approx(trial[f"{name}_cpu_s"] / trial["elapsed_s"], abs=0.001)
        assert sum(side[part] or 0 for part in ("user", "system", "softirq", "iowait", "steal")) < 1.01
        assert side["peak_bytes_per_s"] * trial["elapsed_s"] > 0.9 * size
    if trial["protocol"] != "ssh":  # that connection has ended when it is looked at, and may be too short for a sample
        tcp = observed["tcp"]
        assert (tcp["pmtu"], tcp["mss"]) == (trial["mtu"], trial["mtu"] - 52)
        assert min(tcp["acked_bytes"], tcp["received_bytes"]) > size
        assert min(trial["effective"]["client_sndbuf"], trial["effective"]["server_sndbuf"]) > 0
        assert 0 < observed["wire"]["least_overhead"] < observed["wire"]["overhead"]
    # a machine that stands still for a moment makes a step in the rate, or a mount fail once; each is a remark
    assert len(observed["remarks"]) == ("rate_step" in observed) + ("mount_tries" in observed)
    assert writes == (client["tx_bytes"] > client["rx_bytes"])


def test_a_whole_sweep_is_true_to_the_bytes(bench: Bench, executed: Callable[[Path, Path], None]) -> None:
    done = bench.run(**EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    trials = bench.trials()
    assert len(trials) == 28
    for trial in trials:
        assert trial["status"] == "ok", trial["reason"]
        assert trial["verified"]
        wire = trial["wire_tx_bytes" if trial["direction"] == "write" else "wire_rx_bytes"]
        assert trial["size_bytes"] <= wire <= 1.3 * trial["size_bytes"]
        effective = trial["effective"]
        assert effective["client_mtu"] == effective["server_mtu"] == str(trial["mtu"])
        assert effective["mount"] in ("gvfs", "kernel", "none")
        assert effective["dialect"]
        assert effective["clock"] == "monotonic"
        assert trial["client_cpu_s"] > 0
        assert trial["server_cpu_s"] > 0
        assert trial["ceiling_bytes_per_s"] > 0
        check_observed(trial)
    folder = bench.newest()
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert [each["trial_id"] for each in samples] == [trial["trial_id"] for trial in trials]
    assert done.stdout.splitlines()[-1] == f"results/{folder.name}"
    shown = bench.lab("show", "--full")
    assert "SMB" in shown.stdout
    assert "ceiling" in shown.stdout
    reported = bench.lab("report", str(folder))
    assert reported.returncode == 0, reported.stderr
    assert "local lab" in (folder / "report" / "report.html").read_text()
    executed(folder, folder / "report")
    assert (folder / "report" / "explore.html").stat().st_size > 100_000


def test_tcp_buffers_and_a_store_on_disk_take_effect(bench: Bench) -> None:
    done = bench.run(protocol=["smb"], tool=["cp"], tcp_space=["64 KiB", "default"], store=["ram", "disk"])
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in bench.trials():
        largest = int(trial["effective"]["server_tcp_rmem"].split()[2])
        assert (largest == 65536) == (trial["tcp_space"] == 65536)


def test_killed_restored_and_resumed_without_losing_or_repeating_a_trial(bench: Bench) -> None:
    before = bench.state()
    factors = {"protocol": ["smb", "ssh"], "mtu": [1500, 9000], "tcp_space": ["64 KiB"], "blocks": 2}
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(**factors))) as run:
        bench.wait_for('"b001-0003"', run)
        code, _ = end(run, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert bench.state() != before
    refused = bench.lab("run", "--resume", str(bench.newest()))
    assert refused.returncode == 2
    assert "lab restore" in refused.stderr
    restored = bench.lab("restore")
    assert restored.returncode == 0, restored.stderr
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore").stdout
    kept = [trial["trial_id"] for trial in bench.trials()]
    resumed = bench.lab("run", "--resume", str(bench.newest()))
    assert resumed.returncode == 0, resumed.stderr
    names = [trial["trial_id"] for trial in bench.trials()]
    assert names[: len(kept)] == kept
    assert len(names) == len(set(names)) == 16
    assert all(trial["status"] == "ok" for trial in bench.trials())


@pytest.mark.parametrize(
    "moment", ["mkdir -m", "stopwatch.pl eth0", "smbd.process", "gvfsd-fuse", "iperf3", '"$@" || :']
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_at_any_moment_everything_is_put_back(bench: Bench, moment: str, number: signal.Signals) -> None:
    before = bench.state()
    sweep = bench.sweep(protocol=["smb"], mtu=[9000], tcp_space=["64 KiB"], blocks=5)
    with bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        bench.wait_for(moment, run)
        code, output = end(run, number)
    assert code == 128 + number, output
    assert "lab run --resume" in output
    assert "Traceback" not in output
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore").stdout


def test_a_server_killed_in_the_middle_fails_its_trial_and_the_sweep_goes_on(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "100mbit")
    before = bench.state()
    sweep = bench.sweep(protocol=["smb"], tool=["cp"], direction=["write"], size="48 MiB", blocks=2)
    killer = bench.strike_under_way("smbd", 12_000_000, "pkill", "-KILL", "smbd")
    with bench.started(*killer) as watching, bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        output, _ = run.communicate(timeout=200)
        assert watching.wait() == 0
    first, second = bench.trials()
    assert (first["status"], second["status"]) == ("failed", "ok")
    assert "cp: exit code" in first["reason"]
    assert run.returncode == 1, output
    assert bench.state() == before


def test_a_full_disk_on_the_server_is_a_failed_trial(bench: Bench) -> None:
    bench.inside("server", "mkdir /srv/small; mount -t tmpfs -o size=8m,mode=1777 small /srv/small")
    try:
        hosts = bench.changed_hosts(share_path="/srv/small")
        factors = {"protocol": ["smb", "nfs"], "tool": ["cp"], "direction": ["write"], "store": ["disk"]}
        done = bench.run(hosts=hosts, size="16 MiB", **factors)
        assert done.returncode == 1
        assert [trial["status"] for trial in bench.trials()] == ["failed", "failed"]
        for trial in bench.trials():
            assert "space" in trial["reason"], trial["reason"]
        assert bench.inside("server", "ls /srv/small") == ""
    finally:
        bench.inside("server", "umount /srv/small; rmdir /srv/small")


def test_an_mtu_that_the_link_refuses_fails_its_cases_only(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--delay", "1ms")  # a TAP device takes a little less than the largest MTU there is
    done = bench.run(mtu=[1500, 65535], direction=["write"])
    by_mtu = {trial["mtu"]: trial for trial in bench.trials()}
    assert done.returncode == 1
    assert by_mtu[1500]["status"] == "ok"
    assert by_mtu[65535]["status"] == "failed"
    assert "mtu" in by_mtu[65535]["reason"]


def test_a_ram_disk_larger_than_memory_is_refused_before_anything_else(bench: Bench) -> None:
    done = bench.run(hosts=bench.changed_hosts(server_ram_disk="100 TiB"))
    assert done.returncode == 1
    assert "does not fit" in done.stderr
    assert "does not fit" in json.loads((bench.newest() / "run.json").read_text())["ended"]
    assert not (bench.newest() / "trials.jsonl").exists()


def test_a_missing_program_is_named_with_its_package(bench: Bench) -> None:
    bench.inside("server", "mv /usr/sbin/netatalk /usr/sbin/netatalk.away")
    try:
        done = bench.run(protocol=["afp"])
        assert done.returncode == 1
        assert "server: afp needs netatalk\n`apt-get install netatalk`" in done.stderr
        assert not (bench.directory / "results").exists()
    finally:
        bench.inside("server", "mv /usr/sbin/netatalk.away /usr/sbin/netatalk")


def test_a_share_that_refuses_the_account_says_so(bench: Bench, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    secret = "not%40 it/w:o'r\"d\\$x,é"
    wrong.write_text(secret)
    hosts = bench.changed_hosts(share_password=f"file:{wrong}")
    # AFP's accounts are the system's own, so that a wrong password is refused there
    done = bench.run(hosts=hosts, protocol=["afp"], tool=["cp"], direction=["write"])
    assert done.returncode == 1
    (trial,) = bench.trials()
    assert trial["status"] == "failed"
    assert "afp://" in trial["reason"]
    assert "gio" in trial["reason"]  # on a busy machine it gives up in other words
    written = b"".join(path.read_bytes() for path in bench.newest().iterdir() if path.is_file())
    assert not shown_in(written + (done.stdout + done.stderr).encode(), secret)


@pytest.mark.parametrize("protocol", ["smb", "ssh"])
def test_an_ordinary_user_with_a_sudo_password(bench: Bench, protocol: str) -> None:
    password = next(line.partition("file:")[2] for line in bench.hosts.read_text().splitlines() if "file:" in line)
    user = {"user": "lab", "sudo": "password", "sudo_password": f"file:{password}"}
    keys = {f"{role}_{key}": value for role in ("client", "server") for key, value in user.items()}
    hosts = bench.changed_hosts(**keys)
    done = bench.run(hosts=hosts, protocol=[protocol], mtu=[9000], tcp_space=["64 KiB"])
    assert done.returncode == 0, done.stdout + done.stderr + json.dumps(bench.trials())
    secret = Path(password).read_text()
    logs = "".join(path.read_text() for path in bench.newest().iterdir() if path.is_file())
    assert secret not in logs


def test_no_sudo_is_explained(bench: Bench) -> None:
    hosts = bench.changed_hosts(client_user="lab", client_sudo="nopasswd")
    checked = bench.lab("check", "--hosts", str(hosts))
    assert checked.returncode == 1
    assert "sudo = password" in checked.stdout
    done = bench.run(hosts=hosts)
    assert done.returncode == 1
    assert "sudo = password" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_lab_that_went_down_took_its_changes_with_it(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(mtu=[9000], blocks=50))) as run:
        bench.wait_for('"b001-0001"', run)
        end(run, signal.SIGKILL)
    assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    restored = bench.lab("restore")
    assert restored.returncode == 0, restored.stderr
    assert "went with the local lab" in restored.stdout
    assert "nothing is left" in bench.lab("restore").stdout


def test_hosts_that_vanish_in_the_middle_end_the_run_with_one_message(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    with bench.started("run", "--hosts", str(bench.hosts), str(bench.sweep(protocol=["smb"], blocks=50))) as run:
        bench.wait_for('"b001-0001"', run)
        assert bench.lab("local", "down", "--name", bench.name).returncode == 0
        bench.wait_for(" lost ", run)
        code, output = end(run, signal.SIGINT)
    assert code in (1, -signal.SIGINT)  # it had ended by itself already, and a late signal ends Python's own clean-up
    # which it meets first is chance
    assert any(words in output for words in ("was taken down", "is not up", "there is no key"))
    assert "Traceback" not in output


def test_a_sweep_that_says_for_how_long_moves_what_the_link_takes_so_long_for_also_when_resumed(bench: Bench) -> None:
    sweep = bench.sweep(blocks=2, direction=["write"])
    sweep.write_text(sweep.read_text().replace('size = "4 MiB"', 'seconds = "0.2 s"'))
    done = bench.lab("run", "--hosts", str(bench.hosts), str(sweep))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a trial moves " in done.stdout + done.stderr
    size = json.loads((bench.newest() / "run.json").read_text())["payload_bytes"]
    path = bench.newest() / "trials.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    first = [shot for shot in map(json.loads, lines[:2]) if shot["protocol"] == "link"]
    rate = max(shot["size_bytes"] / shot["elapsed_s"] for shot in first)
    assert 0.2 * rate <= size + 2**20 < 0.4 * rate + 2**21
    path.write_text("".join(line for line in lines if not json.loads(line)["trial_id"].startswith("b002")))
    resumed = bench.lab("run", "--resume", str(bench.newest()))
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert "a trial moves " not in resumed.stdout + resumed.stderr
    assert [trial["size_bytes"] for trial in bench.trials()] == [size, size]
