"""elbencho's services on the clients of a local lab, which write a file each, all at once."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench_lab import BenchLab, in_share_of

from lab.design.case import Case
from lab.hosts import Role
from lab.run.case.pair import Pair
from lab.run.case.session import Session

PROGRAM = "/opt/elbencho/elbencho"
ENVIRONMENT = ("LD_LIBRARY_PATH=/opt/elbencho", "HOME=/root", "PATH=/usr/bin:/bin")
SERVICE_STARTS_S = 2.0
BLOCK = "256k"  # what cp of coreutils 9.5 and later reads and writes at once
Write = Callable[[Session, Case], float]


@contextmanager
def services(lab: BenchLab, pairs: Sequence[Pair], program: Path | None) -> Iterator[Write | None]:
    """elbencho's service on the client of each pair; gives how it writes a file from each, None without a program."""
    if program is None:
        yield None
        return
    names = [pair.hosts[Role.CLIENT].name for pair in pairs]
    for name in names:
        install(program, Path(f"/proc/{lab.pid(name)}/root/opt/elbencho"))
    words = [inside(lab, name, PROGRAM, "--service", "--foreground") for name in names]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in words]
    time.sleep(SERVICE_STARTS_S)
    try:
        yield partial(copy_by_elbencho, lab)
    finally:
        quit_all = inside(lab, names[0], PROGRAM, "--hosts", addresses(pairs), "--quit")
        subprocess.run(quit_all, capture_output=True, check=True)
        for service in running:
            service.wait()


def addresses(pairs: Sequence[Pair]) -> str:
    """The addresses of the clients in elbencho's form."""
    return ",".join(pair.sides[Role.CLIENT].address for pair in pairs)


def install(program: Path, folder: Path) -> None:
    """A program, and the libraries that it is linked with but for the C library's own, in a new folder of a host."""
    folder.mkdir(exist_ok=True)
    linked = subprocess.run(["/usr/bin/ldd", str(program)], capture_output=True, text=True, check=True).stdout.split()
    libraries = [word for word in linked if re.match(r"/.*/lib(boost|aio|numa)", word)]
    for path in (program, *map(Path, libraries)):
        shutil.copy(path, folder)


def inside(lab: BenchLab, client: str, *words: str) -> list[str]:
    """elbencho's command on a client."""
    return ["nsenter", "--target", str(lab.pid(client)), "--all", "--", "env", *ENVIRONMENT, *words]


def copy_by_elbencho(lab: BenchLab, session: Session, case: Case) -> float:
    """Seconds until the last service had written and flushed its file; the first client tells all to begin."""
    pairs = session.pairs[: case.clients]
    for pair in pairs:
        client, in_share = pair.hosts[Role.CLIENT], in_share_of(session, case, pair)
        client.shell('ln -sfn "$1" /opt/elbencho/share && rm -f /opt/elbencho/told', in_share)
    first = pairs[0].hosts[Role.CLIENT]
    size = f"{case.size_bytes}"
    command = [PROGRAM, "--hosts", addresses(pairs), "-d", "-w", "--sync", "-t", "1", "-n", "1", "-N", "1", "-s", size,
               "-b", BLOCK, "--jsonfile", "/opt/elbencho/told", "/opt/elbencho/share"]  # fmt: skip
    subprocess.run(inside(lab, first.name, *command), capture_output=True, text=True, check=True)
    phases_told = [json.loads(line) for line in first.shell("cat /opt/elbencho/told").stdout.splitlines()]
    first.shell('rm -r "$1"/r*', in_share_of(session, case, pairs[0]))
    phases = {phase["phase_type"]: phase["last_done"] for phase in phases_told}  # of SYNC the one behind WRITE
    if int(phases["WRITE"]["bytes"]) != case.clients * case.size_bytes:
        raise SystemExit(f"elbencho wrote {phases['WRITE']['bytes']} bytes")
    return sum(int(phases[name]["elapsed_time_ms"]) for name in ("WRITE", "SYNC")) / 1000
