"""How fast hosts were in their newest run, to estimate the next one."""

import itertools
import statistics
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from lab.base.errors import BadInput
from lab.design.pace import READ_FROM, Pace, kinds, overhead_s, transfers
from lab.results.run_folder import RunFolder
from lab.results.run_names import paths_of_runs
from lab.results.trial import CEILINGS, Trial, read_time
from lab.run.ceilings import link_ceiling

LEAST_TRIALS = 4  # fewer say little about the time between trials


def newest(results: Path, hosts_file: Path) -> Pace:
    """The pace of the newest run on the hosts of this file that has enough trials; else the assumed pace."""
    for path in paths_of_runs(results):
        try:
            folder = RunFolder(path)
            if folder.run.get("hosts_file") == str(hosts_file.resolve()):
                trials = folder.trials()
                transfers = [trial for trial in trials if trial.protocol not in CEILINGS]
                if len(good := [trial for trial in transfers if trial.status == "ok"]) >= LEAST_TRIALS:
                    tests = [link_ceiling.rate(trial) for trial in trials if trial.protocol == link_ceiling.PROTOCOL]
                    fastest = max(filter(None, tests), default=0.0)
                    return Pace(_speeds(good), _factor(transfers), str(folder.path), fastest)
        except (BadInput, OSError):
            continue
    return Pace()


def _speeds(trials: Sequence[Trial]) -> dict[tuple[str, ...], float]:
    rates = defaultdict(list)
    for trial in trials:
        if trial.elapsed_s:
            for kind in kinds(trial):
                rates[kind].append(trial.size_bytes / trial.elapsed_s)
    return {kind: statistics.harmonic_mean(values) for kind, values in rates.items()}


def _factor(trials: Sequence[Trial]) -> float:
    """Seconds between trials over the assumed seconds, if no ceiling was measured in between."""
    measured_s = assumed_s = 0.0
    before: Trial | None = None
    for trial, after in itertools.pairwise(trials):
        if trial.elapsed_s and _network(trial) == _network(after):
            times = transfers(trial.options.get(READ_FROM, ""))  # to write the payload takes as long as to read it
            between_s = (read_time(after.started_at) - read_time(trial.started_at)).total_seconds()
            measured_s += max(0.0, between_s - times * trial.elapsed_s)
            serves = before is None or _server(before) != _server(trial)
            assumed_s += overhead_s(trial, serves)
        before = trial
    return measured_s / assumed_s if assumed_s and measured_s else 1.0


def _network(trial: Trial) -> tuple[object, ...]:
    return trial.block, trial.mtu, trial.tcp_space


def _server(trial: Trial) -> tuple[object, ...]:
    return *_network(trial), trial.protocol, trial.store, trial.options.get("server_sync")
