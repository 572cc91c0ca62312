"""A run from its files to its folder: connect, open the journal, run the sweep, put everything back."""

from __future__ import annotations

import secrets as tokens
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

import lab
from lab import platforms
from lab.base import durable
from lab.base.errors import BadInput, Interrupted, LabFailure
from lab.base.untrusted import first_line
from lab.design.grid import grid_of
from lab.design.plan import plan
from lab.design.sweep_file import Sweep, parse_sweep, read_sweep
from lab.hosts import ROLES, CommandLog, Host, Role, connected, passwords
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.results.run_folder import RunFolder
from lab.results.trial import emulated
from lab.run.capability import Capability, check_programs, describe_idle_buffers, describe_left_out
from lab.run.catalogue import CATALOGUE
from lab.run.pair import Pair, Shares
from lab.run.runner import Ending, Progress, Runner, check_recorded
from lab.run.session import Session
from lab.settings import host_journal
from lab.settings.changes import Settings
from lab.settings.journal import Journal

Watch = Callable[[Progress], None]
Tell = Callable[[str], None]


def start(
    hosts_file: Path, sweep_file: Path, results: Path, watch: Watch, tell: Tell, most_failures: int | None = None
) -> tuple[RunFolder, Ending]:
    """Run a sweep into a new folder; returns it and how the run ended. ``most_failures``: see :class:`Runner`.

    Raises BadInput before anything is touched; LabFailure where it could not begin.
    """
    config, text = load_hosts(hosts_file), read_sweep(sweep_file)  # once: it may come from a pipe, or be edited now
    sweep = parse_sweep(text, sweep_file)
    check_fit(config, sweep, hosts_file)
    plan(sweep, CATALOGUE)  # raises for what cannot be, while no host has been reached
    password = _password(config)
    with connected(config) as hosts:
        # a first look that changes nothing: what cannot work must not cost an hour to find out
        pair = Pair.of(hosts, config, "check")
        left_out = _look(pair, password, sweep, tell)
        about = _describe_run(pair, text, sweep, left_out) | origin(config, hosts_file)
        folder = RunFolder.create(results, sweep.name, about | {"emulated": emulated(about) or None})
        with durable.claimed(folder.path):
            return folder, _conduct(folder, hosts, config, sweep, password, watch, tell, most_failures)


def _look(pair: Pair, password: SecretStr, sweep: Sweep, tell: Tell) -> dict[str, str]:
    """Which cases these hosts will never do, and why; what a person should know is told. Changes nothing."""
    for role in ROLES:
        pair.hosts[role].run("true", root=True)
        check_programs(pair, role, {"perl": "perl", "iperf3": "iperf3"}, "measuring")
    check_free(pair.hosts)
    left_out = Capability(Shares(pair, password)).left_out(grid_of(sweep, CATALOGUE)[0])
    for line in describe_left_out(left_out):
        tell(line)  # before a plan of the rest, which may not be possible
    for line in describe_idle_buffers(pair, plan(sweep, CATALOGUE, left_out).cases):
        tell(line)
    return left_out


def _describe_run(pair: Pair, text: str, sweep: Sweep, left_out: dict[str, str]) -> dict[str, object]:
    """What run.json says of the sweep and of both hosts."""
    return {
        "sweep_text": text,
        "seed": sweep.seed,
        "left_out": left_out,
        "title": pair.config.lab.title,
        "hosts": {
            role.value: asdict(pair.facts[role]) | {"transport": getattr(pair.config, role).transport} for role in ROLES
        },
    }


def resume(
    hosts_file: Path | None, path: Path, watch: Watch, tell: Tell, most_failures: int | None = None
) -> tuple[RunFolder, Ending]:
    """Go on with a run: what it holds already is neither repeated nor touched. As :func:`start` otherwise."""
    folder = RunFolder(path)
    with durable.claimed(path):
        hosts_file = hosts_file or Path(folder.text("hosts_file"))
        config = load_hosts(hosts_file)
        sweep = parse_sweep(folder.text("sweep_text"), path / "run.json: sweep_text")
        check_fit(config, sweep, hosts_file)
        # a record that cannot be read is an error here, while no host has been touched
        check_recorded(folder, sweep)
        if Journal(folder.journal_path).open:
            raise BadInput(f"{path}: an earlier end of this run left hosts changed", "run `lab restore` first")
        password = _password(config)
        with connected(config) as hosts:
            check_free(hosts)
            return folder, _conduct(folder, hosts, config, sweep, password, watch, tell, most_failures)


