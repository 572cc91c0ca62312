"""A run from its files to its folder: connect, open the journal, run the sweep, put everything back. And restoring."""

from __future__ import annotations

import secrets as tokens
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

import lab
from lab import durable, secrets
from lab.config import Hosts, Sweep, load_hosts, parse_sweep, read_sweep
from lab.errors import BadInput, Interrupted
from lab.hosts import CommandLog, Host, SshHost
from lab.results import JOURNAL, RunFolder
from lab.session import ROLES, Session
from lab.settings import Journal, Settings
from lab.sweep import Ending, Progress, Runner, plan

Watch = Callable[[Progress], None]


@contextmanager
def connected(config: Hosts, log: CommandLog | None = None) -> Iterator[dict[str, Host]]:
    """Both hosts, connected, by role. Raises HostError."""
    with ExitStack() as stack:
        hosts: dict[str, Host] = {}
        for role in ROLES:
            host = SshHost(role, getattr(config, role))
            stack.callback(host.close)
            host.log = log or host.log
            hosts[role] = host
        yield hosts


def start(hosts_file: Path, sweep_file: Path, results: Path, watch: Watch) -> tuple[RunFolder, Ending]:
    """Run a sweep into a new folder; returns it and how the run ended.

    Raises BadInput before anything is touched; LabFailure where it could not begin.
    """
    config, text = load_hosts(hosts_file), read_sweep(sweep_file)  # once: it may come from a pipe, or be edited now
    sweep = parse_sweep(text, sweep_file)
    check_fit(config, sweep, hosts_file)
    plan(sweep)
    password = _password(config)
    with connected(config) as hosts:
        # a first look that changes nothing: what cannot work must not cost an hour to find out
        session = Session(hosts, config, Settings(hosts, Journal(Path("/dev/null"))), password, "check")
        for role, host in hosts.items():
            host.run("true", root=True)
            session.check_programs(role, {"perl": "perl", "iperf3": "iperf3"}, "measuring")
        for case in plan(sweep).cases:
            session.check_case(case)
        run = {
            "sweep_text": text,
            "seed": sweep.seed,
            "code_version": code_version(),
            "title": config.lab.title,
            "instance": config.lab.instance,
            "hosts_file": str(hosts_file.resolve()),
            "hosts": {role: asdict(session.facts[role]) for role in ROLES},
        }
        folder = RunFolder.create(results, sweep.name, run)
        with durable.claimed(folder.path):
            return folder, _conduct(folder, hosts, config, sweep, password, watch)


def resume(hosts_file: Path | None, path: Path, watch: Watch) -> tuple[RunFolder, Ending]:
    """Go on with a run: what it holds already is neither repeated nor touched. As :func:`start` otherwise."""
    folder = RunFolder(path)
    with durable.claimed(path):
        hosts_file = hosts_file or Path(folder.text("hosts_file"))
        config = load_hosts(hosts_file)
        sweep = parse_sweep(folder.text("sweep_text"), path / "run.json: sweep_text")
        check_fit(config, sweep, hosts_file)
        # both raise for what cannot be read, while no host has been touched
        plan(sweep)
        folder.trials()
        if Journal(folder.journal_path).open:
            raise BadInput(f"{path}: an earlier end of this run left hosts changed: run `lab restore` first")
        password = _password(config)
        with connected(config) as hosts:
            return folder, _conduct(folder, hosts, config, sweep, password, watch)


def _conduct(
    folder: RunFolder, hosts: Mapping[str, Host], config: Hosts, sweep: Sweep, password: SecretStr, watch: Watch
) -> Ending:
    log = CommandLog(folder.commands_path)
    for host in hosts.values():
        host.log = log
    settings = Settings(hosts, Journal(folder.journal_path))
    folder.update(ended="interrupted")
    try:
        session = Session(hosts, config, settings, password, tokens.token_hex(4))
        session.open()
        ending = Runner(session, folder, sweep, watch).run()
    except Interrupted as error:
        raise Interrupted(f"{error}; every trial so far is kept, `lab run --resume {folder.path}` goes on") from error
    finally:
        settings.unwind()
    folder.update(ended=ending.early or "complete", finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
    return ending


def _password(config: Hosts) -> SecretStr:
    return secrets.resolve(config.share.password, config.share.account, f"{config.place}[share] password")


def check_fit(config: Hosts, sweep: Sweep, hosts_file: Path) -> None:
    """What can be seen to be wrong from the two files together. Raises BadInput."""
    stores, size = sweep.factors.store, sweep.workload.size
    for role in ROLES:
        if role == "client" or "ram" in stores:
            ram_disk = getattr(config, role).ram_disk
            if size * 1.05 > ram_disk:
                raise BadInput(
                    f"{hosts_file}: [{role}] ram_disk: {ram_disk} bytes cannot hold a payload of {size} bytes with "
                    f"room to spare: a larger ram_disk, or a smaller size in the sweep"
                )
    if config.share.serve == "existing" and stores != ("disk",):
        raise BadInput(
            f"{hosts_file}: [share] serve = existing: the lab cannot choose where that share's files are; "
            f'give store = ["disk"] in the sweep, or serve = lab'
        )
    if "disk" in stores and config.share.path is None:
        raise BadInput(f'{hosts_file}: [share] path: missing; store "disk" needs the folder on the server')


def code_version() -> str:
    """The version, with the commit where this is a git checkout, marked where it has uncommitted changes."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return lab.__version__
    return f"{lab.__version__}+{commit}"


def open_journals(results: Path) -> tuple[list[RunFolder], list[str]]:
    """The runs whose journals hold something to put back, oldest first; and what is wrong with unreadable ones.

    Raises BadInput where ``results`` is no folder that can be read: that nothing is seen there proves nothing.
    """
    try:
        paths = sorted(results.iterdir())
    except OSError as error:
        advice = "`lab restore` must run where the runs were started"
        raise BadInput(f"{results.absolute()}: holds no runs: {error.strerror}; {advice}") from error
    found, problems = [], []
    for path in paths:
        try:
            if path.is_dir() and _is_open(path):
                found.append(RunFolder(path))
        except (BadInput, OSError) as error:
            problems.append(str(error))
    return found, problems


def _is_open(path: Path) -> bool:
    """Whether a run left anything to put back. Raises BadInput for one that is still running."""
    with durable.claimed(path):
        return bool(Journal(path / JOURNAL).open)


def restore(folder: RunFolder, hosts_file: Path | None) -> int:
    """Put back what a run left changed; returns how many changes that were. Safe to repeat.

    Raises RestoreError for what could not be, with the commands to type by hand.
    """
    config = load_hosts(hosts_file or Path(folder.text("hosts_file")))
    with durable.claimed(folder.path):
        journal = Journal(folder.journal_path)
        count = len(journal.open)
        with connected(config, CommandLog(folder.commands_path)) as hosts:
            Settings(hosts, journal).unwind()
    return count


def forget(folder: RunFolder) -> int:
    """Close the journal of a run whose hosts no longer exist; returns how many changes went with them."""
    with durable.claimed(folder.path):
        journal = Journal(folder.journal_path)
        records = list(journal.open)
        for record in reversed(records):
            journal.close(record)
    return len(records)
