"""What the hosts of a pair are like just now: a program of its own, which changes nothing and prints JSON.

``python -m lab.fleet.look HOSTS``: an object with ``in_use``, who uses a host; ``changed``, what an ended run left
changed; ``unreached``, why a host cannot be asked. Each is empty where there is nothing to say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TypedDict

from lab.base.errors import BadInput, LabFailure
from lab.base.untrusted import from_json, one_line

LONGEST = 400


class HostState(TypedDict):
    """What was seen; texts of one line."""

    in_use: str
    changed: str
    unreached: str


def look(hosts_file: Path) -> HostState:
    """Ask the hosts of a file. Raises BadInput for a file that is wrong."""
    from lab.hosts.hosts_file import load_hosts
    from lab.hosts.ssh import connected
    from lab.run.restore.vocabulary import line_format
    from lab.settings import host_journal

    in_use, changed = [], []
    try:
        with connected(load_hosts(hosts_file)) as hosts:
            for role, host in hosts.items():
                content = host_journal.read(host, line_format())
                if content.in_use:
                    in_use.append(f"{role}: {content.in_use.cause()}")
                elif content.records:
                    changed.append(f"{role}: {', '.join(record.name for record in content.records)}")
    except LabFailure as error:
        return HostState(in_use="", changed="", unreached=one_line(error.on_one_line(), LONGEST))
    return HostState(
        in_use=one_line("; ".join(in_use), LONGEST), changed=one_line("; ".join(changed), LONGEST), unreached=""
    )


def parse_state(text: str) -> HostState:
    """What this program printed. Raises ValueError for anything else."""
    content = from_json(text)
    if not isinstance(content, dict) or not all(isinstance(content.get(key), str) for key in HostState.__annotations__):
        raise ValueError("it does not say what the hosts are like")
    in_use, changed, unreached = (one_line(content[key], LONGEST) for key in ("in_use", "changed", "unreached"))
    return HostState(in_use=in_use, changed=changed, unreached=unreached)


def main() -> int:
    """Look, and print it; exit code 2 with the message for a hosts file that is wrong."""
    try:
        print(json.dumps(look(Path(sys.argv[1]))))
    except BadInput as error:
        print(error.brief(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
