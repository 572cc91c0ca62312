"""A run from its files to its folder: connect, open the journal, run the sweep, put everything back."""

import secrets as tokens
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from lab import workloads
from lab.base import durable, signals
from lab.base.errors import Interrupted, LabFailure, RestoreError
from lab.base.os_errors import explain, remedy
from lab.design.plan import Plan
from lab.design.sweep_file import Sweep, parse_sweep, read_sweep
from lab.hosts import CommandLog, Host
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.ssh import connected
from lab.results.run_folder import RunFolder
from lab.results.trial import emulated
from lab.run.begin import compatibility, pace
from lab.run.begin.look import check_hosts, describe_moment, describe_run, look, plan_of
from lab.run.begin.origin import adopt, check_journal, hosts_of, origin
from lab.run.begin.payload_size import choose_size, recorded_size
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.restore import watched
from lab.run.restore.vocabulary import line_format
from lab.run.runner import Ending, Progress, Runner
from lab.run.transfer.recorded import check_recorded
from lab.settings import lease
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.settings.register import Register

Tell = Callable[[str], None]
IsGone = Callable[[str | None], bool]  # whether the hosts of an instance, as the hosts file has it, no longer exist


@dataclass(frozen=True)
class Supervision:
    """Who gets what reports of a run, what ends it early, and what it may write to.

    ``watch`` gets each trial, ``tell`` a line of text. ``write_to`` are the server's devices that the user named at the
    command. ``is_beside``: files that a run of another share left are no obstacle. ``reword`` puts what ended the run
    into other words, for run.json. For the others see :class:`Runner`.
    """

    watch: Callable[[Progress], None]
    tell: Tell
    most_failures: int | None = None
    is_gone: IsGone = lambda _: False
    repeat_disturbed: bool = False
    deadline: float | None = None
    retry_failed: bool = False
    write_to: tuple[str, ...] = ()
    is_beside: bool = False
    reword: Callable[[LabFailure], LabFailure] = lambda error: error


def start(hosts_file: Path, sweep_file: Path, results: Path, supervision: Supervision) -> tuple[RunFolder, Ending]:
    """Run a sweep into a new folder; returns it and how the run ended.

    Raises BadInput before anything is touched, and LabFailure if the run could not begin.
    """
    text = read_sweep(sweep_file)  # once, because the file may be a pipe, or be edited now
    config, sweep = load_hosts(hosts_file), parse_sweep(text, sweep_file)
    return begin(config, sweep, text, results, supervision, {"sweep_file": str(sweep_file)})


def begin(
    config: Hosts, sweep: Sweep, text: str, results: Path, supervision: Supervision, more: Mapping[str, object]
) -> tuple[RunFolder, Ending]:
    """Run a sweep, whose file has this ``text``; run.json gets ``more``, too. As :func:`start` otherwise."""
    Register()  # raises if there can be none, before anything is touched
    cases = compatibility.check_fit(config, sweep, results)
    config = config.with_clients(compatibility.most_clients(sweep))
    compatibility.check_write_to(config, sweep, supervision.write_to)
    password = compatibility.ask_password(config, sweep)
    with connected(config) as hosts:
        # a first look that changes nothing, so that what cannot work is known at once
        config = watched.fitted(config, hosts)
        compatibility.check_fit(config, sweep)
        pair = Pair.of(hosts, config)
        others = [pair.beside(name, hosts[name]) for name in config.more_clients]
        check_hosts(pair, sweep, supervision.tell if supervision.is_beside else None)
        first_look = look(pair, others, password, sweep, cases, supervision.tell, pace.newest(results, config.path))
        about = origin(config, describe_run(pair, others, text, sweep, first_look))
        about |= {"emulated": emulated(about) or None, **more}
        folder = RunFolder.create(results, sweep.name, about)
        with durable.claimed(folder.path):
            if sweep.workload.recorded:
                durable.create(folder.manifest_path, sweep.workload.recorded.text().encode())
            return folder, _conduct(folder, hosts, config, sweep, first_look.plan, password, supervision)


