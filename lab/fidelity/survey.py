"""A survey, from its hosts file to its folder: what became of every probe, for each place, tool and direction.

Nothing is timed. The machinery of a run sets each place up and puts everything back.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from lab.base import durable
from lab.base.errors import BadInput, LabFailure, RestoreError, Unsupported
from lab.base.untrusted import MOST_FILE_BYTES, from_json, listing, read_file
from lab.design.factors import Direction
from lab.fidelity.copiers import Copier, Engine
from lab.fidelity.copies import Copy
from lab.fidelity.place_survey import PlaceSurvey
from lab.fidelity.places import Asked, PlaceCase, choose, copiers_for, list_places, make_sweep
from lab.fidelity.probed_host import ProbedHost
from lab.fidelity.probes import LINUX
from lab.hosts import Role
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.hosts.ssh import connected
from lab.results.run_folder import RunFolder
from lab.results.run_names import FIDELITY, paths_of_runs
from lab.results.trial import read_time
from lab.run.begin import compatibility
from lab.run.begin.capability import Capability
from lab.run.begin.look import check_free
from lab.run.begin.origin import origin
from lab.run.case.pair import Pair
from lab.run.case.session import Session
from lab.run.case.sharing import Shares
from lab.run.lifecycle import IsGone, Tell, changing, noting_a_failure
from lab.settings.register import Register

INSTALL = "`xcode-select --install` there"
NO_LOGIN = "no login leads to the share's folder: writes are looked at through the mount alone, reads are left out"
ANY_MTU = 1500  # before a host has been asked for its own


@dataclass
class Survey:
    """The result. ``left_out`` has places that the hosts cannot have, ``failures`` places that could not be set up."""

    engines: Sequence[Engine]
    left_out: Sequence[str]
    copies: list[Copy] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether every copy kept everything."""
        return all(copy.is_whole for copy in self.copies)

    def to_json(self) -> dict[str, object]:
        """For a program to read."""
        engines = [{**asdict(engine), "post_line": engine.answer} for engine in self.engines]
        return {
            "engines": engines, "left_out": list(self.left_out), "failures": self.failures,
            "copies": [copy.to_json() for copy in self.copies],
        }  # fmt: skip

    def keep(self, folder: RunFolder) -> None:
        """Write the result so far into the run folder."""
        durable.replace(folder.path / FIDELITY, json.dumps(self.to_json(), indent=1).encode())


def start(hosts_file: Path, results: Path, asked: Asked, tell: Tell, is_gone: IsGone) -> tuple[RunFolder, Survey]:
    """Survey into a new folder. Raises BadInput before anything is touched; LabFailure if the survey cannot begin."""
    config = load_hosts(hosts_file)
    # the server and the first client; their MTU and TCP buffers stay, because nothing is timed
    sides = {role.value: getattr(config, role).model_copy(update={"tune": "no"}) for role in Role}
    config = config.with_clients(1).model_copy(update=sides)
    password = _check_input(config, asked, results)
    with connected(config) as hosts:
        pair = Pair.of(hosts, config)
        probed = [ProbedHost(pair.hosts[role], pair.sides[role].platform) for role in pair.roles]
        _check_hosts(pair, probed)
        places = list_places(make_sweep(asked, config, pair.facts[Role.CLIENT].mtu))
        chosen, left_out = choose(places, Capability(Shares(pair, password)), asked)
        survey = Survey([engine for host in probed for engine in host.list_engines()], left_out)
        for line in (*left_out, *([NO_LOGIN] if config.through_mount else [])):
            tell(line)
        about = {"title": config.lab.title, "hosts": {role.value: asdict(pair.facts[role]) for role in pair.roles}}
        folder = RunFolder.create(results, "fidelity", origin(config, about))
        installed = _installed(pair, asked.copiers, tell)
        directions = sum(map(asked.goes, [Direction.WRITE] if config.through_mount else Direction))
        copies = directions * sum(len(copiers_for(place_case.place.protocol, installed)) for place_case in chosen)
        tell(estimate(copies, len(chosen), results, hosts_file))
        with (
            durable.claimed(folder.path),
            noting_a_failure(folder),
            changing(folder, hosts, config, tell, is_gone) as settings,
        ):
            session = Session(hosts, config, settings, password)
            session.open()
            try:
                for number, place_case in enumerate(chosen, 1):
                    tell(f"{place_case.place.label} ({number} of {len(chosen)})")
                    _survey_place(session, place_case, installed, asked, survey, tell)
                    survey.keep(folder)
            finally:
                session.leave_share()
        folder.update(ended="every place was looked at", finished_at=datetime.now(UTC).isoformat(timespec="seconds"))
        return folder, survey


