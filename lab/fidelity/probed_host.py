"""A host that lays probes, reads them, lets a tool copy them, and describes its rsyncs."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, from_json, one_line
from lab.fidelity.copiers import PLACES, Engine, parse_engine
from lab.fidelity.copies import Reading
from lab.fidelity.probes import ALL, BOTH, LINUX, MACOS, Probe, laid_on
from lab.hosts import Host
from lab.hosts.mounts import parse_mounts

# Macs have Python 3.9, which does not know `str | None`: annotations are not evaluated there
FUTURE = "from __future__ import annotations\n"
COPIES_SCRIPT = FUTURE + read_script(__file__, "on_host_copies.py")
PROBES_SCRIPTS = {
    platform: "".join([FUTURE, *(read_script(__file__, f"on_host_{part}.py") for part in (platform, "probes"))])
    for platform in BOTH
}
MAC_PYTHON = read_script(__file__, "mac_python.sh")
PYTHON: Mapping[str, tuple[str, ...]] = {LINUX: ("python3", "-IBS", "-c"), MACOS: ("/bin/sh", "-c", MAC_PYTHON, "sh")}
READ_S = 120.0  # for all probes
COPY_S = 20.0  # for one probe, of at most 1 MiB
COPIES_S = 900.0  # for all probes: over SSH each makes a connection of its own

# Errors of the connection, and of a probe that no tool was called for
NO_COPY = re.compile(
    r"^(ssh|kex_exchange_identification|not tried): |^Connection (to|closed|reset)|connection unexpectedly closed"
)
# No error of reading: the file system has no such thing, or the tool does not copy it
ANSWER = re.compile(r"not supported|not copied|skipping")
SUMMARY = re.compile(r"rsync (error|warning): ")  # "some files could not be transferred (see previous errors)"

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Snapshot:
    """What a host sees of the probes below a folder.

    ``plain`` has the readings of objects without the attribute. ``debris`` counts the files left behind, by how their
    names begin.
    """

    readings: Mapping[str, Reading]
    plain: Mapping[str, Reading]
    debris: Mapping[str, int]

    def is_unread(self, name: str) -> bool:
        """Whether reading this probe, or the object without its attribute, was an error."""
        return any(name in part and part[name].state == "error" for part in (self.readings, self.plain))


@dataclass(frozen=True)
class CopyCall:
    """How a tool copies probes: its words up to the two paths, the two folders, and the probes' names.

    ``alive`` is a folder that disappears with the mount; empty without a mount.
    """

    argv: Sequence[str]
    source: str
    target: str
    names: Sequence[str]
    onto: bool
    remote: bool
    alive: str


@dataclass(frozen=True)
class Copied:
    """What a tool said, by the probe at which it failed; and the probe at which the mount ended, or an empty text.

    ``unread`` has the lines about reading the source, or about the connection, by probe; they are not in ``failures``.
    """

    failures: Mapping[str, str]
    stopped: str
    unread: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProbedHost:
    """A host that lays, copies and reads probes by scripts, which the python3 of its platform runs.

    A host may print anything. An answer that cannot be read is a LabFailure that names the host.
    """

    host: Host
    platform: str

    def lay(self, root: str, owner: str) -> Mapping[str, str]:
        """Lay the platform's probes in the new folder ``root``, as ``owner``; what the system refused, by probe."""
        request = {"root": root, "owner": owner, "probes": list(map(asdict, laid_on(self.platform)))}
        return self._ask("lay", request, parse_failures, as_root=True)

    def read(self, root: str, probes: Sequence[Probe], as_root: bool = False) -> Snapshot:
        """Read these probes below the folder ``root``, once more after an error; as root if only root sees them all."""
        snapshot = self._read(root, probes, as_root)
        if failed := [probe for probe in probes if snapshot.is_unread(probe.name)]:
            again = self._read(root, failed, as_root)
            readings, plain = {**snapshot.readings, **again.readings}, {**snapshot.plain, **again.plain}
            snapshot = replace(snapshot, readings=readings, plain=plain)
        return snapshot

    def _read(self, root: str, probes: Sequence[Probe], as_root: bool) -> Snapshot:
        request = {"root": root, "probes": list(map(asdict, probes))}
        return self._ask("read", request, partial(parse_snapshot, probes=probes), as_root)

    def copy(self, call: CopyCall) -> Copied:
        """Copy the probes as the account that logs in. In error messages … stands for the two folders."""
        copied = self._ask("copy", asdict(call) | {"deadline_s": COPY_S}, parse_copied)
        failures: dict[str, str] = {}
        unread: dict[str, str] = {}
        for name, message in copied.failures.items():
            of_source, others = split_lines(message, call.source, call.target)
            for folder in sorted((call.source, call.target), key=len, reverse=True):
                of_source, others = of_source.replace(folder, "…"), others.replace(folder, "…")
            failures |= {name: others} if others else {}
            unread |= {name: of_source} if of_source else {}
        return Copied(failures, copied.stopped, unread)

    def name_file_system(self, folder: str) -> str:
        """The file system of a folder, as the host calls it; empty if it does not tell."""
        if self.platform == LINUX:
            return first_line(self.host.run("stat", "-f", "-c", "%T", folder, check=False).stdout, 40)
        point = self.host.run("df", "-P", folder, check=False).stdout.rstrip().rpartition("% ")[2].lstrip()
        kind, _ = parse_mounts(self.host.run("mount", check=False).stdout).get(point, ("", ""))
        return one_line(kind, 40)

    def list_engines(self) -> list[Engine]:
        """Every rsync of the host. The first is the one that PATH finds."""
        answers = self._ask("engines", {"paths": PLACES}, parse_answers)
        return [parse_engine(self.host.name, path, *printed) for path, printed in answers.items()]

    def has_python(self) -> bool:
        """Whether a Mac has the python3 that runs the scripts. For Linux, the platform looks for it."""
        return self.platform != MACOS or self.host.run(*PYTHON[MACOS], check=False).exit_code == 0

    def _ask(
        self, action: str, request: Mapping[str, object], parse: Callable[[str], Answer], as_root: bool = False
    ) -> Answer:
        script = PROBES_SCRIPTS[self.platform] if action in ("lay", "read") else COPIES_SCRIPT
        root = as_root and not self.host.lacks_root and not self.host.is_narrow
        deadline_s = COPIES_S if action == "copy" else READ_S
        words = (*PYTHON[self.platform], script, action)
        printed = self.host.run(*words, root=root, given=json.dumps(request), deadline_s=deadline_s).stdout
        try:
            return parse(printed)
        except ValueError as error:
            message = f"its python3 answered {action} with something else: {error}"
            raise LabFailure(message, host=self.host.name) from error