def resume(
    hosts_file: Path | None, path: Path, supervision: Supervision, trust: bool = False
) -> tuple[RunFolder, Ending]:
    """Resume a run, without repeating or touching what it has. As :func:`start` otherwise.

    A run that this controller did not begin is refused, unless the user says to ``trust`` it.
    """
    register, folder = Register(), RunFolder(path)
    with durable.claimed(path):
        config = hosts_of(register, folder, hosts_file, trust)
        check_journal(register, folder, trust)
        sweep = parse_sweep(folder.text("sweep_text"), path / "run.json: sweep_text", folder.manifest_path)
        sweep = recorded_size(sweep, folder)
        compatibility.check_fit(config, sweep)
        config = config.with_clients(compatibility.most_clients(sweep))
        compatibility.check_write_to(config, sweep, supervision.write_to)
        # a record that cannot be read, or written, is an error here, before a host is touched
        folder.check_own()
        planned = plan_of(folder, sweep)
        check_recorded(folder, sweep, planned)
        password = compatibility.ask_password(config, sweep)
        with connected(config) as hosts:
            config = watched.fitted(config, hosts)
            compatibility.check_fit(config, sweep)
            pair = Pair.of(hosts, config)
            check_hosts(pair, sweep)
            for line in describe_moment(pair, planned.cases):
                supervision.tell(line)
            if trust:
                adopt(folder, origin(config, folder.run))
            return folder, _conduct(folder, hosts, config, sweep, planned, password, supervision)


def _conduct(
    folder: RunFolder,
    hosts: Mapping[str, Host],
    config: Hosts,
    sweep: Sweep,
    planned: Plan,
    password: SecretStr,
    supervision: Supervision,
) -> Ending:
    try:
        with (
            noting_a_failure(folder, supervision.reword),
            changing(folder, hosts, config, supervision.tell, supervision.is_gone) as settings,
        ):
            payload = workloads.payload(sweep.workload.kind).of(sweep.workload)
            session = Session(hosts, config, settings, password, payload)
            session.open()
            limits = (
                supervision.most_failures, supervision.repeat_disturbed, supervision.deadline, supervision.retry_failed
            )  # fmt: skip
            try:
                sweep, planned = choose_size(session, folder, sweep, planned, supervision.tell)
                ending = Runner(session, folder, sweep, planned, supervision.watch, *limits).run()
            finally:
                session.leave_share()
    except RestoreError as error:
        if error.stopped_by or signals.is_pending():
            error.remedy += f"; {_kept(folder, supervision)}"
        raise
    except OSError as error:
        raise LabFailure(explain(error), remedy(error, f"`lab run --resume {folder.path}` goes on")) from error
    except Interrupted as error:
        raise Interrupted(f"{error}; {_kept(folder, supervision)}", error.number) from error
    folder.update(ended=ending.text, finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
    return ending


def _kept(folder: RunFolder, supervision: Supervision) -> str:
    # to resume a run that had a deadline would take as long as it takes
    again = f"`lab run --resume {folder.path}` goes on"
    more = again if supervision.deadline is None else f"`lab show {folder.path}` shows them"
    return f"every trial so far is kept: {more}"


@contextmanager
def noting_a_failure(
    folder: RunFolder, reword: Callable[[LabFailure], LabFailure] = lambda error: error
) -> Iterator[None]:
    """Note in run.json which error ended a run; if none did, it is interrupted until its end is noted."""
    folder.update(ended="interrupted", failed=False)
    try:
        yield
    except LabFailure as error:
        with suppress(OSError):  # the disk may be full; the first failure is reported
            told = reword(error)
            why = ": ".join(filter(None, [told.host, told.cause()]))
            folder.update(ended=f"failed: {why}", failed=True)
        raise


@contextmanager
def changing(
    folder: RunFolder, hosts: Mapping[str, Host], config: Hosts, tell: Tell, is_gone: IsGone = lambda _: False
) -> Iterator[Settings]:
    """Lock hosts, change them with a journal in the folder, and put everything back at the end.

    The run is open in the register until everything is put back. Raises HostError if another run has a host, and
    RestoreError for what could not be put back.
    """
    log = CommandLog(folder.commands_path)
    for host in hosts.values():
        host.log = log
    token, register = tokens.token_hex(4), Register()
    seals = register.seals(folder.text("id"))
    journal, journals = Journal(folder.journal_path, line_format(), seals), lease.for_run(hosts, config, token)
    settings = Settings(hosts, journal, journals, tell=tell, is_gone=lambda: is_gone(config.lab.instance))
    register.enter(folder.text("id"), folder.path, config, seals.count)
    with lease.keep_alive(journals):
        try:
            for role in hosts:
                settings.claim(role)
            yield settings
        finally:
            with signals.deferred():
                settings.unwind()
                register.leave(folder.text("id"))
