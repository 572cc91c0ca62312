"""`lab fleet`: many sweeps on many pairs of hosts, by a queue that survives everything."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput
from lab.cli import options
from lab.cli.command import Commands, Example, Run, add_command
from lab.cli.terminal import say, show, show_json, show_whole

if TYPE_CHECKING:
    from lab.fleet.plan import Plan
    from lab.fleet.queue import Queue, TaskStatus
    from lab.fleet.scheduler import Scheduler

SUMMARY = "many sweeps on many pairs of hosts: planned, run side by side, stopped, gone on with"
FLEETS = Path("fleets")


def add_commands(commands: Commands) -> None:
    def command(name: str, run: Run, text: str, *examples: Example) -> argparse.ArgumentParser:
        subparser = add_command(commands, name, run, text, examples)
        subparser.add_argument("fleet", type=Path, metavar="FLEET.toml", help="the fleet file")
        text = f"the folder that has the fleet's plan, journal and runs (default: {FLEETS}/NAME)"
        subparser.add_argument("--queue", type=Path, metavar="DIR", help=text)
        return subparser

    overview = Example("lab fleet plan nas.toml", "its pairs, sweeps and shared machines, and how long it takes")
    plan = command("plan", _plan, "show what a fleet would do, and if its hosts fit it; changes nothing", overview)
    options.add_json(plan)
    night = Example("lab fleet run nas.toml", "every sweep on every pair; Ctrl-C puts everything back, too")
    mine = Example("lab fleet run nas.toml --scheduler tls://10.0.0.5:8786", "by workers of a scheduler of your own")
    run = command("run", _run, "begin a fleet; the last line printed is its folder", night, mine)
    where = Example("lab fleet status nas.toml", "pairs and sweeps: done, running, failed, waiting; when it ends")
    options.add_json(command("status", _status, "say where a fleet stands; from any terminal", where))
    again = Example("lab fleet resume nas.toml", "after a stop, a crash or a restart; what failed is tried again, too")
    resume = command("resume", _run, "go on with a fleet: what is done is not repeated", again)
    halt = Example("lab fleet stop nas.toml", "from another terminal; returns once all is put back")
    command("stop", _stop, "stop a fleet that runs: its sweeps put their hosts back, and can be gone on with", halt)
    for parser in (run, resume):
        parser.set_defaults(resumes=parser is resume)
        text = "the scheduler of dask.distributed to use: tls://HOST:PORT, or a loopback address (default: one in this "
        parser.add_argument("--scheduler", metavar="ADDRESS", help=f"{text}process)")
        text = "a site whose hosts this machine reaches, as `site` in [[pairs]]. Once for each"
        options.add_list(parser, "--site", "NAME", text)
        text = "let Dask draw its dashboard, on loopback, where every account of this machine sees it; needs bokeh"
        options.add_flag(parser, "--dashboard", text)


def _plan(arguments: argparse.Namespace) -> int:
    from lab.fleet import status

    plan, _ = _planned(arguments)
    if arguments.json:
        show_json(status.plan_json(plan))
        return 0
    for line in status.describe_plan(plan):
        show_whole(line)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    """Begin or resume a fleet; 1 if a task failed, is left, or has trials that are not ok."""
    from lab.fleet import control, scheduler
    from lab.fleet.queue import TaskState

    scheduler.check_installed()
    environment = dict(os.environ)
    plan, queue = _planned(arguments)
    os.environ.update(environment)  # restores passwords, which the plan has taken out, for the tasks
    with _claimed(queue, arguments.resumes):
        for line in queue.check(plan) if arguments.resumes else ():
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
    unfinished = [task for task in statuses if task.state is not TaskState.DONE]
    faulty = [task for task in statuses if task.state is TaskState.DONE and task.last and task.last.exit_code]
    if unfinished:
        say(f"not all was measured: {len(unfinished)} tasks are left; `lab fleet resume` goes on")
    if faulty:
        say(f"{len(faulty)} runs have trials that failed or are void: `lab report` lists them")
    show_whole(str(queue.path))
    return 1 if unfinished or faulty else 0


def _status(arguments: argparse.Namespace) -> int:
    from lab.fleet import status

    plan, queue = _planned(arguments, checked=False)
    if not queue.exists:
        raise BadInput(f"{queue.path}: no fleet has begun there", "`lab fleet run` begins it")
    statuses, now = queue.statuses(plan), time.time()
    if arguments.json:
        show_json(status.as_json(plan, queue, statuses, status.forecast(plan, statuses, now)))
        return 0
    _print_status(plan, queue, statuses)
    return 0


def _print_status(plan: Plan, queue: Queue, statuses: list[TaskStatus]) -> None:
    from lab.fleet import status
    from lab.fleet.queue import TaskState

    now = time.time()
    for line in status.describe(plan, statuses, status.forecast(plan, statuses, now), now):
        show_whole(line)
    if any(task.state is TaskState.WAITING for task in statuses) and not queue.is_in_use:
        show("no `lab fleet` works on it now: `lab fleet resume` goes on")


def _stop(arguments: argparse.Namespace) -> int:
    """Tell the running `lab fleet` to stop, and wait until its sweeps have put their hosts back."""
    from lab.base import durable
    from lab.fleet.queue import TaskState

    plan, queue = _planned(arguments, checked=False)

    def running() -> list[TaskStatus]:
        return [task for task in queue.statuses(plan) if task.state is TaskState.RUNNING]

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
    """The plan of a fleet, and its queue. ``checked``: raise BadInput if a pair cannot do its sweeps."""
    from lab.fleet.fleet_file import load_fleet
    from lab.fleet.plan import make_plan
    from lab.fleet.queue import Queue

    fleet = load_fleet(arguments.fleet)
    queue = Queue(arguments.queue or FLEETS / fleet.name)
    return make_plan(fleet, arguments.fleet, queue.path, checked=checked), queue


@contextmanager
def _claimed(queue: Queue, resumes: bool) -> Iterator[None]:
    """Be the only controller of a fleet. Raises BadInput if there is another, or if the fleet has (not) begun."""
    from lab.fleet.queue import Claimed, claimed

    if resumes and not queue.exists:
        raise BadInput(f"{queue.path}: no fleet has begun there", "`lab fleet run` begins it")
    if not resumes and queue.exists:
        remedy = "`lab fleet resume` goes on; --queue DIR begins another"
        raise BadInput(f"{queue.path}: this fleet has begun already", remedy)
    queue.make()
    try:
        with claimed(queue.lock_path):
            yield
    except Claimed as error:
        message = f"{queue.path}: another `lab fleet` works on this fleet now"
        raise BadInput(message, "let it end, or `lab fleet stop`") from error


def _scheduler(arguments: argparse.Namespace, plan: Plan) -> AbstractContextManager[Scheduler]:
    from lab.fleet import scheduler

    if not arguments.scheduler:
        return scheduler.embedded(plan.most_at_once, arguments.site, arguments.dashboard)
    if arguments.site or arguments.dashboard:
        raise BadInput("--site and --dashboard are of this machine", "with --scheduler, leave them out")
    return scheduler.by_address(arguments.scheduler, plan.most_at_once)


def _tell(text: str) -> None:
    say(f"{datetime.now():%H:%M:%S}  {text}")
