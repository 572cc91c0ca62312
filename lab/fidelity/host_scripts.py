"""What a host is asked: to lay probes, to read them, to have a tool copy them, and what its rsyncs are.

A host may print anything: what is no answer is an error that names the host.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from lab.base.errors import LabFailure
from lab.base.scripts import read_script
from lab.base.untrusted import count, first_line, from_json, one_line
from lab.fidelity.copiers import PLACES, Engine, parse_engine
from lab.fidelity.copies import Reading
from lab.fidelity.probes import ALL, BOTH, LINUX, MACOS, Probe, laid_on
from lab.hosts import Host

FUTURE = "from __future__ import annotations\n"  # may stand at the head of a text alone
PROBES_SCRIPTS = {
    platform: read_script(__file__, f"on_host_{platform}.py")
    + read_script(__file__, "on_host_probes.py").replace(FUTURE, "")
    for platform in BOTH
}
COPIES_SCRIPT = read_script(__file__, "on_host_copies.py")
MAC_PYTHON = read_script(__file__, "mac_python.sh")
PYTHON: Mapping[str, tuple[str, ...]] = {LINUX: ("python3", "-IBS", "-c"), MACOS: ("/bin/sh", "-c", MAC_PYTHON, "sh")}
READ_S = 120.0  # for all probes
COPY_S = 20.0  # for one, of at most 1 MiB
COPIES_S = 900.0  # for all: over SSH each makes a connection of its own

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Snapshot:
    """What a host sees of the probes below a folder.

    ``plain`` is the same of objects that were given no attribute; ``debris`` counts the files left behind, by how their
    names begin.
    """

    readings: Mapping[str, Reading]
    plain: Mapping[str, Reading]
    debris: Mapping[str, int]


@dataclass(frozen=True)
class CopyCall:
    """How a tool copies probes: its words up to the two paths, the two folders, and the probes' names.

    ``alive`` is a folder that is gone where the mount is; empty where there is none.
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
    """What a tool said, by the probe at which it failed; and the probe at which the mount ended, or none."""

    failures: Mapping[str, str]
    stopped: str


def lay(host: Host, platform: str, root: str, owner: str) -> Mapping[str, str]:
    """Lay the probes of its platform in a new folder, for an account; what the system refused, by probe."""
    request = {"root": root, "owner": owner, "probes": [probe.request for probe in laid_on(platform)]}
    return _ask(
        host, platform, PROBES_SCRIPTS[platform], "lay", request, parse_failures, as_root=True, deadline_s=READ_S
    )


def read(host: Host, platform: str, root: str, probes: Sequence[Probe], as_root: bool = False) -> Snapshot:
    """Read these probes below a folder, as root where only that sees all of them."""
    request = {"root": root, "probes": [probe.request for probe in probes]}
    parse = partial(parse_snapshot, probes=probes)
    return _ask(host, platform, PROBES_SCRIPTS[platform], "read", request, parse, as_root=as_root, deadline_s=READ_S)


def copy(host: Host, platform: str, call: CopyCall) -> Copied:
    """Copy the probes as the account that logs in."""
    request = {
        "argv": list(call.argv), "source": call.source, "target": call.target, "onto": call.onto,
        "remote": call.remote, "names": list(call.names), "alive": call.alive, "deadline_s": COPY_S,
    }  # fmt: skip
    copied = _ask(host, platform, COPIES_SCRIPT, "copy", request, parse_copied, as_root=False, deadline_s=COPIES_S)
    folders = sorted((call.source, call.target), key=len, reverse=True)
    return Copied({name: _without(folders, message) for name, message in copied.failures.items()}, copied.stopped)


def _without(folders: Sequence[str], text: str) -> str:
    """An error that can be read: its paths begin at the probes."""
    for folder in folders:
        text = text.replace(folder, "…")
    return text


def name_file_system(host: Host, platform: str, folder: str) -> str:
    """The file system that a folder is on, as the host calls it; empty where it does not tell."""
    if platform == LINUX:
        return first_line(host.run("stat", "-f", "-c", "%T", folder, check=False).stdout, 40)
    point = host.run("df", "-P", folder, check=False).stdout.rstrip().rpartition("% ")[2].lstrip()
    return parse_volume_type(host.run("mount", check=False).stdout, point)


def parse_volume_type(table: str, point: str) -> str:
    """The type of the volume at a mount point, of what ``mount`` prints on a Mac; empty where it has none there."""
    lines = (line.rpartition(" (") for line in table.splitlines())
    types = [options.partition(",")[0] for head, _, options in lines if head.endswith(f" on {point}")]
    return one_line(types[-1].rstrip(")"), 40) if types else ""


def ask_engines(host: Host, platform: str) -> tuple[Engine, ...]:
    """Every rsync that a host has; the first is the one that is found by its name."""
    answers = _ask(
        host, platform, COPIES_SCRIPT, "engines", {"paths": PLACES}, parse_answers, as_root=False, deadline_s=READ_S
    )
    return tuple(parse_engine(host.name, path, *printed) for path, printed in answers.items())


def has_python(host: Host, platform: str) -> bool:
    """Whether a host can run these scripts; of one with Linux its platform tells."""
    return platform != MACOS or host.run(*PYTHON[platform], check=False).exit_code == 0


def _ask(
    host: Host,
    platform: str,
    script: str,
    action: str,
    request: Mapping[str, object],
    parse: Callable[[str], Answer],
    *,
    as_root: bool,
    deadline_s: float,
) -> Answer:
    root = as_root and not host.lacks_root and not host.is_narrow
    printed = host.run(
        *PYTHON[platform], script, action, root=root, given=json.dumps(request), deadline_s=deadline_s
    ).stdout
    try:
        return parse(printed)
    except ValueError as error:
        raise LabFailure(f"its python3 answered {action} with something else: {error}", host=host.name) from error


def parse_failures(text: str) -> dict[str, str]:
    """What failed, by probe. Raises ValueError."""
    return {name: _text(message) for name, message in _entries(text).items()}


def parse_copied(text: str) -> Copied:
    """How a copy went. Raises ValueError, also where it stopped at no probe that there is."""
    answer = _entries(text)
    failures, stopped = answer.get("failures"), _text(answer.get("stopped"))
    if not isinstance(failures, dict) or stopped not in ("", *(probe.name for probe in ALL)):
        raise ValueError(f"{one_line(text, 60)!r} is no account of a copy")
    return Copied({name: _text(message) for name, message in failures.items()}, stopped)


def parse_snapshot(text: str, probes: Sequence[Probe] = ALL) -> Snapshot:
    """What a host read of every one of these probes. Raises ValueError, also where one is missing."""
    answer = _entries(text)
    readings, debris = answer.get("readings"), answer.get("debris")
    if not isinstance(readings, dict) or not isinstance(debris, dict):
        raise ValueError(f"{one_line(text, 60)!r} is no reading of probes")
    pairs: dict[str, dict[str, object]] = {}
    for probe in probes:
        if not isinstance(of_probe := readings.get(probe.name), dict):
            raise ValueError(f"nothing of the probe {probe.name}")
        pairs[probe.name] = of_probe
    return Snapshot(
        {name: Reading.of(of_probe.get("is")) for name, of_probe in pairs.items()},
        {name: Reading.of(of_probe["plain"]) for name, of_probe in pairs.items() if "plain" in of_probe},
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
