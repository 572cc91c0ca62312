"""The plan of a fleet: its pairs of hosts, and its tasks in the order in which they begin. Reaches no host."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.groups import grouped
from lab.base.untrusted import listing, one_line
from lab.design.plan import plan as plan_sweep
from lab.design.sweep_file import RUN_NAME, Sweep, parse_sweep, read_sweep
from lab.fleet.fleet_file import Fleet, Pairs, Tasks, check_names
from lab.fleet.windows import Window
from lab.hosts.hosts_file import Hosts, load_hosts
from lab.run.begin import compatibility
from lab.run.case.catalogue import CATALOGUE

MOST_PAIRS, MOST_TASKS, MOST_PROBLEMS = 10_000, 100_000, 20
WILDCARD = re.compile(r"[*?\[]")
THIS_MACHINE = "this machine"
PROMPT = "prompt"  # in a hosts file: a person types the password


@dataclass(frozen=True)
class Pair:
    """Client and server of a hosts file; ``site`` is empty if every worker reaches them."""

    name: str
    hosts_file: Path
    config: Hosts
    tags: frozenset[str]
    site: str
    machines: frozenset[str]


@dataclass(frozen=True)
class Task:
    """One run of one sweep on one pair. ``sweep_digest`` is the SHA-256 of the sweep's text, in hexadecimal."""

    pair: str
    sweep: str
    repetition: int
    hosts_file: str
    sweep_file: str
    sweep_digest: str
    machines: frozenset[str]
    site: str
    priority: int
    windows: tuple[Window, ...]
    estimated_s: float

    @property
    def id(self) -> str:
        """The name of the task, and its folder in the queue."""
        return f"{self.pair}/{self.sweep}/{self.repetition}"


@dataclass(frozen=True)
class Plan:
    """A fleet's tasks, the most urgent first, and its pairs by name. For the rest see :class:`Fleet`."""

    name: str
    tasks: tuple[Task, ...]
    pairs: Mapping[str, Pair]
    most_at_once: int
    attempts: int
    retry_after: float

    @property
    def sweeps(self) -> tuple[str, ...]:
        """The names of its sweeps."""
        return tuple(dict.fromkeys(task.sweep for task in self.tasks))

    def shared(self) -> dict[str, list[str]]:
        """The machines that several pairs need, with these pairs."""
        users = grouped((machine, pair.name) for pair in self.pairs.values() for machine in sorted(pair.machines))
        return {machine: names for machine, names in users.items() if len(names) > 1}


def make_plan(fleet: Fleet, path: Path, queue: Path, *, checked: bool = True) -> Plan:
    """The plan of the fleet file ``path``, whose runs go to the folder ``queue``.

    Raises BadInput for what the files show to be impossible on a pair. Unless ``checked``, it is not looked whether
    pairs can run their sweeps and have their passwords.
    """
    pairs = pairs_of(fleet, path)
    check_names(fleet, {pair.name: pair.tags for pair in pairs.values()}, path)
    tasks: dict[str, Task] = {}
    files: dict[str, Path] = {}
    for number, table in enumerate(fleet.tasks, 1):
        file = shipped.sweeps().get(table.sweep, fleet.folder / table.sweep)
        text = read_sweep(file)
        sweep, file = parse_sweep(text, file), file.resolve()
        place = f"{path}: [[tasks]] {number}"
        if files.setdefault(sweep.name, file) != file:
            problem = f"{place}: {file} and {files[sweep.name]} are both called {sweep.name!r}"
            raise BadInput(problem, "give one of them another name")
        chosen = [
            pair
            for pair in pairs.values()
            if not (table.pairs or table.tags) or pair.name in table.pairs or not pair.tags.isdisjoint(table.tags)
        ]
        for task in _tasks_of(table, sweep, file, hashlib.sha256(text.encode()).hexdigest(), chosen):
            if task.id in tasks:
                problem = f"{place}: {task.sweep} runs on {task.pair} by another [[tasks]] already"
                raise BadInput(problem, "give repetitions there")
            tasks[task.id] = task
            if len(tasks) > MOST_TASKS:
                raise BadInput(f"{path}: more than {MOST_TASKS:,} tasks", "give fewer repetitions")
        if checked:
            _check(sweep, chosen, queue)
    ordered = sorted(tasks.values(), key=lambda task: (-task.priority, task.repetition))  # stable: as in the file
    return Plan(fleet.name, tuple(ordered), pairs, fleet.most_at_once, fleet.attempts, fleet.retry_after)


def _tasks_of(table: Tasks, sweep: Sweep, file: Path, digest: str, pairs: Sequence[Pair]) -> Iterator[Task]:
    estimates: dict[int, float] = {}
    for pair in pairs:
        image_bytes = pair.config.share.image_size
        if image_bytes not in estimates:
            estimates[image_bytes] = plan_sweep(sweep, CATALOGUE, image_bytes=image_bytes).estimated_s
        for repetition in range(1, table.repetitions + 1):
            yield Task(
                pair=pair.name, sweep=sweep.name, repetition=repetition, hosts_file=str(pair.hosts_file),
                sweep_file=str(file), sweep_digest=digest, machines=pair.machines, site=pair.site,
                priority=table.priority, windows=table.windows, estimated_s=estimates[image_bytes],
            )  # fmt: skip


