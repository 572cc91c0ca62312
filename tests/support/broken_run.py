"""A `lab` command, and a shell script in place of the first command to the server that has some words in it:
``python -m support.broken_run WORDS SCRIPT COMMAND...``. The script has the command as "$@".
"""

import sys
from typing import Any

from faults.inject import Call, normal, wrap

from lab.cli import main as cli


def replace_first(words: str, script: str) -> None:
    """From here on, wait for the command and put the script in its place, once."""
    replaced: list[str] = []

    def execute(call: Call) -> Any:
        if replaced or call.host.name != "server" or words not in normal(call.argv):
            return call.go()
        replaced.append(words)
        print(f"struck at {words}", flush=True)
        return call.go_and(script, "before", call.deadline_s)

    wrap(execute)


if __name__ == "__main__":
    replace_first(*sys.argv[1:3])
    sys.exit(cli.main(sys.argv[3:]))
