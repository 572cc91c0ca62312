"""Which protocols work between which emulated Macs and Linux, as a table in Markdown. It tries, and measures nothing.

    python benchmarks/mac_pairs.py                              # every pair below: hours
    python benchmarks/mac_pairs.py 10.6,linux linux,15.5 12,26  # these, client first

Each pair gets a local lab of its own, in which a file goes both ways over every protocol. Without arguments every
version is paired with Linux both ways, with itself, and with the next version both ways. Needs root.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise

from bench_lab import bench_lab, opened

from emulated_mac.profiles import PROFILES
from lab.base.errors import LabFailure, Unsupported
from lab.design.case import Case
from lab.design.factors import Direction
from lab.run.begin.capability import Capability
from lab.run.case.session import Session
from lab.run.transfer.transfer import transfer

PROTOCOLS = {"afp": "cp", "nfs": "cp", "smb": "cp", "ssh": "rsync"}  # and the tool that copies
SIZE_BYTES, DEADLINE_S = 1 << 20, 120.0
Pair = tuple[str, str]


def main() -> None:
    """A row for each pair as it is done, and what the numbers in it stand for at the end."""
    pairs = [tuple(word.split(",")) for word in sys.argv[1:]] or every_pair()
    reasons: dict[str, int] = {}
    print(f"| client | server | {' | '.join(PROTOCOLS)} |\n|{'---|' * (2 + len(PROTOCOLS))}", flush=True)
    try:
        for client, server in pairs:
            cells = " | ".join(tried(client, server, reasons))
            print(f"| {client} | {server} | {cells} |", flush=True)
    finally:
        for reason, number in reasons.items():
            print(f"\n{number}. {reason}", end="")
        print(flush=True)


def every_pair() -> list[Pair]:
    """Each once."""
    versions = list(PROFILES)
    pairs = [pair for one in versions for pair in ((one, "linux"), ("linux", one))]
    pairs += [(one, one) for one in versions]
    return pairs + [pair for old, new in pairwise(versions) for pair in ((old, new), (new, old))]


def tried(client: str, server: str, reasons: dict[str, int]) -> Iterator[str]:
    """A cell for each protocol; reasons get numbers, the same for the same."""
    platforms = [name if name == "linux" else f"macos@{name}" for name in (client, server)]
    options = ("--platform", f"client={platforms[0]}", "--platform", f"server={platforms[1]}")
    with bench_lab(*options) as lab, opened(lab.hosts) as session:
        for protocol in PROTOCOLS:
            word, reason = outcome(session, protocol)
            yield f"{word} {reasons.setdefault(reason, len(reasons) + 1)}" if reason else word


def outcome(session: Session, protocol: str) -> tuple[str, str]:
    """What becomes of a file that goes there and back: ``works``, and by which dialect, or how it ends, and why."""
    dialect = ""
    for direction in Direction:
        case = Case(protocol, PROTOCOLS[protocol], direction, 1500, "default", "ram", "file", SIZE_BYTES)
        try:
            Capability(session.shares).left_out([case])
            measured = transfer(session, case, f"{protocol}-{direction}", DEADLINE_S)
        except Unsupported as error:
            return "refused", str(error).splitlines()[0]
        except LabFailure as error:
            session.recover()
            return "failed", " / ".join(str(error).splitlines())
        if measured.void:
            return "void", measured.void
        dialect = measured.effective.dialect or ""
    return f"works ({dialect})" if dialect and protocol != "ssh" else "works", ""


if __name__ == "__main__":
    main()
