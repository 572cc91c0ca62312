"""The script that lets a tool copy the probes, and asks each rsync for its options. Needs nothing but Python 3.9.

``python3 -c THIS copy|engines`` takes a request as JSON on standard input and prints JSON.
"""

import json
import os
import subprocess
import sys
from typing import Any

MOST_LATE = 3  # copies in a row that do not end: then the mount is dead
MOST_LINES, LONGEST_LINE = 6, 300
LONGEST_HELP = 30_000


def _run(words: list[str], deadline_s: float) -> tuple[int | None, str, str]:
    """Exit code (None if it did not end), standard output, and the last lines of standard error."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=deadline_s, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return None, "", f"did not end within {deadline_s:g} s"
    except OSError as error:
        return 127, "", error.strerror or str(error)
    errors = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    last_lines = "\n".join(line[:LONGEST_LINE] for line in errors[-MOST_LINES:])
    return done.returncode, done.stdout.decode("utf-8", "backslashreplace"), last_lines


def copy(request: Any) -> dict[str, object]:
    """Copy each probe's folder on its own, so that an error belongs to one probe, and no probe waits for another.

    Stops at the probe after which ``alive``, a folder in the mount, is gone.
    """
    if not request["remote"]:
        os.makedirs(request["target"], exist_ok=True)
    failures, late = {}, 0
    for name in request["names"]:
        if late == MOST_LATE:
            failures[name] = "not tried: copies before it did not end"
            continue
        end = f"{request['target']}/{name}" if request["onto"] else f"{request['target']}/"
        exit_code, _, errors = _run([*request["argv"], f"{request['source']}/{name}", end], request["deadline_s"])
        late = late + 1 if exit_code is None else 0
        if exit_code != 0:
            failures[name] = errors or f"exit code {exit_code}"
            if request["alive"] and not os.path.isdir(request["alive"]):
                return {"failures": failures, "stopped": name}
    return {"failures": failures, "stopped": ""}


def engines(request: Any) -> dict[str, dict[str, str]]:
    """What each rsync of this host prints about itself, by its path without links."""
    places = [os.path.join(folder, "rsync") for folder in os.environ.get("PATH", "").split(":")]
    paths = dict.fromkeys(os.path.realpath(path) for path in (*places, *request["paths"]) if os.access(path, os.X_OK))
    answers = {}
    for path in paths:
        printed = {option: _run([path, option], 10) for option in ("--version", "--help")}
        answers[path] = {option: f"{text[:LONGEST_HELP]}\n{errors}" for option, (_, text, errors) in printed.items()}
    return answers


ACTIONS = {"copy": copy, "engines": engines}

if __name__ == "__main__":
    print(json.dumps(ACTIONS[sys.argv[1]](json.load(sys.stdin))))
