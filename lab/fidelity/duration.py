"""How long a survey takes: as long a copy as the newest survey between the same hosts, else an assumed time."""

from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES, from_json, read_file
from lab.results.run_folder import RunFolder
from lab.results.run_names import FIDELITY, paths_of_runs
from lab.results.trial import read_time

ASSUMED_S = 10.0  # a copy of all probes, with its part of the mounts: 8 s in a local lab, 22 s on a busy machine


def estimate(copies: int, places: int, results: Path, hosts_file: Path) -> str:
    """What a survey of so many copies does, and how long it takes, in a line."""
    by, copy_s = _newest(results, hosts_file) or (f"at {ASSUMED_S:g} s a copy", ASSUMED_S)
    many = f"{copies} {'copy' if copies == 1 else 'copies'} of all probes, over {places} "
    seconds = copies * copy_s
    return f"{many}{'share' if places == 1 else 'shares'}; estimated {by}: {seconds / 60:.0f} min ({seconds:.0f} s)"


def _newest(results: Path, hosts_file: Path) -> tuple[str, float] | None:
    """The newest survey of the hosts of this file that ended, and its seconds a copy."""
    for path in paths_of_runs(results):
        try:
            if not (path / FIDELITY).exists():
                continue
            run = RunFolder(path).run
            content = from_json(read_file(path / FIDELITY, MOST_FILE_BYTES).decode())
            copies = content.get("copies") if isinstance(content, dict) else None
            if run.get("hosts_file") == str(hosts_file.resolve()) and copies and isinstance(copies, list):
                took = read_time(run.get("finished_at") or "") - read_time(run.get("started_at") or "")
                return f"by {path}", max(1.0, took.total_seconds()) / len(copies)
        except (BadInput, OSError, ValueError):  # of somebody else, or it did not end
            continue
    return None
