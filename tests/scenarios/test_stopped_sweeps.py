"""A sweep that is killed, stopped or loses its hosts: everything is put back, and it goes on where it was."""

import signal
from collections.abc import Callable

import pytest
from support.local_lab import Bench, end


def test_killed_restored_and_resumed_without_losing_or_repeating_a_trial(bench: Bench) -> None:
    before = bench.state()
    factors = {"protocol": ["smb"], "mtu": [1500, 9000], "tcp_space": ["64 KiB"], "blocks": 2}
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
    assert len(names) == len(set(names)) == 8
    assert all(trial["status"] == "ok" for trial in bench.trials())


@pytest.mark.parametrize(
    ("moment", "number"),
    [("mkdir -m", signal.SIGINT), ("stopwatch.pl eth0", signal.SIGTERM), ("gvfsd-fuse", signal.SIGINT)],
)
def test_stopped_at_any_moment_everything_is_put_back(bench: Bench, moment: str, number: signal.Signals) -> None:
    before = bench.state()
    sweep = bench.sweep(protocol=["smb"], mtu=[9000], tcp_space=["64 KiB"], blocks=5)
    with bench.started("run", "--hosts", str(bench.with_ceilings()), str(sweep)) as run:
        bench.wait_for(moment, run)
        code, output = end(run, number)
    assert code == 128 + number, output
    assert "lab run --resume" in output
    assert "Traceback" not in output
    assert bench.state() == before
    assert "nothing is left" in bench.lab("restore").stdout


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
        output, _ = run.communicate(timeout=600)
    assert run.returncode == 1, output
    # which it meets first is chance
    assert any(words in output for words in ("was taken down", "is not up", "there is no key"))
    assert "Traceback" not in output
