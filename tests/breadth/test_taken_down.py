"""`lab local down` while somebody is in a host: a run notices at once, and no way in is left."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from support.local_lab import Bench


def test_a_run_whose_lab_is_taken_down_ends_at_once_and_says_so(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--rate", "50mbit")
    sweep = bench.sweep(blocks=5, size="40 MiB")
    with bench.started("run", "--hosts", str(bench.hosts), str(sweep)) as run:
        bench.wait_for("stopwatch.pl", run)
        down = bench.lab("local", "down", "--name", bench.name)
        output, _ = run.communicate(timeout=80)  # 90 s are what a host gets that may come back
    assert down.returncode == 0, down.stderr
    assert run.returncode == 1
    assert "the local lab that this host belonged to was taken down" in output
    assert "Traceback" not in output
    again = bench.lab("restore")
    assert (again.returncode, again.stderr) == (0, "")
    assert "went with the local lab" in again.stdout


def test_commands_inside_end_with_the_lab(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench()
    mark = "612613"
    words = ("sh", "-c", f"echo in; sleep {mark}")
    with bench.started("local", "exec", "--name", bench.name, "client", "--", *words) as inside:
        assert inside.stdout is not None
        assert inside.stdout.readline() == "in\n"
        way = subprocess.Popen(bench.command("local", "exec", "--name", bench.name, "server", "--", "sleep", mark))
        assert bench.lab("local", "down", "--name", bench.name).returncode == 0
        assert inside.wait(60) != 0
        assert way.wait(60) != 0
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if mark.encode() in line]


def test_an_emulated_mac_goes_down_without_a_trace(new_bench: Callable[..., Bench]) -> None:
    bench = new_bench("--platform", "macos@26")
    attach = "hdiutil attach -nomount ram://65536; diskutil erasevolume HFS+ LAB disk4"
    bench.inside("client", f"sudo -u lab /bin/sh -c 'cd /private/tmp; {attach}'")
    assert bench.lab("local", "down", "--name", bench.name).returncode == 0
    mounts = subprocess.run(["cat", "/proc/mounts"], capture_output=True, text=True, check=True).stdout
    assert bench.name not in mounts
