"""`lab fleet`: many sweeps on many pairs of hosts, by a queue that survives everything."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli.command import Example, Run, add_command
from lab.cli.terminal import say, show, show_whole

if TYPE_CHECKING:
    from lab.fleet.plan import Plan
    from lab.fleet.queue import Queue, TaskStatus
    from lab.fleet.scheduler import Scheduler

SUMMARY = "many sweeps on many pairs of hosts: planned, run side by side, stopped, gone on with"
FLEETS = Path("fleets")


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` these commands; what each sets as ``command`` takes the arguments and returns the exit code."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = add_command(commands, name, run, text, examples)
        subparser.add_argument("fleet", type=Path, metavar="FLEET.toml", help="the fleet file")
        text = f"the folder that has the fleet's plan, journal and runs (default: {FLEETS}/NAME)"
        subparser.add_argument("--queue", type=Path, metavar="DIR", help=text)
        return subparser

    what = Example("lab fleet plan nas.toml", "its pairs, sweeps and shared machines, and how long it takes")
    _add_json(command("plan", _plan, "show what a fleet would do, and if its hosts fit it; changes nothing", what))
    night = Example("lab fleet run nas.toml", "every sweep on every pair; Ctrl-C puts everything back, too")
    mine = Example("lab fleet run nas.toml --scheduler tls://10.0.0.5:8786", "by workers of a scheduler of your own")
    _add_scheduler(command("run", _begin, "begin a fleet; the last line printed is its folder", night, mine))
    where = Example("lab fleet status nas.toml", "pairs and sweeps: done, running, failed, waiting; when it ends")
    _add_json(command("status", _status, "say where a fleet stands; from any terminal", where))
    again = Example("lab fleet resume nas.toml", "after a stop, a crash or a restart; what failed is tried again, too")
    _add_scheduler(command("resume", _resume, "go on with a fleet: what is done is not repeated", again))
    halt = Example("lab fleet stop nas.toml", "from another terminal; returns once all is put back")
    command("stop", _stop, "stop a fleet that runs: its sweeps put their hosts back, and can be gone on with", halt)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_scheduler(parser: argparse.ArgumentParser) -> None:
    text = (
        "the scheduler of dask.distributed to use: tls://HOST:PORT, or one of loopback (default: one in this process)"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help=text)
    text = "a site whose hosts this machine reaches, as `site` in [[pairs]]. Once for each"
    parser.add_argument("--site", metavar="NAME", action="append", default=[], help=text)
    text = "have Dask draw its dashboard, on loopback, where every account of this machine sees it; needs bokeh"
    parser.add_argument("--dashboard", action="store_true", help=text)


def _plan(arguments: argparse.Namespace) -> int:
    from lab.fleet import status

    plan, _ = _planned(arguments)
    if arguments.json:
        print(json.dumps(status.plan_json(plan), indent=1))
        return 0
    for line in status.describe_plan(plan):
        show_whole(line)
    return 0


def _begin(arguments: argparse.Namespace) -> int:
    return _work(arguments, resumes=False)


def _resume(arguments: argparse.Namespace) -> int:
    return _work(arguments, resumes=True)


def _work(arguments: argparse.Namespace, *, resumes: bool) -> int:
    """Work through a fleet; 1 where a task failed, is left, or has trials that are not ok."""
    from lab.fleet import control, scheduler

    scheduler.check_installed()
    environment = dict(os.environ)
    plan, queue = _planned(arguments)
    os.environ.update(environment)  # a password that was looked for has been taken out: each task looks for it, too
    with _claimed(queue, resumes):
        if resumes:
            for line in queue.check(plan):
                say(line)
        with _scheduler(arguments, plan) as chosen:
            chosen.check_sites(plan)
            identity = queue.write(plan)
            chosen.check_queue(str(queue.plan_path), identity)
            queue.stop_path.unlink(missing_ok=True)
            if chosen.dashboard:
                _tell(f"dashboard of Dask: {chosen.dashboard}")
            control.Controller(plan, queue, chosen, _tell).run()
        statuses = queue.statuses(plan)
    _print_status(plan, queue, statuses)
    return _code(queue, statuses)


def _code(queue: Queue, statuses: list[TaskStatus]) -> int:
    """The exit code of a fleet that has ended; what is left of it is said, and where its folder is."""
    from lab.fleet.queue import TaskState

    left = [one for one in statuses if one.state is not TaskState.DONE]
    unwell = [one for one in statuses if one.state is TaskState.DONE and one.last and one.last.exit_code]
    if left:
        say(f"not all was measured: {len(left)} tasks are left; `lab fleet resume` goes on")
    if unwell:
        say(f"{len(unwell)} runs have trials that failed or are void: `lab report` lists them")
    show_whole(str(queue.path))
    return 1 if left or unwell else 0


def _status(arguments: argparse.Namespace) -> int:
    from lab.fleet import status

    plan, queue = _planned(arguments, checked=False)
    if not queue.exists:
        raise BadInput(f"{queue.path}: no fleet has begun there", "`lab fleet run` begins it")
    statuses, now = queue.statuses(plan), time.time()
    if arguments.json:
        ends = status.forecast(plan, statuses, now)
        print(json.dumps(status.as_json(plan, queue, statuses, ends), indent=1))
        return 0
    _print_status(plan, queue, statuses)
    return 0


def _print_status(plan: Plan, queue: Queue, statuses: list[TaskStatus]) -> None:
    from lab.fleet import status
    from lab.fleet.queue import TaskState

    now = time.time()
    for line in status.describe(plan, statuses, status.forecast(plan, statuses, now), now):
        show_whole(line)
    if any(one.state is TaskState.WAITING for one in statuses) and not queue.is_in_use:
        show("no `lab fleet` works on it now: `lab fleet resume` goes on")


def _stop(arguments: argparse.Namespace) -> int:
    """Tell whoever works on the fleet to stop, and wait until all is put back."""
    from lab.base import durable
    from lab.fleet.queue import TaskState

    plan, queue = _planned(arguments, checked=False)

    def running() -> list[TaskStatus]:
        return [one for one in queue.statuses(plan) if one.state is TaskState.RUNNING]

    if not queue.exists or not (queue.is_in_use or running()):
        show(f"{queue.path}: nothing of this fleet runs")
        return 0
    if not queue.stop_path.exists():
        durable.create(queue.stop_path, b"")
    say("told to stop; waiting until its sweeps have put their hosts back")
    while queue.is_in_use or running():
        time.sleep(0.5)
    show("stopped; `lab fleet resume` goes on")
    return 0


def _planned(arguments: argparse.Namespace, *, checked: bool = True) -> tuple[Plan, Queue]:
    """The plan of the fleet file, and the fleet's folder; ``checked``: whether each pair can do its sweeps."""
    from lab.fleet.fleet_file import load_fleet
    from lab.fleet.plan import make_plan
    from lab.fleet.queue import Queue

    fleet = load_fleet(arguments.fleet)
    queue = Queue(arguments.queue or FLEETS / fleet.name)
    return make_plan(fleet, arguments.fleet, queue.path, checked=checked), queue


