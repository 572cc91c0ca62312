"""`lab plan`: what a sweep would do, and whether the hosts fit it."""

import argparse
from dataclasses import asdict

from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import HOSTS, say, show, show_json, show_whole

SUMMARY = "show what a sweep would do, and if the hosts fit it; changes nothing"
EXAMPLES = (
    Example("lab plan demo", "its cases, what changes on the hosts, and how long it takes"),
    Example("lab plan my.toml --hosts hosts.ini --order", "if these hosts fit it; every trial in its order"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_hosts(parser, "a hosts file that the sweep has to fit")
    options.add_results(parser)
    parser.add_argument("sweep", type=options.sweep_file, metavar="SWEEP", help=options.SWEEP_HELP)
    options.add_json(parser)
    options.add_flag(parser, "--order", "every trial too, in the order of the run")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; touches no host."""
    from lab.design import plan, plan_text
    from lab.design.pace import Pace
    from lab.design.sweep_file import load_sweep
    from lab.run.case.catalogue import CATALOGUE

    sweep, hosts_file = load_sweep(arguments.sweep), options.named_hosts_file(arguments)
    pace, image_bytes = Pace(), plan.USUAL_IMAGE_BYTES
    if arguments.results.is_dir():  # an earlier run tells how fast these hosts are; reading it imports slow modules
        from lab.run.begin import pace as earlier

        pace = earlier.newest(arguments.results, hosts_file or HOSTS)
    if hosts_file:
        from lab.hosts.hosts_file import load_hosts
        from lab.run.begin import compatibility
        from lab.run.begin.look import describe_unseen

        hosts = load_hosts(hosts_file)
        compatibility.check_fit(hosts, sweep, arguments.results)
        image_bytes = hosts.share.image_size
    planned = plan.plan(sweep, CATALOGUE, pace=pace, image_bytes=image_bytes)
    if hosts_file:
        for line in describe_unseen(hosts):
            say(line)
        for device in compatibility.devices_of(hosts, sweep):
            say(f"server: {device}: a run writes to it, after --write-to {device}")
    if arguments.json:
        show_json(asdict(planned))
        return 0
    for line in plan_text.describe(sweep, planned):
        show(line)
    for slot in planned.slots if arguments.order else ():
        show_whole(f"{slot.trial_id}  {slot.case.case_id}")
    return 0
