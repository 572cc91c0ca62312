"""``python -m lab.fleet.look HOSTS`` prints the state of a pair's hosts as JSON, and changes nothing."""

import json
import sys
from pathlib import Path
from typing import TypedDict

from lab.base.errors import BadInput, LabFailure
from lab.base.untrusted import from_json, one_line

LONGEST = 400


class HostState(TypedDict):
    """The state of a pair's hosts. Each text is one line, and empty if there is nothing to say."""

    in_use: str  # who uses a host
    changed: str  # what an ended run left changed
    unreached: str  # why a host does not answer


def look(hosts_file: Path) -> HostState:
    """Ask the hosts of a hosts file. Raises BadInput for a file with an error."""
    from lab.hosts.hosts_file import load_hosts
    from lab.hosts.ssh import connected
    from lab.run.restore import watched
    from lab.run.restore.vocabulary import line_format
    from lab.settings import host_journal

    in_use, changed = [], []
    try:
        with connected(config := load_hosts(hosts_file)) as hosts:
            for role in watched.fitted(config, hosts).changed:
                content = host_journal.read(hosts[role], line_format())
                if content.in_use:
                    in_use.append(f"{role}: {content.in_use.cause()}")
                elif content.records:
                    changed.append(f"{role}: {', '.join(record.name for record in content.records)}")
    except LabFailure as error:
        return {"in_use": "", "changed": "", "unreached": one_line(error.on_one_line(), LONGEST)}
    in_use_text, changed_text = (one_line("; ".join(texts), LONGEST) for texts in (in_use, changed))
    return {"in_use": in_use_text, "changed": changed_text, "unreached": ""}


def parse_state(text: str) -> HostState:
    """Parse what this program printed. Raises ValueError for anything else."""
    content = from_json(text)
    if not isinstance(content, dict) or not all(isinstance(content.get(key), str) for key in HostState.__annotations__):
        raise ValueError("it does not say what the hosts are like")
    in_use, changed, unreached = (one_line(content[key], LONGEST) for key in ("in_use", "changed", "unreached"))
    return HostState(in_use=in_use, changed=changed, unreached=unreached)


def main() -> int:
    """Print the state; for a hosts file with an error, print the error and return exit code 2."""
    try:
        print(json.dumps(look(Path(sys.argv[1]))))
    except BadInput as error:
        print(error.brief(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
