"""Set trials aside, so that they can be measured again. They are kept, but no longer count."""

import itertools
import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace

from lab.base import durable, untrusted
from lab.results.run_folder import RunFolder
from lab.results.trial import Trial

# The end of the id of a trial of a block that others disturbed, and the beginning of a good one's reason
ASIDE, DISTURBED = "-disturbed", "disturbed: "
FAILED = "-failed"  # the end of the id of a failed trial that was measured again
_ENDING = re.compile(rf"({ASIDE}|{FAILED})(-\d+)?$")
_SAMPLES_OF = re.compile(rb'\{"trial_id":"([A-Za-z0-9-]{1,200})"')


def set_aside(folder: RunFolder, trial_ids: Collection[str], ending: str, reason: str = "") -> None:
    """Give trials other ids with this ending, and make good ones void; no measured value changes. Raises BadInput."""
    trials = folder.trials()
    taken = {trial.trial_id for trial in trials}
    names = {trial_id: next(name for name in _names(trial_id + ending) if name not in taken) for trial_id in trial_ids}
    lines = (json.dumps(_set_aside(trial, names, reason).to_json(), allow_nan=False) for trial in trials)
    durable.replace(folder.trials_path, "".join(f"{line}\n" for line in lines).encode())
    if os.path.lexists(folder.samples_path):
        with suppress(OSError):  # no result depends on samples
            samples = [_rename(line, names) for line in untrusted.read_lines(folder.samples_path)]
            durable.replace(folder.samples_path, b"".join(samples))


def is_aside(trial_id: str) -> bool:
    """Whether a trial was set aside."""
    return _ENDING.search(trial_id) is not None


def id_before(trial_id: str) -> str:
    """The id that a trial had before it was set aside, or has."""
    return _ENDING.sub("", trial_id)


def _names(name: str) -> itertools.chain[str]:
    return itertools.chain([name], (f"{name}-{count}" for count in itertools.count(2)))


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