def _check_input(config: Hosts, asked: Asked, results: Path) -> SecretStr:
    """Check all input before anything is touched; the share's password. Raises BadInput."""
    Register()  # raises BadInput if this account cannot have a register
    sweep = make_sweep(asked, config, ANY_MTU)
    if not any(copiers_for(place_case.place.protocol, asked.copiers) for place_case in list_places(sweep)):
        tools = listing(copier.name for copier in asked.copiers)
        raise BadInput(f"--tool {tools}: copies between folders, and ssh mounts none", "give rsync-a or rsync-all")
    compatibility.check_fit(config, sweep, results)
    return compatibility.ask_password(config, sweep)


def _check_hosts(pair: Pair, probed: Sequence[ProbedHost]) -> None:
    """Raise LabFailure if a host cannot be probed, or is not free. Changes nothing."""
    for role, host in zip(pair.roles, probed, strict=True):
        programs = pair.platforms[role].programs
        for program in programs.missing(("perl", "python3") if host.platform == LINUX else ("perl",)):
            raise Unsupported(f"lab fidelity needs {program}", programs.how_to_install(program), host=role)
        if not host.has_python():
            raise Unsupported("lab fidelity needs the python3 of the Command Line Tools", INSTALL, host=role)
    check_free(pair.hosts)


def _installed(pair: Pair, copiers: Sequence[Copier], tell: Tell) -> list[Copier]:
    """The tools that the client has; the others are told."""
    platform = pair.platforms[Role.CLIENT]
    installed = []
    for copier in copiers:
        program = copier.argv.get(platform.name, [""])[0]
        if program and platform.programs.missing([program]):
            tell(f"client: {copier.name} is left out: there is no {program}")
        elif program:
            installed.append(copier)
    return installed


def _survey_place(
    session: Session, place_case: PlaceCase, copiers: Sequence[Copier], asked: Asked, survey: Survey, tell: Tell
) -> None:
    """Survey one place. A failure is noted, and the survey goes on with the other places."""
    engine = next((engine for engine in survey.engines if engine.host == Role.CLIENT), None)
    number = len(survey.copies) + len(survey.failures)  # no place before had this number
    try:
        survey.copies += PlaceSurvey(session, place_case, copiers, engine, number).run(asked)
    except RestoreError:
        raise
    except LabFailure as error:
        survey.failures.append(f"{place_case.place.label}: {error.on_one_line()}")
        tell(survey.failures[-1])
        session.recover()


ASSUMED_S = 10.0  # a copy of all probes, with its part of the mounts: 8 s in a local lab, 22 s on a busy machine


def estimate(copies: int, places: int, results: Path, hosts_file: Path) -> str:
    """A line for the user: how many copies a survey makes, and how long they take."""
    basis, copy_s = _newest(results, hosts_file) or (f"at {ASSUMED_S:g} s a copy", ASSUMED_S)
    amount = f"{copies} {'copy' if copies == 1 else 'copies'} of all probes"
    shares = f"{places} {'share' if places == 1 else 'shares'}"
    seconds = copies * copy_s
    return f"{amount}, over {shares}; estimated {basis}: {seconds / 60:.0f} min ({seconds:.0f} s)"


def _newest(results: Path, hosts_file: Path) -> tuple[str, float] | None:
    """The newest survey of this file's hosts that ended, as words for the user, and its seconds a copy."""
    for path in paths_of_runs(results):
        try:
            folder = RunFolder(path)
            if folder.run.get("hosts_file") != str(hosts_file.resolve()) or not (path / FIDELITY).exists():
                continue
            content = from_json(read_file(path / FIDELITY, MOST_FILE_BYTES).decode())
            copies = content.get("copies") if isinstance(content, dict) else None
            if copies and isinstance(copies, list):
                duration = read_time(folder.text("finished_at")) - read_time(folder.text("started_at"))
                return f"by {path}", max(1.0, duration.total_seconds()) / len(copies)
        except (BadInput, OSError, ValueError):  # the run cannot be read, or did not end
            continue
    return None