@contextmanager
def _claimed(queue: Queue, resumes: bool) -> Iterator[None]:
    """Be the only controller of a fleet. Raises BadInput where there is one, or it has begun, or not begun."""
    from lab.fleet.queue import Claimed, claimed

    if resumes and not queue.exists:
        raise BadInput(f"{queue.path}: no fleet has begun there", "`lab fleet run` begins it")
    if not resumes and queue.exists:
        raise BadInput(
            f"{queue.path}: this fleet has begun already", "`lab fleet resume` goes on; --queue DIR begins another"
        )
    queue.make()
    try:
        with claimed(queue.lock_path):
            yield
    except Claimed as error:
        raise BadInput(
            f"{queue.path}: another `lab fleet` works on this fleet now", "let it end, or `lab fleet stop`"
        ) from error


def _scheduler(arguments: argparse.Namespace, plan: Plan) -> AbstractContextManager[Scheduler]:
    from lab.fleet import scheduler

    if not arguments.scheduler:
        return scheduler.embedded(plan.most_at_once, arguments.site, arguments.dashboard)
    if arguments.site or arguments.dashboard:
        raise BadInput("--site and --dashboard are of this machine", "with --scheduler, leave them out")
    return scheduler.by_address(arguments.scheduler, plan.most_at_once)


def _tell(text: str) -> None:
    say(f"{datetime.now():%H:%M:%S}  {text}")
