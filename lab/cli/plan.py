"""`lab plan`: what a sweep would do, and whether the hosts fit it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli.terminal import HOSTS, RESULTS, SWEEP_HELP, show

if TYPE_CHECKING:
    from lab.design.pace import Pace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("sweep", type=Path, metavar="SWEEP", help=SWEEP_HELP)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--order", action="store_true", help="every trial too, in the order of the run")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; touches no host."""
    from lab.design import plan, plan_text
    from lab.design.sweep_file import load_sweep
    from lab.run.catalogue import CATALOGUE

    sweep = load_sweep(arguments.sweep)
    planned = plan.plan(sweep, CATALOGUE, pace=_usual_pace(arguments.hosts or HOSTS))
    if arguments.hosts:
        from lab.hosts.hosts_file import load_hosts
        from lab.run import lifecycle

        lifecycle.check_fit(load_hosts(arguments.hosts), sweep, arguments.hosts)
    if arguments.json:
        print(json.dumps(asdict(planned), indent=1))
        return 0
    for line in plan_text.describe(sweep, planned):
        show(line)
    for slot in planned.slots if arguments.order else ():
        show(f"{slot.trial_id}  {slot.case.case_id}")
    return 0


def _usual_pace(hosts_file: Path) -> Pace:
    """How fast these hosts were; what reads that takes longer to import than all else here, and needs a run."""
    from lab.design.pace import Pace

    if not RESULTS.is_dir():
        return Pace()
    from lab.run import pace

    return pace.newest(RESULTS, hosts_file)
