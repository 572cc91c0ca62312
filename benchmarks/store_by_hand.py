"""The lab's dd, fio and bonnie++ on the server against all three typed by hand: ``python benchmarks/store_by_hand.py``.

In turns the lab measures the server's store, and a shell on the server does the same in a folder beside it: `dd
conv=fsync` of noise, `dd` into nothing after caches were dropped, `fio` for ten seconds each way, `bonnie++ -q`. A line
has the medians, and the median of the ratios in a round with its interval. Needs root.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_lab import bench_lab, opened

from lab import stats
from lab.base.present import present
from lab.design.blocks import Slot
from lab.design.case import Case
from lab.design.factors import Direction
from lab.design.sweep_file import Sweep
from lab.hosts import Role
from lab.hosts.own_folder import new_name
from lab.results.observed import Bonnie, Requests
from lab.results.trial import Trial
from lab.run.case.session import Session
from lab.run.ceilings import store_ceiling
from lab.run.ceilings.store_tools import MEASURES, OwnStore
from lab.workloads.bonnie import parse_report as parse_bonnie
from lab.workloads.fio import parse_report as parse_fio

MIB = 2**20
PATH = "/srv/disk"  # of the local lab's server
# $1 the folder, $2 bytes; prints nanoseconds of three writes, then of three reads
DD = """
set -e; cd "$1"; trap 'rm -f by-hand-? noise' EXIT
now() { date +%s%N; }
head -c "$2" /dev/urandom > noise; sync noise
for turn in 1 2 3; do
    before=$(now); dd if=noise of=by-hand-$turn bs=1M conv=fsync status=none; echo $(($(now) - before))
done
sync; echo 3 > /proc/sys/vm/drop_caches
for turn in 1 2 3; do # each another file: what lies below a virtual disk keeps what was read once
    before=$(now); dd if=by-hand-$turn of=/dev/null bs=1M status=none; echo $(($(now) - before))
done
"""
# $1 the folder, $2 bytes, $3 read or write
FIO = """
set -e; cd "$1"; trap 'rm -f by-hand' EXIT
head -c "$2" /dev/urandom > by-hand; sync by-hand
fio --name=by-hand --filename=by-hand --rw="rand$3" --bs=4k --size="$2" --direct=1 --ioengine=libaio --iodepth=1 \\
    --runtime=10 --output-format=json --lat_percentiles=1 --clat_percentiles=0 --percentile_list=50:95:99:99.9
"""
# $1 the folder, $2 MiB
BONNIE = 'bonnie++ -d "$1" -s "$2" -r 0 -q -u root 2>/dev/null'
Rates = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--mib", type=int, default=256, help="of a file of dd and fio; bonnie++ has the same")
    arguments = parser.parse_args()
    print(f"{arguments.rounds} rounds, lab / by hand; dd, bonnie++: MB/s of {arguments.mib} MiB; fio: IOPS", flush=True)
    with bench_lab() as lab, opened(lab.hosts) as session:
        rounds = [(by_lab(session, arguments.mib), by_hand(session, arguments.mib)) for _ in range(arguments.rounds)]
    for name in rounds[0][0]:
        report(name, [(mine[name], typed[name]) for mine, typed in rounds if name in mine and name in typed])


def report(name: str, rates: Sequence[tuple[float, float]]) -> None:
    """A line of the table."""
    ratios = sorted(mine / typed for mine, typed in rates)
    if not ratios:
        print(f"{name}: too short for a number")
        return
    low, high = stats.median_interval(ratios)
    medians = " / ".join(f"{statistics.median(column):.1f}" for column in zip(*rates, strict=True))
    print(f"{name}: {medians}, ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]", flush=True)


def by_lab(session: Session, mib: int) -> Rates:
    """What the lab measures."""
    rates: Rates = {}
    for tool in ("dd", "fio", "bonnie++"):
        trials = list(measured(session, tool, mib))
        of_dd = [trial for trial in trials if trial.tool == "dd"]
        for way in Direction:
            shots = [trial.size_bytes / present(trial.elapsed_s) / 1e6 for trial in of_dd if trial.direction == way]
            rates |= {f"dd {way}": statistics.median(shots)} if shots else {}
        for trial in trials:
            rates |= iops(trial.observed.requests) if trial.observed.requests else {}
            rates |= tests(trial.observed.bonnie) if trial.observed.bonnie else {}
    return rates


def measured(session: Session, tool: str, mib: int) -> Iterator[Trial]:
    """The trials of one tool, in a folder of its own."""
    pair, size_bytes = session.pair, mib * MIB
    factors = {"protocol": ["ssh"], "store": ["disk"]}
    keys = {"name": "benchmark", "store_tools": [tool], "workload": {"size": f"{3 * size_bytes}"}, "factors": factors}
    sweep = Sweep.model_validate(keys | ({"bonnie_size": f"{size_bytes}"} if tool == "bonnie++" else {}))
    case = Case("ssh", "rsync", Direction.WRITE, 1500, "default", "disk", "file", 3 * size_bytes)
    rows = store_ceiling.plan_rows(pair, Slot(1, 1, case), sweep)
    with session.settings.scope():
        folder, files = f"{PATH}/{new_name()}", pair.platforms[Role.SERVER].files
        session.settings.apply(files.folder(folder, "any", pair.sides[Role.SERVER].user))
        sized = [replace(row, size_bytes=size_bytes) for row in rows]
        yield from MEASURES[tool](OwnStore(pair, folder), sized)


def by_hand(session: Session, mib: int) -> Rates:
    """What a shell on the server measures."""
    host, size = session.pair.hosts[Role.SERVER], str(mib * MIB)

    def typed(script: str, *words: str) -> str:
        return host.shell(script, PATH, *words, root=True, deadline_s=3600).stdout

    speeds = [mib * MIB / int(line) * 1e3 for line in typed(DD, size).split()]
    rates = {"dd write": statistics.median(speeds[:3]), "dd read": statistics.median(speeds[3:])}
    for way in Direction:
        rates |= iops(parse_fio(typed(FIO, size, str(way))))
    return rates | tests(parse_bonnie(typed(BONNIE, str(mib)), cached=True))


def iops(requests: Requests) -> Rates:
    """The IOPS in each direction that was measured."""
    ways = {"read": requests.read, "write": requests.write}
    return {f"fio {name}": present(way.iops) for name, way in ways.items() if way}


def tests(report: Bonnie) -> Rates:
    """The tests of bonnie++ that have a number: MB/s, or operations a second."""
    rates: Rates = {}
    for name in ("write_char", "write_block", "rewrite", "read_char", "read_block", "seeks", "create", "delete"):
        if test := getattr(report, name):
            rates |= {f"bonnie++ {name}": test.bytes_per_s / 1e6} if test.bytes_per_s else {}
            rates |= {f"bonnie++ {name}": test.per_s} if test.per_s else {}
    return rates


if __name__ == "__main__":
    main()
