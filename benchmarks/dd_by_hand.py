"""The lab's dd against dd typed by hand, over AFP, SMB and NFS: ``python benchmarks/dd_by_hand.py [--rounds N]``.

In turns the lab moves a file by its tool `dd`, and a shell on the client moves another one over the same mount, as a
person would: `dd conv=fsync`, or after caches were dropped `dd` into memory and `sync` of what came. A line has the
median rates, and the median of the ratios in a round with its interval.
"""

from __future__ import annotations

import argparse
import itertools
import statistics

from bench_lab import bench_lab, opened

from lab import stats
from lab.design.case import Case
from lab.design.factors import Direction
from lab.hosts import Role
from lab.run.session import Session
from lab.run.transfer import transfer

# $1 bytes, $2 the folder in the share, $3 one in memory, $4 of which direction: prints nanoseconds by the shell's clock
BY_HAND = """
set -e
head -c "$1" /dev/urandom > "$3/by-hand"
now() { date +%s%N; }
if [ "$4" = write ]; then
    before=$(now); dd if="$3/by-hand" of="$2/by-hand" bs=1M conv=fsync status=none; after=$(now)
else
    dd if="$3/by-hand" of="$2/by-hand" bs=1M conv=fsync status=none
    dd of="$2/by-hand" count=0 conv=notrunc,fdatasync oflag=nocache status=none
    dd if="$2/by-hand" count=0 iflag=nocache of=/dev/null status=none
    before=$(now); dd if="$2/by-hand" of="$3/back" bs=1M status=none; sync "$3/back"; after=$(now)
    cmp "$3/by-hand" "$3/back"
fi
rm -f "$2/by-hand" "$3/by-hand" "$3/back"
echo $((after - before))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--mib", type=int, default=128)
    given = parser.parse_args()
    print(f"{given.rate}, {given.mib} MiB, blocks of 1 MiB, {given.rounds} rounds; MB/s, lab / by hand")
    with bench_lab("--rate", given.rate) as lab, opened(lab.hosts) as session:
        for protocol, direction in itertools.product(("afp", "smb", "nfs"), Direction):
            case = Case(protocol, "dd", direction, 1500, "default", "ram", "file", given.mib << 20)
            rates = [(by_lab(session, case, number), by_hand(session, case)) for number in range(given.rounds)]
            ratios = sorted(mine / typed for mine, typed in rates)
            low, high = stats.median_interval(ratios)
            medians = " / ".join(f"{statistics.median(column) / 1e6:.1f}" for column in zip(*rates, strict=True))
            print(
                f"{protocol} {direction}: {medians}, ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]",
                flush=True,
            )


def by_lab(session: Session, case: Case, number: int) -> float:
    """The rate of a trial, in bytes per second."""
    measured = transfer(session, case, f"{case.protocol}-{case.direction}-{number}", 600)
    if measured.void:
        raise SystemExit(measured.void)
    return case.size_bytes / measured.timing.elapsed_s


def by_hand(session: Session, case: Case) -> float:
    """The rate by hand over the mount that stands, in bytes per second."""
    standing, client = session.stand(case), session.pair.sides[Role.CLIENT]
    in_share = f"{standing.attached.path}{standing.folder.removeprefix(standing.share.path)}"
    words = (str(case.size_bytes), in_share, f"{client.directory}/ram", str(case.direction))
    return case.size_bytes / int(client.host.shell(BY_HAND, *words, deadline_s=600).stdout) * 1e9


if __name__ == "__main__":
    main()
