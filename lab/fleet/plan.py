"""What a fleet comes to: its pairs, and its tasks in the order in which they are to begin. Reaches no host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base import shipped
from lab.base.errors import BadInput
from lab.base.untrusted import listing, one_line
from lab.design.plan import plan as plan_sweep
from lab.design.sweep_file import Sweep, parse_sweep, read_sweep
from lab.fleet.fleet_file import Fleet, Tasks, check_names
from lab.fleet.pairs import Pair, pairs_of
from lab.fleet.windows import Window
from lab.run.begin import compatibility, refusals
from lab.run.case.catalogue import CATALOGUE

MOST_TASKS = 100_000
MOST_PROBLEMS = 20
PROMPT = "prompt"  # where a password comes from, in a hosts file


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
        """What it is called in the queue; its folder there."""
        return f"{self.pair}/{self.sweep}/{self.repetition}"


@dataclass(frozen=True)
class Plan:
    """A fleet's tasks, the most urgent first; ``pairs`` by name. For the rest see :class:`Fleet`."""

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
        """The machines that more than one pair needs, with those pairs."""
        users: dict[str, list[str]] = {}
        for pair in self.pairs.values():
            for machine in sorted(pair.machines):
                users.setdefault(machine, []).append(pair.name)
        return {machine: names for machine, names in users.items() if len(names) > 1}


@dataclass(frozen=True)
class _SweepFile:
    """A sweep as it was read, and where from."""

    sweep: Sweep
    file: Path
    digest: str


def make_plan(fleet: Fleet, path: Path, queue: Path, *, checked: bool = True) -> Plan:
    """The plan of a fleet. Raises BadInput for whatever the files show to be impossible, on any of its pairs.

    ``path`` is the fleet file, for messages; ``queue`` is where the runs are to be kept. Unless ``checked``, nobody
    looks whether pairs can do their sweeps, and have their passwords.
    """
    pairs = pairs_of(fleet, path)
    check_names(fleet, {pair.name: pair.tags for pair in pairs.values()}, path)
    tasks: dict[str, Task] = {}
    files: dict[str, Path] = {}
    for number, table in enumerate(fleet.tasks, 1):
        source = _read_sweep(fleet, table)
        place = f"{path}: [[tasks]] {number}"
        if files.setdefault(source.sweep.name, source.file) != source.file:
            raise BadInput(
                f"{place}: {source.file} and {files[source.sweep.name]} are both called {source.sweep.name!r}",
                "give one of them another name",
            )
        chosen = _choose_pairs(table, pairs)
        for task in _tasks_of(table, source, chosen):
            if task.id in tasks:
                raise BadInput(
                    f"{place}: {task.sweep} runs on {task.pair} by another [[tasks]] already", "give repetitions there"
                )
            tasks[task.id] = task
            if len(tasks) > MOST_TASKS:
                raise BadInput(f"{path}: more than {MOST_TASKS:,} tasks", "give fewer repetitions")
        if checked:
            _check(source.sweep, chosen, queue)
    ordered = sorted(tasks.values(), key=lambda task: (-task.priority, task.repetition))  # stable: as in the file
    return Plan(fleet.name, tuple(ordered), pairs, fleet.most_at_once, fleet.attempts, fleet.retry_after)


def _read_sweep(fleet: Fleet, table: Tasks) -> _SweepFile:
    """The sweep of a file beside the fleet file, or that comes with the lab. Raises BadInput."""
    file = shipped.sweeps().get(table.sweep, fleet.folder / table.sweep)
    text = read_sweep(file)
    return _SweepFile(parse_sweep(text, file), file.resolve(), hashlib.sha256(text.encode()).hexdigest())


def _choose_pairs(table: Tasks, pairs: Mapping[str, Pair]) -> list[Pair]:
    """The pairs that a sweep runs on, in the order of the file; some, where names and tags have been checked."""
    if not table.pairs and not table.tags:
        return list(pairs.values())
    return [pair for pair in pairs.values() if pair.name in table.pairs or not pair.tags.isdisjoint(table.tags)]


def _tasks_of(table: Tasks, source: _SweepFile, pairs: Sequence[Pair]) -> Iterator[Task]:
    estimates: dict[int, float] = {}
    for pair in pairs:
        image_bytes = pair.config.share.image_size
        if image_bytes not in estimates:
            estimates[image_bytes] = plan_sweep(source.sweep, CATALOGUE, image_bytes=image_bytes).estimated_s
        for repetition in range(1, table.repetitions + 1):
            yield Task(
                pair=pair.name, sweep=source.sweep.name, repetition=repetition, hosts_file=str(pair.hosts_file),
                sweep_file=str(source.file), sweep_digest=source.digest, machines=pair.machines, site=pair.site,
                priority=table.priority, windows=table.windows, estimated_s=estimates[image_bytes],
            )  # fmt: skip


def _check(sweep: Sweep, pairs: Sequence[Pair], queue: Path) -> None:
    """Raise BadInput for what a run would be refused for while no host has been reached, on all of these pairs."""
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
    """Nobody sits at the terminal of a task."""
    sections = {role: getattr(pair.config, role) for role in pair.config.reached}
    prompts = [
        f"[{role}] sudo_password"
        for role, section in sections.items()
        if section.sudo == "password" and section.sudo_password == PROMPT
    ]
    if pair.config.share.password == PROMPT and refusals.needs_password(pair.config, sweep):
        prompts.append("[share] password")
    if prompts:
        raise BadInput(
            f"{pair.hosts_file}: {listing(prompts)}: prompt: a fleet asks nobody", "give env:, file: or keyring:"
        )
