"""A survey from its hosts file to its folder: what became of every probe, for each place, tool and direction.

It is untimed. The engine of a run stands each place up and puts everything back.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from lab.base import durable
from lab.base.errors import BadInput, LabFailure, RestoreError, Unsupported
from lab.base.untrusted import first_line, listing
from lab.fidelity import host_scripts
from lab.fidelity.copiers import Copier, Engine
from lab.fidelity.copies import Copy
from lab.fidelity.places import Asked, Stand, choose, copiers_for, list_stands, make_sweep
from lab.fidelity.probes import LINUX
from lab.fidelity.stand_survey import StandSurvey
from lab.hosts import Host, Role, passwords
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.ssh import connected
from lab.results.run_folder import RunFolder
from lab.results.run_names import FIDELITY
from lab.run.begin import compatibility, refusals
from lab.run.begin.look import check_free
from lab.run.begin.origin import origin
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.lifecycle import IsGone, Tell, changing
from lab.settings.register import Register

INSTALL = "`xcode-select --install` there"
ANY_MTU = 1500  # before a host has been asked for its own


@dataclass
class Survey:
    """What was surveyed. ``failures`` are places that could not be stood up, ``left_out`` those that cannot be."""

    engines: Sequence[Engine]
    left_out: Sequence[str]
    copies: list[Copy] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether everything was kept everywhere."""
        return all(copy.is_whole for copy in self.copies)

    def to_json(self) -> dict[str, object]:
        """For a program to read."""
        engines = [{**asdict(engine), "post_line": engine.answer} for engine in self.engines]
        return {
            "engines": engines, "left_out": list(self.left_out), "failures": self.failures,
            "copies": [copy.to_json() for copy in self.copies],
        }  # fmt: skip

    def keep(self, folder: RunFolder) -> None:
        """Write what was found so far into the run folder."""
        durable.replace(folder.path / FIDELITY, json.dumps(self.to_json(), indent=1).encode())


def start(hosts_file: Path, results: Path, asked: Asked, tell: Tell, is_gone: IsGone) -> tuple[RunFolder, Survey]:
    """Survey into a new folder. Raises BadInput before anything is touched; LabFailure where it could not begin."""
    config, copiers = _untuned(load_hosts(hosts_file)), asked.copiers
    password = _check_input(config, asked, results)
    with connected(config) as hosts:
        pair = Pair.of(hosts, config)
        _check_hosts(pair)
        stands = list_stands(make_sweep(asked, config, pair.facts[Role.CLIENT].mtu))
        chosen, left_out = choose(stands, pair, password, asked)
        engines = [
            engine
            for role in pair.roles
            for engine in host_scripts.ask_engines(pair.hosts[role], pair.sides[role].platform)
        ]
        survey = Survey(engines, left_out)
        for line in (*left_out, *_unseen(config)):
            tell(line)
        folder = RunFolder.create(results, "fidelity", origin(config, _describe(pair)))
        installed = _installed(pair, copiers, tell)
        with (
            durable.claimed(folder.path),
            _noting_the_end(folder),
            changing(folder, hosts, config, tell, is_gone) as settings,
        ):
            session = Session(hosts, config, settings, password)
            session.open()
            try:
                for stand in chosen:
                    _survey_place(session, stand, installed, asked, survey, tell)
                    survey.keep(folder)
            finally:
                session.leave_share()
        return folder, survey


def _check_input(config: Hosts, asked: Asked, results: Path) -> SecretStr:
    """Refuse what cannot be, while nothing was touched; the share's password. Raises BadInput."""
    Register()  # raises where there can be none
    sweep = make_sweep(asked, config, ANY_MTU)
    if not any(copiers_for(stand.place.protocol, asked.copiers) for stand in list_stands(sweep)):
        tools = listing(copier.name for copier in asked.copiers)
        raise BadInput(f"--tool {tools}: copies between folders, and ssh mounts none", "give rsync-a or rsync-all")
    compatibility.check_fit(config, sweep, results)
    if not refusals.needs_password(config, sweep):
        return SecretStr("")
    return passwords.resolve(config.share.password, config.share.account, f"{config.place}[share] password")


def _untuned(config: Hosts) -> Hosts:
    """The server and the first client, whose MTU and TCP buffers are left as they are: nothing is timed."""
    sides = {role.value: getattr(config, role).model_copy(update={"tune": "no"}) for role in Role}
    return config.with_clients(1).model_copy(update=sides)


def _check_hosts(pair: Pair) -> None:
    """Raise LabFailure where a host cannot be probed, or is not free. Changes nothing."""
    for role in pair.roles:
        programs, platform = pair.platforms[role].programs, pair.sides[role].platform
        for program in programs.missing(("perl", "python3") if platform == LINUX else ("perl",)):
            raise Unsupported(f"lab fidelity needs {program}", programs.how_to_install(program), host=role)
        if not host_scripts.has_python(pair.hosts[role], platform):
            raise Unsupported("lab fidelity needs the python3 of the Command Line Tools", INSTALL, host=role)
    hosts: Mapping[Role, Host] = pair.hosts
    check_free(hosts)


def _unseen(config: Hosts) -> list[str]:
    if not config.through_mount:
        return []
    return ["no login leads to the share's folder: writes are looked at through the mount alone, reads are left out"]


def _describe(pair: Pair) -> dict[str, object]:
    """What run.json says of both hosts."""
    return {"title": pair.config.lab.title, "hosts": {role.value: asdict(pair.facts[role]) for role in pair.roles}}


def _installed(pair: Pair, copiers: Sequence[Copier], tell: Callable[[str], None]) -> list[Copier]:
    """The tools that the client has."""
    platform = pair.platforms[Role.CLIENT]
    known = [copier for copier in copiers if platform.name in copier.argv]
    there = [copier for copier in known if not platform.programs.missing([copier.argv[platform.name][0]])]
    for copier in known:
        if copier not in there:
            tell(f"client: {copier.name} is left out: there is no {copier.argv[platform.name][0]}")
    return there


def _survey_place(
    session: Session, stand: Stand, copiers: Sequence[Copier], asked: Asked, survey: Survey, tell: Tell
) -> None:
    """Survey one place; where it fails, that is noted, and does not keep the others."""
    engine = next((engine for engine in survey.engines if engine.host == Role.CLIENT), None)
    number = len(survey.copies) + len(survey.failures)  # no place before had it
    tell(stand.place.label)
    try:
        survey.copies += StandSurvey(session, stand, copiers, engine, number).run(asked)
    except RestoreError:
        raise
    except LabFailure as error:
        survey.failures.append(f"{stand.place.label}: {error.on_one_line()}")
        tell(survey.failures[-1])
        session.recover()


@contextmanager
def _noting_the_end(folder: RunFolder) -> Iterator[None]:
    """Note in run.json how the survey ended."""
    folder.update(ended="interrupted")
    try:
        yield
    except LabFailure as error:
        folder.update(ended=f"failed: {first_line(str(error), 300)}")
        raise
    folder.update(ended="every place was looked at", finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
