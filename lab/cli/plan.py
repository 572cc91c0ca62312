"""`lab plan`: what a sweep would do, and whether the hosts fit it."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from lab.cli.terminal import HOSTS, RESULTS, say, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("sweep", type=Path, metavar="SWEEP", help="a sweep file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--order", action="store_true", help="every trial too, in the order of the run")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; touches no host."""
    from lab.design import plan, plan_text
    from lab.design.sweep_file import load_sweep
    from lab.hosts.hosts_file import load_hosts
    from lab.run import lifecycle, pace
    from lab.run.catalogue import CATALOGUE
    from lab.run.unseen import describe_unseen

    sweep = load_sweep(arguments.sweep)
    planned = plan.plan(sweep, CATALOGUE, pace=pace.newest(RESULTS, arguments.hosts or HOSTS))
    if arguments.hosts:
        hosts = load_hosts(arguments.hosts)
        lifecycle.check_fit(hosts, sweep, arguments.hosts)
        for line in describe_unseen(hosts):
            say(line)
    if arguments.json:
        print(json.dumps(asdict(planned), indent=1))
        return 0
    for line in plan_text.describe(sweep, planned):
        show(line)
    for slot in planned.slots if arguments.order else ():
        show(f"{slot.trial_id}  {slot.case.case_id}")
    return 0