def _conduct(
    folder: RunFolder,
    hosts: Mapping[str, Host],
    config: Hosts,
    sweep: Sweep,
    password: SecretStr,
    watch: Watch,
    tell: Tell,
    most_failures: int | None,
) -> Ending:
    folder.update(ended="interrupted")
    try:
        with changing(folder, hosts, config, tell) as (settings, token):
            session = Session(hosts, config, settings, password, token)
            session.open()
            ending = Runner(session, folder, sweep, watch, most_failures).run()
    except LabFailure as error:
        folder.update(ended=f"failed: {first_line(str(error), 300)}")
        raise
    except Interrupted as error:
        raise Interrupted(f"{error}; every trial so far is kept, `lab run --resume {folder.path}` goes on") from error
    folder.update(ended=ending.text, finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
    return ending


@contextmanager
def changing(folder: RunFolder, hosts: Mapping[str, Host], config: Hosts, tell: Tell) -> Iterator[tuple[Settings, str]]:
    """Hosts that may be changed, and are put back at the end: claimed, under a token, with a journal in the folder.

    Raises HostError where another run has one, and RestoreError for what could not be put back.
    """
    log = CommandLog(folder.commands_path)
    for host in hosts.values():
        host.log = log
    token = tokens.token_hex(4)
    settings = Settings(hosts, Journal(folder.journal_path), host_journal.for_run(hosts, config, token), tell=tell)
    try:
        for role in ROLES:
            settings.claim(role)
        yield settings, token
    finally:
        settings.unwind()


def check_free(hosts: Mapping[Role, Host] | Mapping[str, Host]) -> None:
    """Raise LabFailure where another run uses a host, or an earlier one left it changed. Changes nothing."""
    for role, host in hosts.items():
        content = host_journal.read(host)
        if content.in_use:
            raise content.in_use
        if content.records:
            names = ", ".join(record.name for record in content.records)
            raise LabFailure(
                f"{role}: an earlier run left it changed ({names:.300})",
                "`lab restore`, where that run was started, puts it back; `lab restore --hosts FILE` does so from "
                "anywhere, by what the hosts have noted",
            )


def _password(config: Hosts) -> SecretStr:
    return passwords.resolve(config.share.password, config.share.account, f"{config.place}[share] password")


def check_fit(config: Hosts, sweep: Sweep, hosts_file: Path) -> None:
    """What can be seen to be wrong from the two files together. Raises BadInput."""
    platforms.check_hosts(config)
    stores = sweep.factors.of("store")
    for role in ROLES:
        if role is Role.CLIENT or "ram" in stores:
            _check_ram_disk(config, role, sweep.workload.size, hosts_file)
    if config.share.serve == "existing" and stores != ("disk",):
        raise BadInput(
            f"{hosts_file}: [share] serve = existing: the lab cannot choose where that share's files are",
            'give store = ["disk"] in the sweep, or serve = lab',
        )
    for role in ROLES:
        if not config.may_tune(role) and sweep.factors.of("tcp_space") != ("default",):
            raise BadInput(
                f"{hosts_file}: [{role}] tune: the lab is not to change this host, but the sweep wants TCP buffers",
                'give tcp_space = ["default"] in the sweep, or tune = yes',
            )
    if "disk" in stores and config.share.path is None:
        raise BadInput(f"{hosts_file}: [share] path: missing", 'store "disk" needs the folder on the server')


def _check_ram_disk(config: Hosts, role: Role, size_bytes: int, hosts_file: Path) -> None:
    ram_disk = getattr(config, role).ram_disk
    if size_bytes * 1.05 > ram_disk:
        raise BadInput(
            f"{hosts_file}: [{role}] ram_disk: {ram_disk} bytes cannot hold a payload of {size_bytes} bytes with "
            f"room to spare",
            "a larger ram_disk, or a smaller size in the sweep",
        )


def origin(config: Hosts, hosts_file: Path) -> dict[str, str | None]:
    """What a run folder must say for `lab restore` to find its hosts again, and which program made it."""
    instance = config.lab.instance
    return {"code_version": code_version(), "instance": instance, "hosts_file": str(hosts_file.resolve())}


def code_version() -> str:
    """The version, with the commit where this is a git checkout, marked where it has uncommitted changes."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return lab.__version__
    return f"{lab.__version__}+{commit}"
