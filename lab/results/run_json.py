"""A run.json as it stands on disk: read where a lab of this schema or an older one wrote it."""

from __future__ import annotations

from pathlib import Path

from lab.base import untrusted
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.untrusted import from_json
from lab.results.trial import SCHEMA, RunJson, run_problem


def read_run(path: Path) -> RunJson:
    """The content of a run.json, with what passwords a host printed. Raises BadInput for any other file."""
    try:
        run: RunJson = from_json(untrusted.read_file(path, untrusted.MOST_FILE_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"{path.parent}: not a run folder: it has no run.json") from error
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error
    schema = run.get("schema") if isinstance(run, dict) else None
    if not isinstance(schema, int) or schema < 1:
        raise BadInput(f"{path}: not the run.json of a run: it names no schema")
    if schema > SCHEMA:
        raise BadInput(f"{path}: schema {schema} is newer than this lab's ({SCHEMA}): update the lab")
    if wrong := run_problem(run):
        raise BadInput(f"{path}: {wrong}")
    return run
