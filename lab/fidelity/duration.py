"""How long a survey takes: the seconds a copy took in the newest survey of the same hosts, else an assumed time."""

from pathlib import Path

from lab.base.errors import BadInput
from lab.base.untrusted import MOST_FILE_BYTES, from_json, read_file
from lab.results.run_folder import RunFolder
from lab.results.run_names import FIDELITY, paths_of_runs
from lab.results.trial import read_time

ASSUMED_S = 10.0  # a copy of all probes, with its part of the mounts: 8 s in a local lab, 22 s on a busy machine


def estimate(copies: int, places: int, results: Path, hosts_file: Path) -> str:
    """A line for the user: how many copies a survey makes, and how long they take."""
    basis, copy_s = _newest(results, hosts_file) or (f"at {ASSUMED_S:g} s a copy", ASSUMED_S)
    amount = f"{copies} {'copy' if copies == 1 else 'copies'} of all probes"
    shares = f"{places} {'share' if places == 1 else 'shares'}"
    seconds = copies * copy_s
    return f"{amount}, over {shares}; estimated {basis}: {seconds / 60:.0f} min ({seconds:.0f} s)"


def _newest(results: Path, hosts_file: Path) -> tuple[str, float] | None:
    """The newest survey of this file's hosts that ended, as words for the user, and its seconds a copy."""
    for path in paths_of_runs(results):
        try:
            folder = RunFolder(path)
            if folder.run.get("hosts_file") != str(hosts_file.resolve()) or not (path / FIDELITY).exists():
                continue
            content = from_json(read_file(path / FIDELITY, MOST_FILE_BYTES).decode())
            copies = content.get("copies") if isinstance(content, dict) else None
            if copies and isinstance(copies, list):
                duration = read_time(folder.text("finished_at")) - read_time(folder.text("started_at"))
                return f"by {path}", max(1.0, duration.total_seconds()) / len(copies)
        except (BadInput, OSError, ValueError):  # the run cannot be read, or did not end
            continue
    return None
