"""Set a disturbed block aside, so that it can be measured again. It is kept, but no longer counts."""

import itertools
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from lab.base import durable, untrusted
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial

# The end of the id of a trial that was set aside, and the beginning of a good one's reason
ASIDE, DISTURBED = "-disturbed", "disturbed: "
_SAMPLES_OF = re.compile(rb'\{"trial_id":"([A-Za-z0-9-]{1,200})"')


def set_aside(folder: RunFolder, block: int, reason: str) -> None:
    """Give all trials of a block other ids, and make the good ones void. No measured value changes. Raises BadInput.

    Each file is replaced as a whole: after a crash it is the old one or the new one.
    """
    trials = folder.trials()
    taken = {trial.trial_id for trial in trials}
    names = {
        trial.trial_id: next(name for name in _names(trial.trial_id) if name not in taken)
        for trial in trials
        if trial.block == block and not is_aside(trial)
    }
    lines = (json.dumps(_set_aside(trial, names, reason).to_json(), allow_nan=False) for trial in trials)
    durable.replace(folder.trials_path, "".join(f"{line}\n" for line in lines).encode())
    if os.path.lexists(folder.samples_path):
        with suppress(OSError):  # no result depends on samples
            samples = [_rename(line, names) for line in untrusted.read_lines(folder.samples_path)]
            durable.replace(folder.samples_path, b"".join(samples))


def is_aside(trial: Trial) -> bool:
    """Whether a trial was set aside."""
    return ASIDE in trial.trial_id


def _names(trial_id: str) -> itertools.chain[str]:
    return itertools.chain([f"{trial_id}{ASIDE}"], (f"{trial_id}{ASIDE}-{count}" for count in itertools.count(2)))


def _set_aside(trial: Trial, names: Mapping[str, str], reason: str) -> Trial:
    if trial.trial_id not in names:
        return trial
    renamed = replace(trial, trial_id=names[trial.trial_id])
    return replace(renamed, status="void", reason=f"{DISTURBED}{reason}") if trial.status == "ok" else renamed


def _rename(line: bytes, names: Mapping[str, str]) -> bytes:
    """A line of samples.jsonl with the trial's new id; the id is its first key."""
    match = _SAMPLES_OF.match(line)
    name = names.get(match[1].decode()) if match else None
    return line if match is None or name is None else b'{"trial_id":"' + name.encode() + b'"' + line[match.end() :]