def parse_failures(text: str) -> dict[str, str]:
    """What failed, by probe. Raises ValueError."""
    return {name: _text(message) for name, message in _entries(text).items()}


def split_lines(message: str, source: str, target: str) -> tuple[str, str]:
    """The lines about reading the source or about the connection; and the others.

    If there are lines of the first kind, rsync's summary belongs to them and is left out.
    """
    lines = message.splitlines()
    of_source = [line for line in lines if _is_of_source(line, source, target)]
    others = [line for line in lines if line not in of_source and not (of_source and SUMMARY.match(line))]
    return "\n".join(of_source), "\n".join(others)


def _is_of_source(line: str, source: str, target: str) -> bool:
    if ANSWER.search(line):
        return False
    source, target = (re.sub("^[^/]*:", "", folder) for folder in (source, target))  # without the login of rsync
    return bool(NO_COPY.search(line)) or "[sender]" in line or (source in line and target not in line)


def parse_copied(text: str) -> Copied:
    """The result of a copy. Raises ValueError, also for an unknown probe at which it stopped."""
    answer = _entries(text)
    failures, stopped = answer.get("failures"), _text(answer.get("stopped"))
    if not isinstance(failures, dict) or stopped not in ("", *(probe.name for probe in ALL)):
        raise ValueError(f"{one_line(text, 60)!r} is no account of a copy")
    return Copied({name: _text(message) for name, message in failures.items()}, stopped)


def parse_snapshot(text: str, probes: Sequence[Probe] = ALL) -> Snapshot:
    """The readings of these probes. Raises ValueError, also if a probe is missing."""
    answer = _entries(text)
    readings, debris = answer.get("readings"), answer.get("debris")
    if not isinstance(readings, dict) or not isinstance(debris, dict):
        raise ValueError(f"{one_line(text, 60)!r} is no reading of probes")
    pairs: dict[str, dict[str, object]] = {}
    for probe in probes:
        if not isinstance(reading := readings.get(probe.name), dict):
            raise ValueError(f"nothing of the probe {probe.name}")
        pairs[probe.name] = reading
    return Snapshot(
        {name: Reading.of(reading.get("is")) for name, reading in pairs.items()},
        {name: Reading.of(reading["plain"]) for name, reading in pairs.items() if "plain" in reading},
        {one_line(_text(kind), 40): count(number) for kind, number in debris.items()},
    )


def parse_answers(text: str) -> dict[str, tuple[str, str]]:
    """What each rsync said to ``--version`` and ``--help``, by its path. Raises ValueError."""
    answers = {}
    for path, printed in _entries(text).items():
        if not isinstance(printed, dict):
            raise ValueError(f"{printed!r:.60} is no answer of an rsync")
        answers[one_line(path, 200)] = (_text(printed.get("--version")), _text(printed.get("--help")))
    return answers


def _entries(text: str) -> dict[str, Any]:
    entries = from_json(text)
    if not isinstance(entries, dict):
        raise ValueError(f"{one_line(text, 60)!r} is no JSON object")
    return entries


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.60} is no text")
    return value
