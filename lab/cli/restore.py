"""`lab restore`: put back what an interrupted run left changed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import BadInput, LabError, LabFailure
from lab.cli import options
from lab.cli.command import Example
from lab.cli.terminal import show

if TYPE_CHECKING:
    from lab.run.restore.put_back import PutBack
    from lab.settings.register import OpenRun, Register

SUMMARY = "put back what interrupted runs of this account left changed; safe to repeat, and from any folder"
EXAMPLES = (
    Example("lab restore", "every run of this account that ended without putting everything back"),
    Example("lab restore --hosts nas.ini", "also what these hosts themselves have noted of any run"),
    Example("lab restore demo --trust --hosts nas.ini", "what the journal of somebody else's run says"),
)
_GONE = "its changes went with the local lab that they were made on"
_NOTHING_NOTED = "its folder is gone, and its hosts have noted nothing that is left to put back"
_LOST = "its journal is lost; its hosts were asked instead"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "reach the hosts by this file (default: that of each run), and put back what they have noted themselves too"
    options.add_hosts(parser, text)
    options.add_results(parser)
    text = "only this run, even if its folder was moved (default: every run that this account has open)"
    parser.add_argument("run", nargs="?", metavar="RUN", help=f"{text}: {options.NAMES_OF_RUNS}")
    text = "a device of the server, as in [share] devices, that will not come back: it is given up. Once for each"
    options.add_list(parser, "--gone", "DEVICE", text)
    text = "RUN is somebody else's, or of a lab without a register: show what its journal would change, and do it on "
    options.add_flag(parser, "--trust", f"{text}the hosts of --hosts")


def run(arguments: argparse.Namespace) -> int:
    """Put back what open runs left changed. Raises LabFailure at the end if something could not be put back."""
    from lab.settings.register import Register

    register, report = Register(), _Report(arguments.gone)
    hosts_file = options.named_hosts_file(arguments)
    if arguments.run:
        _restore_one(register, options.chosen_run(arguments.run, arguments), hosts_file, arguments.trust, report)
    elif arguments.trust:
        raise BadInput("--trust: of which run?", "`lab restore --trust RUN --hosts FILE`")
    else:
        _restore_all(register, hosts_file, arguments.results, report)
    for line in report.done:
        show(line)
    if report.problems:
        raise LabFailure("\n".join(report.problems), several=True)
    return 0


@dataclass
class _Report:
    """What was done and what went wrong, because a run that fails must not stop the others.

    ``given_up`` are the devices of --gone.
    """

    given_up: Sequence[str]
    done: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _restore_all(register: Register, hosts_file: Path | None, results: Path, report: _Report) -> None:
    from lab.run.restore import foreign, put_back

    runs, report.problems = register.open_runs()
    lost: list[tuple[OpenRun, put_back.JournalLost]] = []
    for open_run in reversed(runs):
        if hosts_file and not put_back.belongs_to(open_run, hosts_file):
            skipped = f"skipped: this run used other hosts ({_names(open_run)}). `lab restore` restores it"
            command = f"`lab restore {open_run.folder} --hosts {hosts_file}`"
            same = f"if they are the hosts of {hosts_file} by other names, {command}"
            report.done.append(f"{open_run.folder}: {skipped}; {same}")
            continue
        try:
            report.done.append(f"{open_run.folder}: {_restore(register, open_run, hosts_file, report)}")
        except put_back.JournalLost as error:
            lost.append((open_run, error))
        except (BadInput, LabFailure, OSError) as error:
            report.problems.append(f"{open_run.folder}: {error.brief() if isinstance(error, LabError) else error}")
    asked = _ask_hosts(hosts_file, report) if hosts_file else False
    for open_run, reason in lost:
        if asked and hosts_file and put_back.is_about(open_run, hosts_file):
            put_back.let_go(register, open_run)
            report.done.append(f"{open_run.folder}: {_LOST}")
        else:
            report.problems.append(f"{open_run.folder}: {reason.on_one_line()} (they are {_names(open_run)})")
    problems, count = foreign.problems_in(results, register, {Path(open_run.folder) for open_run in runs}, asked)
    report.problems += problems
    if not report.done and not report.problems:
        report.done.append(
            f"nothing is left to put back: this account has no run open (register: {register.path}), and of the "
            f"{count} {'run' if count == 1 else 'runs'} in {results.absolute()} none was left with changes"
        )


def _names(open_run: OpenRun) -> str:
    return ", ".join(f"{role} {name}" for role, name in open_run.hosts.items())


def _restore_one(register: Register, path: Path, hosts_file: Path | None, trust: bool, report: _Report) -> None:
    """Restore the run that was named: a run of the register, or with ``trust`` any other."""
    from lab.local import state
    from lab.run.restore import foreign, put_back

    if open_run := put_back.find_open_run(register, path):
        try:
            report.done.append(f"{path}: {_restore(register, open_run, hosts_file, report, path.resolve())}")
        except put_back.JournalLost as error:
            if not hosts_file or not _ask_hosts(hosts_file, report):
                report.problems.append(f"{path}: {error.brief()}")
                return
            put_back.let_go(register, open_run, path)
            report.done.append(f"{path}: {_LOST}")
        return
    about = foreign.about(path)
    if register.began(about):
        report.done.append(f"{path}: nothing is left to put back of this run")
        return
    records = foreign.look(path)
    if not records:
        report.problems.append(f"{path}: its journal has no change; `lab restore --hosts FILE` asks the hosts")
    elif not trust:
        report.problems.append(foreign.refusal(path, about, records))
    elif state.is_gone(about.get("instance")):
        foreign.put_aside(path)
        register.note_asked(path)
        report.done.append(f"{path}: {_GONE}")
    elif not hosts_file:
        raise BadInput(f"{path}: on which hosts?", "name a hosts file of your own: --hosts FILE")
    else:
        show(f"{path}: {foreign.count(records)} to put back on the hosts of {hosts_file}:")
        for line in foreign.describe(records).splitlines():
            show(line)
        report.done.append(f"{path}: {_describe(put_back.by_trust(path, hosts_file, report.given_up))}")


def _restore(
    register: Register, open_run: OpenRun, hosts_file: Path | None, report: _Report, path: Path | None = None
) -> str:
    """Put back what an open run left; the result in words."""
    from lab.local import state
    from lab.run.restore import put_back

    if state.is_gone(open_run.instance):
        put_back.let_go(register, open_run, path)
        return _GONE
    try:
        return _describe(put_back.by_journal(register, open_run, hosts_file, path, report.given_up))
    except put_back.JournalLost:
        if (path or Path(open_run.folder)).exists() or not put_back.has_nothing_noted(register, open_run):
            raise
        put_back.let_go(register, open_run, path)
        return _NOTHING_NOTED


def _ask_hosts(hosts_file: Path, report: _Report) -> bool:
    """Put back what the hosts have noted themselves; False if that failed."""
    from lab.run.restore import put_back

    try:
        if (done := put_back.by_hosts(hosts_file, report.given_up)).changes:
            report.done.append(f"{hosts_file}: {_describe(done)}, by what the hosts had noted")
    except LabFailure as error:
        report.problems.append(f"{hosts_file}: {error.brief()}")
        return False
    return True


def _describe(done: PutBack) -> str:
    restarted = f" ({done.restarted} of them by a restart of the host)" if done.restarted else ""
    line = f"{done.changes} {'change' if done.changes == 1 else 'changes'} put back{restarted}"
    if done.lapsed and done.changes:
        hosts = "one host" if done.lapsed == 1 else "both hosts"
        verb = "was" if done.lapsed == 1 else "were"
        line += f"; {hosts} {verb} already unlocked (the lease expired, or another `lab restore` ran)"
    if done.left:
        line += f"; the lab's mount of the share had ended: where {' or '.join(done.left)} is in it still, remove it"
    return line
