"""What `lab check` finds on the hosts of a local lab."""

import json
from pathlib import Path
from typing import Any

from support.local_lab import Bench

# the machine of a test may be busy, and its memory swapped: that is for its owner to know
OF_THE_MACHINE = ("client load", "server load", "client swap", "server swap")


def findings(bench: Bench, hosts: Path | None = None) -> list[dict[str, Any]]:
    """What the check finds, less what is of the machine below; the exit code is checked along with it."""
    done = bench.lab("check", "--json", "--hosts", str(hosts or bench.hosts))
    assert done.stderr == ""
    all_findings = json.loads(done.stdout)["findings"]
    assert done.returncode == (1 if any(finding["level"] == "problem" for finding in all_findings) else 0)
    return [finding for finding in all_findings if finding["subject"] not in OF_THE_MACHINE]


def of(all_findings: list[dict[str, Any]], *levels: str) -> list[tuple[str, str]]:
    """Subjects and messages of the findings of these levels."""
    return [(finding["subject"], finding["message"]) for finding in all_findings if finding["level"] in levels]


def only(all_findings: list[dict[str, Any]], level: str) -> dict[str, Any]:
    """The one finding of a level, the note about jumbo frames aside."""
    (finding,) = [other for other in all_findings if other["level"] == level and other["subject"] != "link MTU"]
    return finding
