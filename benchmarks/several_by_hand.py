"""Several clients against a loop typed by hand and elbencho, and the lab's starts against time stamps of packets.

``python benchmarks/several_by_hand.py [--rounds N] [--clients N] [--elbencho PROGRAM]``: in turns the lab has N clients
of a local lab write a file each, and a shell does `for … cp … & done; wait` over the same mounts; with an elbencho that
was built elsewhere, its services on the clients do so, too. One line a protocol: the rates until the last client ended,
and the medians of the ratios in a round with their intervals. Then the lab's times between starts against the times
between each client's first frames of data, as the kernel stamped them. Then, for each number of clients up to N, what a
trial takes beside its slowest client.
"""

import argparse
import socket
import statistics
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench_lab import BenchLab, bench_lab, in_share_of, opened
from elbencho_services import services
from packet_clock import frames_of, next_frame

from lab import stats
from lab.design.case import Case
from lab.design.factors import OPTIONS, Direction
from lab.hosts import Role
from lab.results.together import Together
from lab.run.case.session import Session
from lab.run.transfer.result import TransferResult
from lab.run.transfer.transfer import transfer

MIB = 2**20
DEADLINE_S = 600.0
# $1 bytes, $2 a folder in memory
MAKE = 'head -c "$1" /dev/urandom > "$2/by-hand"'
# of each client a process, its file, and where to in the share; prints nanoseconds
LOOP = """
before=$(date +%s%N)
while [ $# -gt 0 ]; do
    nsenter --target "$1" --all -- sh -c 'cp "$1" "$2" && sync "$2"' sh "$2" "$3" &
    shift 3
done
wait
echo $(($(date +%s%N) - before))
"""
COUNT = 'cat "$1"/by-hand-* | wc -c'  # $1 a folder


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--elbencho", type=Path, help="the program, of version 3.1")
    arguments = parser.parse_args()
    with bench_lab("--clients", str(arguments.clients)) as lab, opened(lab.hosts) as session:
        for protocol in ("smb", "nfs"):
            compare(lab, session, case_of(protocol, arguments.clients, 32 * MIB), arguments.rounds, arguments.elbencho)
        print(
            f"{'clients':>8}{'slowest s':>11}{'beside it s':>13}   median of {arguments.rounds}, NFS write, 4 MiB each"
        )
        for clients in (1, 2, 4, 8, 16):
            if clients <= arguments.clients:
                print_overhead(session, case_of("nfs", clients, 4 * MIB), arguments.rounds)


def case_of(protocol: str, clients: int, size_bytes: int) -> Case:
    """A write by so many clients."""
    options = tuple((OPTIONS | {"clients": str(clients)}).items())
    return Case(protocol, "cp", Direction.WRITE, 1500, "default", "ram", "file", size_bytes, options=options)


def compare(lab: BenchLab, session: Session, case: Case, rounds: int, elbencho: Path | None) -> None:
    """One line of the comparison."""
    by_lab, by_hand, by_elbencho, errors_ms, skews_ms, void = [], [], [], [], [], 0
    clients = [pair.hosts[Role.CLIENT].name for pair in session.pairs[: case.clients]]
    session.set_up(case)
    with services(lab, session.pairs[: case.clients], elbencho) as write:
        for number in range(rounds):
            with ExitStack() as stack:
                links = [stack.enter_context(frames_of(lab.pid(client))) for client in clients]
                measured = transfer(session, case, f"b{number:03d}-0001", DEADLINE_S)
                first_s = [first_time(link) for link in links]
            void += bool(measured.void)
            starts_s = [client.started_s or 0.0 for client in together_of(measured).clients or ()]
            to_data_s = [first - start for first, start in zip(first_s, starts_s, strict=True)]
            middle_s = statistics.median(to_data_s)
            errors_ms += [1000 * abs(one - middle_s) for one in to_data_s]
            skews_ms.append(1000 * (together_of(measured).skew_s or 0.0))
            by_lab.append(case.clients * case.size_bytes / measured.timing.elapsed_s)
            by_hand.append(case.clients * case.size_bytes / copy_by_hand(lab, session, case))
            if write:
                by_elbencho.append(case.clients * case.size_bytes / write(session, case))
    print(
        f"{case.protocol} write, {case.clients} clients, {case.size_bytes // MIB} MiB each, {rounds} rounds: MB/s "
        f"{statistics.median(by_lab) / 1e6:.1f}{beside('by hand', by_lab, by_hand)}"
        f"{beside('elbencho', by_lab, by_elbencho)}; skew {statistics.median(skews_ms):.1f} ms at the "
        f"median, {max(skews_ms):.1f} at most; first frames lie {statistics.median(errors_ms):.1f} ms at the median "
        f"and {max(errors_ms):.1f} at most from where the starts have them; {void} void",
        flush=True,
    )


