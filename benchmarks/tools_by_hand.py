"""The lab's dd and fio against both typed by hand, over AFP, SMB and NFS: ``python benchmarks/tools_by_hand.py``.

In turns the lab runs a trial, and a shell on the client does the same over the same mount, as a person would: `dd
conv=fsync`, or after caches were dropped `dd` into memory and `sync` of what came; `fio` with requests of 4 KiB, whose
IOPS are compared as fio prints them. A line has the medians, and the median of the ratios in a round with its interval.
"""

import argparse
import itertools
import statistics
from collections.abc import Callable

from bench_lab import bench_lab, in_share_of, opened

from lab import stats
from lab.base.present import present
from lab.design.case import Case
from lab.design.factors import OPTIONS, Direction
from lab.hosts import Role
from lab.results.observed import Requests
from lab.run.case.session import Session
from lab.run.transfer.result import TransferResult
from lab.run.transfer.transfer import transfer
from lab.workloads.fio import parse_report

# $1 bytes, $2 the folder in the share, $3 one in memory, $4 of which direction
BEGIN = """
set -e
trap 'rm -f "$2/by-hand" "$3/by-hand" "$3/back"' EXIT
head -c "$1" /dev/urandom > "$3/by-hand"
lay() {
    dd if="$3/by-hand" of="$2/by-hand" bs=1M conv=fsync status=none
    dd of="$2/by-hand" count=0 conv=notrunc,fdatasync oflag=nocache status=none
    dd if="$2/by-hand" count=0 iflag=nocache of=/dev/null status=none
}
now() { date +%s%N; }
"""
# prints nanoseconds by the shell's clock
DD = """
if [ "$4" = write ]; then
    before=$(now); dd if="$3/by-hand" of="$2/by-hand" bs=1M conv=fsync status=none; after=$(now)
else
    lay "$@"
    before=$(now); dd if="$2/by-hand" of="$3/back" bs=1M status=none; sync "$3/back"; after=$(now)
    cmp "$3/by-hand" "$3/back"
fi
echo $((after - before))
"""
# prints fio's report; the file has its name without the colons of GVfs, which fio takes for the end of a name
FIO = """
lay "$@"
cd "$2"
fio --name=by-hand --filename=by-hand --rw="rand$4" --bs=4k --size="$1" --direct=1 --ioengine=libaio --iodepth=4 \
    --output-format=json --lat_percentiles=1 --clat_percentiles=0 --percentile_list=50:95:99:99.9
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--mib", type=int, default=64, help="of a transfer by dd; fio asks for an eighth of that")
    arguments = parser.parse_args()
    print(
        f"{arguments.rate}, {arguments.rounds} rounds, lab / by hand; dd: MB/s of {arguments.mib} MiB, blocks of 1 MiB;"
    )
    print(f"fio: IOPS of {arguments.mib >> 3} MiB, 4 KiB at random, 4 under way")
    with bench_lab("--rate", arguments.rate) as lab, opened(lab.hosts) as session:
        for tool, protocol, direction in itertools.product(RATES, ("afp", "smb", "nfs"), Direction):
            size_bytes = arguments.mib << 20 if tool == "dd" else arguments.mib << 17
            options = (*OPTIONS.items(), *((("fio.iodepth", "4"),) if tool == "fio" else ()))
            case = Case(protocol, tool, direction, 1500, "default", "ram", "file", size_bytes, options)
            of_lab, of_hand = RATES[tool]
            rates = [
                (of_lab(by_lab(session, case, number), case), of_hand(session, case))
                for number in range(arguments.rounds)
            ]
            report(f"{tool} {protocol} {direction}", rates)


def report(name: str, rates: list[tuple[float, float]]) -> None:
    """A line of the table."""
    ratios = sorted(mine / typed for mine, typed in rates)
    low, high = stats.median_interval(ratios)
    medians = " / ".join(f"{statistics.median(column):.1f}" for column in zip(*rates, strict=True))
    print(f"{name}: {medians}, ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]", flush=True)


def by_lab(session: Session, case: Case, number: int) -> TransferResult:
    """A trial."""
    measured = transfer(session, case, f"{case.protocol}-{case.direction}-{number}", 600)
    if measured.void:
        raise SystemExit(measured.void)
    return measured


def by_hand(session: Session, case: Case, script: str) -> str:
    """What a script prints on the client, over the mount that stands."""
    session.set_up(case)
    client, in_share = session.pair.sides[Role.CLIENT], in_share_of(session, case, session.pair)
    words = (str(case.size_bytes), in_share, f"{client.directory}/ram", str(case.direction))
    return client.host.shell(BEGIN + script, *words, deadline_s=600).stdout


def dd_of_lab(measured: TransferResult, case: Case) -> float:
    """MB/s."""
    return case.size_bytes / measured.timing.elapsed_s / 1e6


def dd_by_hand(session: Session, case: Case) -> float:
    """MB/s."""
    return case.size_bytes / int(by_hand(session, case, DD)) * 1e3


def iops(requests: Requests | None) -> float:
    """The IOPS in the direction that was measured."""
    asked = present(requests)
    return present(present(asked.read or asked.write).iops)


def fio_of_lab(measured: TransferResult, case: Case) -> float:
    """IOPS."""
    return iops(measured.observed.requests)


def fio_by_hand(session: Session, case: Case) -> float:
    """IOPS."""
    return iops(parse_report(by_hand(session, case, FIO)))


RATES: dict[str, tuple[Callable[[TransferResult, Case], float], Callable[[Session, Case], float]]] = {
    "dd": (dd_of_lab, dd_by_hand),
    "fio": (fio_of_lab, fio_by_hand),
}


if __name__ == "__main__":
    main()
