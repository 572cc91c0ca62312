"""The commands. ``python -m lab`` and ``lab`` are the same.

Exit 0: done; 1: it ran and something failed; 2: bad input. Errors are one message on standard error, never a traceback.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lab.base import signals
from lab.base.errors import BadInput, Interrupted, LabError, LabFailure
from lab.base.untrusted import printable
from lab.local import cli as local
from lab.local import state

# What the other commands need is imported by each: pandas, matplotlib and paramiko take a second, and `lab local`
# needs none of them.
if TYPE_CHECKING:
    from collections import Counter

    from lab.results.run_folder import RunFolder

RESULTS = Path("results")
HOSTS = Path("hosts.ini")
WIDTH_OF_A_FILE = 120


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _open_streams()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold passwords
    arguments = _parser().parse_args(argv)
    signals.install()
    try:
        code: int = arguments.command(arguments)
        sys.stdout.flush()
    except BadInput as error:
        _say(str(error))
        return 2
    except BrokenPipeError:
        _give_up_output()
        return 1  # whoever read our output has seen enough
    except (LabError, Interrupted, OSError) as error:
        _say(str(error))
        _give_up_output()
        return 1
    return code


def _open_streams() -> None:
    """Have all three standard streams, whoever closed them, and let them write what the terminal lacks as ``?``."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("r+"))  # noqa: SIM115  it stays
        elif isinstance(stream, io.TextIOWrapper) and name != "stdin":
            stream.reconfigure(errors="replace")