def _check(sweep: Sweep, pairs: Sequence[Pair], queue: Path) -> None:
    """Raise BadInput for every pair on which a run would be refused before any host is reached."""
    problems = []
    for pair in pairs:
        try:
            compatibility.check_fit(pair.config, sweep, queue)
            compatibility.check_write_to(pair.config, sweep, ())
            _check_asks_nobody(pair, sweep)
        except BadInput as error:
            problems.append(f"{pair.name}, {sweep.name}: {one_line(str(error), 600)}")
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"and {len(problems) - MOST_PROBLEMS:,} more such problems"]
    if problems:
        raise BadInput("\n".join(problems), several=True)


def _check_asks_nobody(pair: Pair, sweep: Sweep) -> None:
    """Raise BadInput if a person would have to type a password: nobody sits at the terminal of a task."""
    sections = {role: getattr(pair.config, role) for role in pair.config.reached}
    prompts = [
        f"[{role}] sudo_password"
        for role, section in sections.items()
        if section.sudo == "password" and section.sudo_password == PROMPT
    ]
    if pair.config.share.password == PROMPT and compatibility.needs_password(pair.config, sweep):
        prompts.append("[share] password")
    if prompts:
        problem = f"{pair.hosts_file}: {listing(prompts)}: prompt: a fleet asks nobody"
        raise BadInput(problem, "give env:, file: or keyring:")


def pairs_of(fleet: Fleet, path: Path) -> dict[str, Pair]:
    """The pairs by name, in the order of the fleet file ``path``. Raises BadInput."""
    by_file: dict[Path, Pair] = {}
    by_name: dict[str, Path] = {}
    for number, table in enumerate(fleet.pairs, 1):
        place = f"{path}: [[pairs]] {number}"
        for file in _files(fleet, table, place):
            if pair := by_file.get(file):
                if table.name not in (None, pair.name):
                    raise BadInput(f"{place}: {file} is the pair {pair.name!r} already", "leave one name out")
                by_file[file] = replace(pair, tags=pair.tags | set(table.tags), site=table.site or pair.site)
                continue
            name, config = _name(table, file, place), load_hosts(file)
            if by_name.setdefault(name, file) != file:
                problem = f"{place}: {file} and {by_name[name]} are both called {name!r}"
                raise BadInput(problem, "give one of them a `name` in a [[pairs]] of its own")
            by_file[file] = Pair(name, file, config, frozenset(table.tags), table.site or "", machines_of(config))
    return {pair.name: pair for pair in by_file.values()}


def machines_of(config: Hosts) -> frozenset[str]:
    """The names of the machines in a hosts file: host and port of a login, and the address on the link.

    Two sweeps that need the same machine never run at once. Hosts of a local lab also have its instance in their names,
    because every local lab has the same addresses. A machine with two names and two addresses is not recognised here;
    then the lab's lock on the host refuses the second run.
    """
    place = f"{config.lab.instance}: " if config.lab.instance else ""
    names = set()
    for section in (*config.clients.values(), config.server):
        names.add(f"{place}{section.data_address.lower()}")
        if section.transport == "local":
            names.add(f"{place}{THIS_MACHINE}")
        elif section.host is not None:
            port = f" port {section.port}" if section.port else ""
            names.add(f"{place}{section.host.lower()}{port}")
    return frozenset(names)


def _files(fleet: Fleet, table: Pairs, place: str) -> Iterator[Path]:
    """The hosts files that a table names. Raises BadInput for a pattern without a match."""
    for name in table.hosts:
        if not WILDCARD.search(name):
            yield (fleet.folder / Path(name).expanduser()).resolve()
            continue
        folder, _, pattern = name.rpartition("/")
        if WILDCARD.search(folder):
            problem = f"{place}: hosts: {one_line(name, 80)}: a pattern is for the name of the file alone"
            raise BadInput(problem, "give one for each folder, such as site-a/*.ini")
        files = sorted((fleet.folder / Path(folder).expanduser()).glob(pattern))
        if not files:
            problem = f"{place}: hosts: {one_line(name, 80)}: no such file in {fleet.folder / folder}"
            raise BadInput(problem, "give hosts files that are there, by their path from the folder of the fleet file")
        if len(files) > MOST_PAIRS:
            raise BadInput(f"{place}: hosts: {one_line(name, 80)}: more than {MOST_PAIRS:,} files")
        yield from (file.resolve() for file in files)


def _name(table: Pairs, file: Path, place: str) -> str:
    """The name of a hosts file's pair. Raises BadInput for a file name that cannot be one."""
    name = table.name or file.stem
    if not re.fullmatch(RUN_NAME, name):
        problem = f"{place}: {file}: a pair cannot be called {one_line(name, 80)!r}"
        raise BadInput(problem, 'give it a name, such as name = "mini"')
    return name
