"""A run from its files to its folder: connect, open the journal, run the sweep, put everything back."""

from __future__ import annotations

import secrets as tokens
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from lab import workloads
from lab.base import durable, signals
from lab.base.errors import Interrupted, LabFailure
from lab.base.os_errors import explain, remedy
from lab.base.untrusted import first_line
from lab.design.blocks import Ordering
from lab.design.cost import CEILING_SHOTS
from lab.design.grid import grid_of
from lab.design.pace import Pace
from lab.design.plan import plan
from lab.design.plan_text import exceeds_cap
from lab.design.sweep_file import Sweep, parse_sweep, read_sweep
from lab.hosts import CommandLog, Host, Role, connected, passwords
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import RunFolder
from lab.results.trial import emulated
from lab.run import fit, made_store, pace, refusals, resumption, root_helper, store_fit
from lab.run.capability import (
    Capability,
    check_further_clients,
    check_programs,
    describe_idle_buffers,
    describe_left_out,
)
from lab.run.catalogue import CATALOGUE
from lab.run.noise import describe_noises
from lab.run.pair import Pair, Shares
from lab.run.private_names import private_names
from lab.run.runner import Ending, Progress, Runner, check_recorded
from lab.run.session import Session
from lab.run.size_by_link import choose_size, recorded_size
from lab.run.unseen import describe_unseen
from lab.run.version import code_version
from lab.run.vocabulary import line_format
from lab.settings import host_journal, lease
from lab.settings.changes import Settings
from lab.settings.journal import Journal
from lab.settings.register import Register

Tell = Callable[[str], None]
IsGone = Callable[[str | None], bool]  # whether the hosts of an instance, as the hosts file has it, no longer exist


@dataclass(frozen=True)
class Supervision:
    """Who is told what of a run, what ends it early, and what it may write to.

    ``write_to`` are the devices of the server that the user has named at the command. ``watch`` gets each trial,
    ``tell`` a line of text; ``most_failures``, ``repeat_disturbed`` and ``deadline``: see :class:`Runner`.
    """

    watch: Callable[[Progress], None]
    tell: Tell
    most_failures: int | None = None
    is_gone: IsGone = lambda _: False
    repeat_disturbed: bool = False
    deadline: float | None = None
    write_to: tuple[str, ...] = ()


def start(hosts_file: Path, sweep_file: Path, results: Path, supervision: Supervision) -> tuple[RunFolder, Ending]:
    """Run a sweep into a new folder; returns it and how the run ended.

    Raises BadInput before anything is touched; LabFailure where it could not begin.
    """
    text = read_sweep(sweep_file)  # once: it may come from a pipe, or be edited now
    config, sweep = load_hosts(hosts_file), parse_sweep(text, sweep_file)
    return begin(config, sweep, text, results, supervision, {"sweep_file": str(sweep_file)})


def begin(
    config: Hosts, sweep: Sweep, text: str, results: Path, supervision: Supervision, more: Mapping[str, object]
) -> tuple[RunFolder, Ending]:
    """Run a sweep, which is kept in run.json as ``text``, with ``more``. See :func:`start`."""
    Register()  # raises where there can be none, while nothing was touched
    hosts_file = config.path
    fit.check_fit(config, sweep, hosts_file, results)
    config = config.with_clients(fit.most_clients(sweep))
    fit.check_write_to(config, sweep, supervision.write_to)
    plan(sweep, CATALOGUE)  # raises for what cannot be, while no host has been reached
    password = _password(config, sweep)
    with connected(config) as hosts:
        # a first look that changes nothing: what cannot work must not cost an hour to find out
        pair = Pair.of(hosts, config)
        others = [pair.beside(name, hosts[name]) for name in config.more_clients]
        left_out, closed = _look(pair, password, sweep, supervision.tell, pace.newest(results, hosts_file))
        check_further_clients(others, password, grid_of(sweep, CATALOGUE, left_out)[0])
        about = origin(config, hosts_file, _describe_run(pair, others, text, sweep, left_out) | {"closed": closed})
        about |= {"emulated": emulated(about) or None, **more}
        folder = RunFolder.create(results, sweep.name, about)
        with durable.claimed(folder.path):
            if sweep.workload.recorded:
                durable.create(folder.manifest_path, sweep.workload.recorded.text().encode())
            return folder, _conduct(folder, hosts, config, sweep, password, supervision)


def _look(
    pair: Pair, password: SecretStr, sweep: Sweep, tell: Tell, usual: Pace
) -> tuple[dict[str, str], dict[str, str]]:
    """Which cases these hosts will not do, and why; and of that what somebody could correct, by protocol.

    What a person should know is told. Changes nothing.
    """
    for role in pair.roles:
        pair.hosts[role].run("true", root=True)
        iperf3 = {"iperf3": "iperf3"} if pair.config.measures_link and not sweep.is_local else {}
        check_programs(pair, role, {"perl": "perl", **iperf3}, "measuring")
    check_free(pair.hosts)
    for line in describe_unseen(pair.config):
        tell(line)
    capability = Capability(Shares(pair, password))
    left_out = capability.left_out(grid_of(sweep, CATALOGUE)[0])
    store_fit.check_hosts(pair, sweep)
    for line in describe_left_out(left_out):
        tell(line)  # before a plan of the rest, which may not be possible
    planned = plan(sweep, CATALOGUE, left_out, pace=usual, image_bytes=pair.config.share.image_size)
    for line in describe_idle_buffers(pair, planned.cases):
        tell(line)
    if warning := exceeds_cap(sweep, planned):
        tell(warning)
    for line in describe_noises(pair):  # last: a sweep that is refused needs no quiet host
        tell(line)
    return left_out, capability.closed