def _give_up_output() -> None:
    """Let go of output that cannot be written, or Python tries once more when it ends, and fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_A_FILE)


def _say(text: str) -> None:
    """Say something on standard error, as it is; what a host put into it does nothing to the terminal."""
    with suppress(OSError):
        Console(stderr=True).print(printable(text), markup=False, highlight=False, soft_wrap=True, emoji=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lab", description="How fast is a file share, and what holds it back?")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, function: object, text: str, hosts: bool = False) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=text, description=text)
        found.set_defaults(command=function)
        if hosts:
            found.add_argument("--hosts", type=Path, metavar="FILE", help=f"the hosts file (default: {HOSTS})")
        return found

    found = command("check", _check, "look at both hosts and say what can be measured; changes nothing", hosts=True)
    found.add_argument("--json", action="store_true")
    jumbo = "raise the MTU of both hosts for a moment, to see whether the path carries jumbo frames"
    found.add_argument("--jumbo", action="store_true", help=jumbo)
    hardware = "compare what the lab takes for granted about a Mac with what this one says; changes nothing"
    found.add_argument("--hardware", action="store_true", help=hardware)
    found = command("plan", _plan, "show what a sweep would do, and if the hosts fit it; changes nothing", hosts=True)
    found.add_argument("sweep", type=Path)
    found.add_argument("--json", action="store_true")
    found.add_argument("--order", action="store_true", help="every trial too, in the order of the run")
    found = command("run", _run, "run a sweep; the last line printed is the run folder", hosts=True)
    what = found.add_mutually_exclusive_group(required=True)
    what.add_argument("sweep", type=Path, nargs="?")
    what.add_argument("--resume", type=Path, metavar="RUN", help="go on with an interrupted run")
    policy = "continue (the default), stop, or a number: stop after so many failed trials in a row"
    found.add_argument("--on-failure", type=_most_failures, default=None, metavar="POLICY", help=policy)
    command("restore", _restore, "put back what an interrupted run left changed; safe to repeat", hosts=True)
    found = command("show", _show, "the tables of a run")
    found.add_argument("run", type=Path, nargs="?", help="a run folder (default: the newest)")
    found.add_argument("--json", action="store_true")
    found = command("compare", _compare, "the cases of run B over those of run A, such as a new kernel over an old one")
    found.add_argument("a", type=Path, metavar="A", help="a run folder")
    found.add_argument("b", type=Path, metavar="B", help="a run folder")
    found.add_argument("--json", action="store_true")
    found = command("report", _report, "write report.html, post.md, table.csv and figures into the run folder")
    found.add_argument("run", type=Path, nargs="?", help="a run folder (default: the newest)")
    local.add(commands.add_parser("local", help="the embedded lab: two hosts on this Linux machine"))
    return parser


def _check(arguments: argparse.Namespace) -> int:
    from lab.check import doctor

    findings, facts = doctor.check(
        arguments.hosts or HOSTS, RESULTS if arguments.jumbo else None, _say, arguments.hardware
    )
    if arguments.json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings], **facts}, indent=1))
    console = _console()
    colours = {"ok": "green", "note": "cyan", "warning": "yellow", "problem": "red"}
    for finding in findings if not arguments.json else ():
        remedy = f"  -> {finding.remedy}" if finding.remedy else ""
        text = f" {finding.subject}: {finding.message}{remedy}"
        console.print(f"[{colours[finding.level]}]{finding.level:8}[/]", end="")
        console.print(text, markup=False, highlight=False, soft_wrap=True, emoji=False)
    return 1 if any(finding.level == "problem" for finding in findings) else 0


def _plan(arguments: argparse.Namespace) -> int:
    from lab.design import plan, plan_text
    from lab.design.sweep_file import load_sweep
    from lab.hosts.hosts_file import load_hosts
    from lab.run import lifecycle

    wanted = load_sweep(arguments.sweep)
    planned = plan.plan(wanted)
    if arguments.hosts:
        lifecycle.check_fit(load_hosts(arguments.hosts), wanted, arguments.hosts)
    if arguments.json:
        print(json.dumps(asdict(planned), indent=1))
        return 0
    for line in plan_text.lines(wanted, planned):
        print(line)
    for slot in planned.slots if arguments.order else ():
        print(f"{slot.trial_id}  {slot.case.case_id}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from lab.run import lifecycle
    from lab.run.progress import shown

    with shown(_console()) as display:
        most = arguments.on_failure
        if arguments.resume:
            folder, ending = lifecycle.resume(arguments.hosts, arguments.resume, display, _say, most)
        else:
            folder, ending = lifecycle.start(arguments.hosts or HOSTS, arguments.sweep, RESULTS, display, _say, most)
    if ending.early:
        _say(f"{ending.early}; `lab run --resume {folder.path}` goes on")
    if ending.imprecise:
        _say(ending.imprecise)
    if ending.not_ok:
        _say(f"{ending.not_ok} trials failed or are void: `lab report` lists them")
    print(folder.path)
    return 1 if ending.not_ok else 0


def _most_failures(text: str) -> int | None:
    """How many failed trials in a row stop a sweep; None where none do."""
    words = {"continue": None, "stop": 1}
    if text in words:
        return words[text]
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is neither continue, stop, nor a number of trials from 1 on")
    return int(text)


def _restore(arguments: argparse.Namespace) -> int:
    from lab.run import restore

    folders, problems = restore.open_journals(RESULTS, arguments.hosts)
    said = []
    for folder in reversed(folders):
        try:
            if _is_gone(folder):
                said.append(
                    f"{folder.path}: {restore.forget(folder)} changes went with the local lab that they were made on"
                )
            else:
                said.append(f"{folder.path}: {_counted(restore.by_journal(folder, arguments.hosts))}")
        except (BadInput, LabFailure, OSError) as error:  # one run must not keep the others from theirs
            problems.append(f"{folder.path}: {error}")
    if arguments.hosts:
        try:
            if (found := restore.by_hosts(arguments.hosts))["changes"]:
                said.append(f"{arguments.hosts}: {_counted(found)}, by what the hosts had noted")
        except LabFailure as error:
            problems.append(f"{arguments.hosts}: {error}")
    for line in said or ([] if problems else ["nothing is left to put back"]):
        print(line)
    if problems:
        raise LabFailure("\n".join(problems))
    return 0


def _counted(found: Counter[str]) -> str:
    restarted = f" ({found['restarted']} of them by a restart of the host)" if found["restarted"] else ""
    count = found["changes"]
    return f"{count} {'change' if count == 1 else 'changes'} put back{restarted}"


def _is_gone(folder: RunFolder) -> bool:
    """Whether the run's hosts were those of a local lab that is no longer up: its end undid everything."""
    instance = folder.run.get("instance")
    if instance is None:
        return False
    lab = state.load(instance.partition("/")[0])  # this one alone: another may be damaged
    return lab is None or not lab.holder.alive() or f"{lab.name}/{lab.instance}" != instance


def _folder(path: Path | None) -> RunFolder:
    from lab.results import run_folder

    return run_folder.RunFolder(path) if path else run_folder.newest(RESULTS)


def _show(arguments: argparse.Namespace) -> int:
    from lab.report import run_report
    from lab.results import run_folder

    folder = _folder(arguments.run)
    if arguments.json:
        print(json.dumps(run_report.show_json(folder), indent=1))
        return 0
    trials = run_folder.load(folder.path)
    _console().print(*run_report.terminal_tables(trials))
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from lab.report import two_runs

    folders = _folder(arguments.a), _folder(arguments.b)
    if arguments.json:
        print(json.dumps(two_runs.comparison(*folders), indent=1))
    else:
        _console().print(*two_runs.comparison_tables(*folders))
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from lab.report import run_report

    folder = _folder(arguments.run)
    page = run_report.write(folder)
    for path in (*sorted((folder.report_path / "figures").iterdir()), folder.report_path / "post.md", page):
        print(path)
    return 0
