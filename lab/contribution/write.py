"""Writing a contribution: a copy of a run without names, with what can be verified of it beside."""

from __future__ import annotations

from pathlib import Path

from lab import __version__
from lab.base import durable
from lab.base.masking import Masker
from lab.contribution import record
from lab.contribution.record import Contribution
from lab.results.public import Public
from lab.results.run_folder import RunFolder


def contribute(run: RunFolder, to: Path, masker: Masker | None = None) -> Contribution:
    """Write the contribution of a run into the new folder ``to``.

    Raises BadInput where the run cannot be read, has too many names, or something is there already. All that was
    replaced stands in ``masker`` afterwards.
    """
    public = Public(run, masker)  # which reads all lines: what is no run is not hashed
    raw = record.digest_file(run.trials_path)
    contribution = Contribution(
        schema=record.SCHEMA,
        lab=__version__,
        files={path.name: record.digest_file(path) for path in sorted(public.path.iterdir())},
        raw_trials_sha256=raw.sha256,
        measured_sha256=record.digest_trials(public.records()),
        hosts=record.hosts_of(public.run),
        medians=record.medians_of(public),
    )
    durable.create(public.path / record.NAME, record.write(contribution))
    public.copy_to(to)
    return contribution
