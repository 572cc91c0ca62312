"""`lab measure` against `cp` and `dd` typed by hand: ``python benchmarks/share_by_hand.py [--rounds N] [--rate RATE]``.

An ordinary user of a host of a local lab has mounted a share of SMB herself, by GVfs. In turns she measures that folder
with the lab, and moves as many bytes by hand, timed by her shell: `cp` and `sync`, `dd conv=fsync`, and `cp` of a file
that nothing of is in memory. A line has the median rates, and the median of the ratios in a round with its interval.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.local_lab import Bench
from support.measured import SERVER, Scene, arrange

from lab import stats

# $1 bytes, $2 the share, $3 a folder in memory; prints the seconds of each. What was written is read, after the kernel
# has let go of it (fdatasync and POSIX_FADV_DONTNEED), into memory
BY_HAND = """
cd "$3" && head -c "$1" /dev/urandom > payload
clock() { name=$1; shift; before=$(date +%s%N); "$@" || exit; echo "$name $(($(date +%s%N) - before))"; }
copy() { cp payload "$1/by-cp" && sync "$1/by-cp"; }
write() { dd if=payload of="$1/by-dd" bs=1M conv=fsync status=none; }
clock "cp write" copy "$2"
clock "dd write" write "$2"
dd of="$2/by-cp" count=0 conv=notrunc,fdatasync oflag=nocache status=none
dd if="$2/by-cp" count=0 iflag=nocache of=/dev/null status=none
clock "cp read" cp "$2/by-cp" back
cmp payload back; rm "$2/by-cp" "$2/by-dd" payload back
"""
LAB = {"cp write": "write", "dd write": "write", "cp read": "read"}  # what the lab's rate of cp is compared with


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--rate", default="1gbit")
    arguments = parser.parse_args()
    with scene_of("--rate", arguments.rate) as scene:
        folder = scene.mount(f"smb://{SERVER}/labram", f"lab\nWORKGROUP\n{scene.password}\n")
        by_lab: dict[str, list[float]] = {"write": [], "read": []}
        by_hand: dict[str, list[float]] = {name: [] for name in LAB}
        for _ in range(arguments.rounds):
            size_bytes = add_measured(scene, folder, by_lab)
            lines = scene.ann.shell(f"set -- {size_bytes} '{folder}' /dev/shm\n{BY_HAND}").splitlines()
            for name, nanoseconds in (line.rsplit(" ", 1) for line in lines):
                by_hand[name].append(size_bytes / int(nanoseconds) * 1e9)
        print(f"SMB by GVfs, {arguments.rate}, {size_bytes >> 20} MiB, {arguments.rounds} rounds; MB/s, lab / by hand")
        for name, direction in LAB.items():
            ratios = sorted(lab / hand for lab, hand in zip(by_lab[direction], by_hand[name], strict=True))
            low, high = stats.median_interval(ratios)
            rates = f"{statistics.median(by_lab[direction]) / 1e6:.1f} / {statistics.median(by_hand[name]) / 1e6:.1f}"
            print(f"{name}: {rates}, ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]")


def add_measured(scene: Scene, folder: str, rates: dict[str, list[float]]) -> int:
    """Measure once; add the median rate of the lab's copies each way, in bytes per second, and return their size."""
    measured = scene.measure(folder)
    if measured.returncode != 0:
        raise SystemExit(measured.stdout + measured.stderr)
    trials = [trial for trial in scene.trials() if (trial["tool"], trial["status"]) == ("cp", "ok")]
    for direction, past in rates.items():
        mine = [trial["size_bytes"] / trial["elapsed_s"] for trial in trials if trial["direction"] == direction]
        past.append(statistics.median(mine))
    return int(trials[0]["size_bytes"])


@contextmanager
def scene_of(*options: str) -> Iterator[Scene]:
    """A local lab of its own with servers and a user, taken down at the end."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        bench = Bench(f"bench-{os.getpid()}", Path(folder) / "bench")
        bench.directory.mkdir()

        def bring_up(*words: str) -> Bench:
            bench.up(*words)
            return bench

        try:
            yield arrange(bring_up, *options)
        finally:
            bench.lab("local", "down", "--name", bench.name)


if __name__ == "__main__":
    main()