def _describe_run(
    pair: Pair, others: Sequence[Pair], text: str, sweep: Sweep, left_out: dict[str, str]
) -> dict[str, object]:
    """What run.json says of the sweep and of both hosts."""
    caveats = made_store.caveats_of(sweep)
    return {
        "sweep_text": text,
        "seed": sweep.seed,
        "ordering": Ordering.MIRRORED.value,
        "ceiling_shots": CEILING_SHOTS,
        "left_out": left_out,
        "title": pair.config.lab.title,
        "hosts": {
            role.value: asdict(facts) | {"transport": getattr(pair.config, role).transport}
            for role, facts in pair.facts.items()
        }
        | {
            name: asdict(other.facts[Role.CLIENT]) | {"transport": other.config.client.transport}
            for name, other in zip(pair.config.more_clients, others, strict=True)
        },
        **({"caveats": caveats} if caveats else {}),
    }


def resume(
    hosts_file: Path | None, path: Path, supervision: Supervision, trust: bool = False
) -> tuple[RunFolder, Ending]:
    """Go on with a run: what it holds already is neither repeated nor touched. As :func:`start` otherwise.

    One that this controller did not begin is refused, unless the user says to ``trust`` it.
    """
    register, folder = Register(), RunFolder(path)
    with durable.claimed(path):
        config = resumption.hosts_of(register, folder, hosts_file, trust)
        resumption.check_journal(register, folder, trust)
        sweep = parse_sweep(folder.text("sweep_text"), path / "run.json: sweep_text", folder.manifest_path)
        sweep = recorded_size(sweep, folder)
        fit.check_fit(config, sweep, config.path)
        config = config.with_clients(fit.most_clients(sweep))
        fit.check_write_to(config, sweep, supervision.write_to)
        # a record that cannot be read, or added to, is an error here, while no host has been touched
        folder.check_own()
        check_recorded(folder, sweep)
        password = _password(config, sweep)
        with connected(config) as hosts:
            check_free(hosts)
            if trust:
                resumption.adopt(folder, origin(config, config.path, folder.run))
            return folder, _conduct(folder, hosts, config, sweep, password, supervision)


def _conduct(
    folder: RunFolder,
    hosts: Mapping[str, Host],
    config: Hosts,
    sweep: Sweep,
    password: SecretStr,
    supervision: Supervision,
) -> Ending:
    folder.update(ended="interrupted")
    try:
        with changing(folder, hosts, config, supervision.tell, supervision.is_gone) as settings:
            payload = workloads.payload(sweep.workload.kind).of(sweep.workload)
            session = Session(hosts, config, settings, password, payload)
            session.open()
            limits = supervision.most_failures, supervision.repeat_disturbed, supervision.deadline
            try:
                sized = choose_size(session, folder, sweep, supervision.tell)
                ending = Runner(session, folder, sized, supervision.watch, *limits).run()
            finally:
                session.leave_share()
    except LabFailure as error:
        with suppress(OSError):  # the disk may be full; what failed first is told
            folder.update(ended=f"failed: {first_line(str(error), 300)}")
        raise
    except OSError as error:
        raise LabFailure(explain(error), remedy(error, f"`lab run --resume {folder.path}` goes on")) from error
    except Interrupted as error:
        kept = f"every trial so far is kept, `lab run --resume {folder.path}` goes on"
        raise Interrupted(f"{error}; {kept}", error.number) from error
    folder.update(ended=ending.text, finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
    return ending


@contextmanager
def changing(
    folder: RunFolder, hosts: Mapping[str, Host], config: Hosts, tell: Tell, is_gone: IsGone = lambda _: False
) -> Iterator[Settings]:
    """Hosts that may be changed, and are put back at the end: claimed, with a journal in the folder.

    The register has the run open meanwhile, and as long as something is not put back. Raises HostError where another
    run has a host, and RestoreError for what could not be put back.
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


def check_free(hosts: Mapping[Role, Host] | Mapping[str, Host]) -> None:
    """Raise LabFailure where another run uses a host, or an earlier one left it changed. Changes nothing.

    So too where a helper of a narrow sudo is missing, or is that of another lab.
    """
    for role, host in hosts.items():
        root_helper.check_installed(host)
        content = host_journal.read(host, line_format())
        if content.in_use:
            raise content.in_use
        if content.records:
            names = ", ".join(record.name for record in content.records)
            raise LabFailure(
                f"{role}: an earlier run left it changed ({names:.300})",
                "`lab restore`, by the account that began that run, puts it back; `lab restore --hosts FILE` does so "
                "from anywhere, by what the hosts have noted",
            )


def _password(config: Hosts, sweep: Sweep) -> SecretStr:
    """The share's; empty where no mount of this sweep takes one."""
    if not refusals.needs_password(config, sweep):
        return SecretStr("")
    return passwords.resolve(config.share.password, config.share.account, f"{config.place}[share] password")


def origin(config: Hosts, hosts_file: Path, about: Mapping[str, object]) -> dict[str, object]:
    """What run.json says ``about`` a run, with its hosts, the program, and the seal that it was begun here."""
    register = Register()
    hosts = {"instance": config.lab.instance, "hosts_file": str(hosts_file.resolve()), "names": private_names(config)}
    version = {"code_version": about.get("code_version") or code_version()}
    return register.sign({**about, **version, **hosts, "hosts_digest": register.digest(config)})
