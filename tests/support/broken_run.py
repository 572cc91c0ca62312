"""A `lab` command with a fault of the fault matrix at the first command to the server that has some words in it:
``python -m support.broken_run LAB WORDS KIND WHEN COMMAND...``."""

from __future__ import annotations

import sys
from typing import Any

from faults.inject import Call, Fault, normal, wrap

from lab.cli import main as cli

USUAL_S = 10.0  # of what hangs afterwards


def break_at(lab: str, words: str, kind: str, when: str) -> None:
    """From here on, wait for the command and strike, once."""
    fault = Fault("server", 0, kind, when)
    struck: list[str] = []

    def execute(call: Call) -> Any:
        if struck or call.host.name != "server" or words not in normal(call.argv):
            return call.go()
        struck.append(words)
        print(f"struck at {words}", flush=True)
        return fault.strike(call, lab, USUAL_S)

    wrap(execute)


if __name__ == "__main__":
    break_at(*sys.argv[1:5])
    sys.exit(cli.main(sys.argv[5:]))