def beside(name: str, by_lab: Sequence[float], others: Sequence[float]) -> str:
    """What another way came to, and the lab's over it within rounds; empty where it was not asked."""
    if not others:
        return ""
    ratios = sorted(one / other for one, other in zip(by_lab, others, strict=True))
    low, high = stats.median_interval(ratios)
    median_mb = statistics.median(others) / 1e6
    return f", {name} {median_mb:.1f}, ratio {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]"


def print_overhead(session: Session, case: Case, rounds: int) -> None:
    """One line of the table: the first trial of a case stands its share up, and is not counted."""
    slowest_s, beside_s = [], []
    for number in range(rounds + 1):
        started = time.monotonic()
        measured = transfer(session, case, f"b{number:03d}-0001", DEADLINE_S)
        took_s = time.monotonic() - started
        parts = together_of(measured).clients or ()
        longest_s = max(((part.ended_s or 0.0) - (part.started_s or 0.0) for part in parts), default=None)
        slowest_s.append(measured.timing.elapsed_s if longest_s is None else longest_s)
        beside_s.append(took_s - slowest_s[-1])
    print(
        f"{case.clients:8}{statistics.median(slowest_s[1:]):11.2f}{statistics.median(beside_s[1:]):13.2f}", flush=True
    )


def together_of(measured: TransferResult) -> Together:
    """What is known of each client."""
    return measured.observed.together or Together()


def copy_by_hand(lab: BenchLab, session: Session, case: Case) -> float:
    """Seconds that it takes from the first `cp` to the end of the last, files of each client made before."""
    words: list[str] = []
    for pair in session.pairs[: case.clients]:
        client, in_share = pair.hosts[Role.CLIENT], in_share_of(session, case, pair)
        ram = f"{pair.sides[Role.CLIENT].directory}/ram"
        client.shell(MAKE, str(case.size_bytes), ram)
        words += [str(lab.pid(client.name)), f"{ram}/by-hand", f"{in_share}/by-hand-{client.name}"]
    timed = subprocess.run(["/bin/sh", "-c", LOOP, "sh", *words], capture_output=True, text=True, check=True)
    server, folder = session.pair.hosts[Role.SERVER], session.setup_of(case, session.pair).folder
    arrived = server.shell(COUNT, folder, check=False).stdout
    if int(arrived) != case.clients * case.size_bytes:
        raise SystemExit(f"by hand {arrived} bytes arrived: {timed.stderr}")
    for pair, made, copied in zip(session.pairs, words[1::3], words[2::3], strict=False):
        pair.hosts[Role.CLIENT].run("rm", made, copied)  # by the mount, or NFS would go on with a stale handle
    return int(timed.stdout) / 1e9


def first_time(link: socket.socket) -> float:
    """When the first frame left by a link, in seconds since 1970."""
    while True:
        time_ns, is_outgoing, _ = next_frame(link)
        if is_outgoing:
            return time_ns / 1e9


if __name__ == "__main__":
    main()
