"""Does the lab name the right cause? ``python benchmarks/causes.py [--busy] [--only NAME …] [--seed N]``

Injects known causes into local labs of its own, each at a strength drawn by chance, singly and in pairs. Judges each
verdict of ``lab run``, which sees both ends, and of ``lab measure`` from the client alone:

- right: the verdict names the cause, or one of a pair;
- half: the evidence names it as near, or the verdict names a part of the cause;
- unclear: the verdict names nothing;
- wrong: it names something else.

A direction that a cause does not touch is judged as the link is. Needs root and nftables (`apt-get install nftables`).
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from causes_injected import CAUSES, Cause, Place, black_hole
from support.inside_host import PYTHON
from support.local_lab import Bench
from support.measured import arrange

from lab.results import run_folder
from lab.stats.bottleneck import verdicts
from lab.stats.limit import LINK, UNCLEAR


@dataclass(frozen=True)
class Judged:
    """A verdict of the lab on one case: ``judgement`` is right, half, unclear or wrong."""

    cause: str
    strength: float
    view: str
    case: str
    speed: float
    limited_by: str
    grade: str
    judgement: str
    evidence: str

    def __str__(self) -> str:
        case = f"{self.cause} {self.strength:g}, {self.view}, {self.case}, {self.speed / 1e6:.3g} MB/s"
        return f"{self.judgement:8}{case}: {self.limited_by} ({self.grade}): {self.evidence}"


def main() -> None:
    """Inject each cause once a round, and print every verdict and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="causes by the beginning of their names")
    parser.add_argument("--view", choices=("run", "measure"))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="beside a program that takes a core")
    arguments = parser.parse_args()
    chance, every = random.Random(arguments.seed), []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])] if arguments.busy else []
    try:
        for cause in CAUSES * arguments.rounds:
            strength = cause.strength(chance)
            if arguments.only and not any(cause.name.startswith(word) for word in arguments.only):
                continue
            for view in cause.views:
                if arguments.view in (None, view):
                    for judged in injected(cause, strength, view):
                        print(judged, flush=True)
                        every.append(judged)
    finally:
        for program in busy:
            program.kill()
            program.wait()
    print_sums(every)


def print_sums(every: Sequence[Judged]) -> None:
    """How many verdicts of each view were right, by grade."""
    words = ("right", "half", "unclear", "wrong")
    for view in ("run", "measure"):
        print(f"\n{view:10}" + "".join(f"{word:>9}" for word in words))
        for grade in ("certain", "probable", "unclear", None):
            count = Counter(
                judged.judgement for judged in every if judged.view == view and grade in (None, judged.grade)
            )
            total = sum(count.values())
            shares = "".join(f"{count[word]:>9}" for word in words)
            print(f"{grade or 'all':10}{shares}{total:>9}" + ("" if grade else " verdicts"))


def injected(cause: Cause, strength: float, view: str) -> Iterator[Judged]:
    """The verdicts on each case with a cause in place."""
    with tempfile.TemporaryDirectory(prefix="causes-") as folder, ExitStack() as stack:
        bench = Bench(f"causes-{os.getpid()}", Path(folder) / "bench")
        bench.directory.mkdir()
        stack.callback(bench.lab, "local", "down", "--name", bench.name)
        options = [word.format(f"{strength:g}") for word in cause.options]

        def bring_up(*_: str) -> Bench:
            bench.up(*options, ceilings=view == "run")
            return bench

        scene = arrange(bring_up) if view == "measure" else None
        if not scene:
            bring_up()
        with ExitStack() as later:
            place = Place(bench, scene, later, Path(folder))
            changes = dict(cause.inject(place, strength))
            runs = list(ran(place, cause, changes) if not scene else measured(place, cause, changes))
        for run in runs:
            yield from judge(cause, strength, view, run)


def ran(place: Place, cause: Cause, changes: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of a sweep over SMB and NFS."""
    factors = {"protocol": ["smb", "nfs"], "tool": ["cp"], "size": "48 MiB", **changes, **cause.factors}
    keys = {key.removeprefix("hosts_"): factors.pop(key) for key in list(factors) if key.startswith("hosts_")}
    done = place.bench.run(hosts=place.bench.changed_hosts(**keys) if keys else None, **factors)
    if done.returncode > 1:
        raise SystemExit(done.stdout + done.stderr)
    yield place.bench.newest()


def measured(place: Place, cause: Cause, changes: Mapping[str, Any]) -> Iterator[Path]:
    """The folders of measurements by ann, of SMB and of NFS where the cause is in both."""
    scene = place.scene
    assert scene
    kept = place.folder / "kept"
    protocols = ["smb"] if changes or cause.factors.get("protocol") == ["smb"] else ["smb", "nfs"]
    for protocol in protocols:
        target = changes.get("target") or scene.url(protocol) + changes.get("folder", "")
        scene.ann.shell("rm -rf results")
        words = scene.ann.words(PYTHON, "-m", "lab", *scene.options(target, seconds=10), SECRET=scene.password)
        done = subprocess.run(["/bin/sh", "-c", JOIN, "sh", place.bench.name, *words], capture_output=True, text=True)
        results = Path(f"/proc/{place.bench.init('client')}/root{scene.ann.home}/results")
        if cause.inject is black_hole:
            print(f"{'right' if 'packets of' in done.stderr else 'wrong':8}{cause.name}: {done.stderr.strip()}")
            return
        if done.returncode > 1 or not (found := sorted(results.glob("*/run.json"))):
            print(f"wrong   {cause.name}, {protocol}: no answer: {done.stdout[-300:]}{done.stderr[-600:]}")
            continue
        shutil.copytree(found[-1].parent, f"{kept}-{protocol}")
        yield Path(f"{kept}-{protocol}")


# Joins the version-1 groups that hold a client to a quota, if there are any; $1 is the lab's name
JOIN = """
for kind in cpu cpuacct; do
    group=/sys/fs/cgroup/$kind/file-share-lab-$1-client
    [ ! -d "$group" ] || echo $$ > "$group/cgroup.procs"
done
shift; exec "$@"
"""


def judge(cause: Cause, strength: float, view: str, run: Path) -> Iterator[Judged]:
    """Each case's verdict against the truth."""
    for _, row in verdicts(run_folder.load(run)).iterrows():
        limited_by, evidence = str(row["limited_by"]), str(row["evidence"])
        right = cause.right if row["direction"] in cause.felt else (LINK,)
        near = evidence.partition("also near")[2]
        if limited_by in right:
            judgement = "right"
        elif limited_by == UNCLEAR:
            judgement = "unclear"
        elif limited_by in cause.half or any(name in near for name in right):
            judgement = "half"
        else:
            judgement = "wrong"
        case = f"{row['protocol']} {row['tool']} {row['direction']}"
        yield Judged(
            cause.name, strength, view, case, row["bytes_per_s"], limited_by, row["grade"], judgement, evidence
        )


if __name__ == "__main__":
    main()
