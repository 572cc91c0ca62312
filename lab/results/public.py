"""A copy of a run for strangers: each name of a host, a person, a share or a folder has the same mask everywhere.

The names in the run's hosts file, of this machine and of this account are replaced. So is whatever looks like an
address, a home or a serial number (:mod:`lab.base.masking`). Numbers and the lab's own words stay, also as keys. In
doubt a word is replaced.
"""

import getpass
import json
import shutil
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.masking import Masker
from lab.base.untrusted import from_json, read_lines
from lab.hosts import ROLES
from lab.results.json_object import JsonObject, RunJson
from lab.results.run_folder import RunFolder, TemporaryRun
from lab.results.run_keys import RunKeys
from lab.results.samples import ConnectionAtATime, Course, SampleLine
from lab.results.trial import FIELDS, SCHEMA, WORDS, read_run

# Names that every lab has: of roles, of the lab's shares and accounts
PLAIN = frozenset({"client", "server", "lab", "labram", "share", "link", "store", "ram", "disk", "none", "default"})
# Keys of run.json that only the controller of the run can use
PRIVATE = ("names", "seal", "hosts_digest")
FILES = ("hosts_file", "sweep_file")  # keys with a path, of which the file's name is enough
# Keys of run.json that only the lab writes
OWN = frozenset({"code_version", "started_at", "finished_at", "ordering", "id"})
# Fields of a trial that no host can fill: the lab's and the sweep's
AS_ASKED = frozenset({"trial_id", "case_id", "started_at", "workload", "store", "options", *WORDS})
# Documented keys, and those whose objects have other words of the lab as keys: roles, facts, programs, cases, options
_DOCUMENTED = (RunKeys, SampleLine, Course, ConnectionAtATime, *JsonObject.__subclasses__())
_KEYS = {*FIELDS, *(name for kind in _DOCUMENTED for name in kind.__annotations__)}
_HOLDERS = {"hosts", *ROLES, "tools", "about", "left_out", "closed", "caveats", "effective", "options", "replaced"}
_NUMBERS = frozenset({int, float})  # most values in ``observed``


class Public(TemporaryRun):
    """The copy of a run for strangers; ``replaced`` has kind, name and mask of each replaced name. Raises BadInput."""

    def __init__(self, run: RunFolder, masker: Masker | None = None):
        masker = masker or Masker()
        super().__init__("public", "", lambda folder: copy(run, folder, masker))
        self.replaced = masker.replaced
        self._label = _public_label(run, masker)

    def copy_to(self, folder: Path) -> None:
        """Write it into a new folder, to keep. Raises BadInput if the folder exists."""
        try:
            shutil.copytree(self.path, folder)
        except FileExistsError as error:
            raise BadInput(f"{folder}: is there already", "name a new folder") from error


def public_copies(runs: Sequence[RunFolder], masker: Masker | None = None) -> list[Public]:
    """Copies of runs in which a name has the same mask in all. Raises BadInput like Public."""
    masker = masker or Masker()
    for run in runs:
        _teach_all(run, masker)
    return [Public(run, masker) for run in runs]


class PublicRecords:
    """The trials and run.json of a run for strangers, in memory. Raises BadInput like :class:`Public`."""

    def __init__(self, run: RunFolder, masker: Masker):
        records, _ = _teach_all(run, masker)
        mask = _Masks(masker)
        self.label = _public_label(run, masker)
        self.run: dict[str, Any] = mask.run(run.run)
        self._records = list(map(mask.trial, records))

    def records(self) -> list[dict[str, Any]]:
        """See :meth:`RunFolder.records`."""
        return self._records


def _public_label(run: RunFolder, masker: Masker) -> str:
    return masker.mask(run.path.name if run.label == str(run.path) else run.label)


def _teach_all(run: RunFolder, masker: Masker) -> tuple[list[dict[str, Any]], list[object]]:
    """The trials and samples of a run. Teach the masker all names in them."""
    trials, samples = run.records(), list(_samples_of(run.samples_path))
    _teach(masker, run, [run.run, run.label, *trials, *samples])
    return trials, samples


def copy(run: RunFolder, to: Path, masker: Masker) -> None:
    """Write a masked copy into the new folder ``to``."""
    trials, samples = _teach_all(run, masker)
    mask = _Masks(masker)
    to.mkdir()
    _write_lines(to / "trials.jsonl", (mask.trial(trial) for trial in trials))
    if samples:
        _write_lines(to / "samples.jsonl", map(mask.all, samples))
    described = mask.run(run.run)
    described = {**described, "schema": SCHEMA, "replaced": _count_replaced(masker)}
    durable.create(to / "run.json", json.dumps(described, indent=2, allow_nan=False).encode() + b"\n")


def private_keys(run: RunJson) -> list[str]:
    """The keys of a run.json that no copy has, and those with a path, which a copy shortens to the file's name."""
    paths = [key for key in FILES if "/" in str(run.get(key, ""))]
    return [*(key for key in PRIVATE if key in run), *paths]


def names_left(
    run: RunFolder, trials: Sequence[tuple[int, Mapping[str, object]]]
) -> Iterator[tuple[str, int | None, str, str]]:
    """The names left in a run that should have none: file, line, kind and name, each name once.

    Found are all names that a copy would replace, except masks and those of this machine. ``trials`` are the run's,
    with their lines. Passwords are not repeated. Raises BadInput like :class:`Public`.
    """
    samples, masker = list(enumerate(_samples_of(run.samples_path), 1)), Masker()
    whole = read_run(run.path / "run.json")  # with the passwords in it
    _teach(masker, run, [whole, *(trial for _, trial in trials), *(sample for _, sample in samples)], of_here=False)
    described = {key: value for key, value in whole.items() if key not in (*PRIVATE, *OWN, *FILES)}
    measured = [(line, {name: value for name, value in row.items() if name not in AS_ASKED}) for line, row in trials]
    seen, reported = set[str](), set[str]()  # most texts are repeated
    files = (("run.json", [(None, described)]), ("trials.jsonl", measured), ("samples.jsonl", samples))
    for file, records in files:
        for line, record in records:
            for text in (text for text in _texts(record) if text not in seen and text not in PLAIN):
                seen.add(text)
                for kind, name in masker.names_in(text):
                    if name not in reported:
                        reported.add(name)
                        yield file, line, kind, name


def masker_of(run: RunFolder, texts: Iterable[str]) -> Masker:
    """A masker for the names of a run, and those in ``texts`` of its hosts. Raises BadInput for too many."""
    masker = Masker()
    _teach(masker, run, [run.run, list(texts)])
    return masker


def kinds_replaced(masker: Masker) -> str:
    """How many names of each kind were replaced so far, in words; empty for none."""
    return ", ".join(f"{count} {kind}" for kind, count in _count_replaced(masker).items())


def _count_replaced(masker: Masker) -> dict[str, int]:
    return dict(sorted(Counter(kind for kind, _, _ in masker.replaced).items()))


def _teach(masker: Masker, run: RunFolder, records: Iterable[object], *, of_here: bool = True) -> None:
    """Teach the masker every name of the run, and if ``of_here`` of this machine. Raises BadInput for too many."""
    try:
        for kind, names in list(_names_of(run.run, of_here)):
            masker.know(kind, *(name for name in names if name.casefold() not in PLAIN))
        for text in dict.fromkeys(text for record in records for text in _texts(record)):
            masker.learn(text)
    except ValueError as error:
        raise BadInput(f"{run.path}: {error}", "give away a run with fewer names, or none") from error


def _names_of(run: RunJson, of_here: bool) -> Iterator[tuple[str, list[str]]]:
    """The names in the hosts file and in the facts of hosts, and if ``of_here`` of this machine, by kind."""
    for kind, names in run.get("names", {}).items():  # older runs have none
        yield kind, [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    for facts in run.get("hosts", {}).values():
        yield "host", _list_of(facts.get("hostname"))
        yield "user", [*_list_of(facts.get("user")), *(PurePath(home).name for home in _list_of(facts.get("home")))]
    target = run.get("target", {})  # of a run of `lab measure`
    yield "host", _list_of(target.get("server"))
    yield "share", _list_of(target.get("share"))
    if of_here:  # the run may be from here, and its title and paths may have names of this machine and account
        yield "host", [socket.gethostname()]
        with suppress(OSError, KeyError):  # an account without a name
            yield "user", [getpass.getuser(), Path.home().name]


def _list_of(value: object) -> list[str]:
    return [value] if isinstance(value, str) else []


def _samples_of(path: Path) -> Iterator[object]:
    """The readable lines of samples.jsonl: no result depends on the others."""
    with suppress(OSError):
        for line in read_lines(path):
            with suppress(ValueError):
                yield from_json(line.decode())


def _is_own(key: str, holder: str) -> bool:
    """Whether a key of an object at ``holder`` is the lab's own word, whatever the hosts are called."""
    return key in _KEYS or holder.partition(".")[0] in _HOLDERS  # client.2 is a role, too


def _texts(value: object, holder: str = "") -> Iterator[str]:
    """The texts in a value, and the keys that are not the lab's own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (key for key in value if not _is_own(key, holder))
        for key, part in value.items():
            if type(part) not in _NUMBERS:
                yield from _texts(part, key)
    elif isinstance(value, list):
        for part in value:
            if type(part) not in _NUMBERS:
                yield from _texts(part, holder)


class _Masks:
    """Masks records, and each distinct text once: most are repeated."""

    def __init__(self, masker: Masker) -> None:
        self._masker, self._known = masker, dict[str, str]()

    def text(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = text if text in PLAIN else self._masker.mask(text)
        return self._known[text]

    def all(self, value: object, holder: str = "") -> object:
        """A value with every text masked, and every key that is not the lab's own; ``holder`` is its own key."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.key(key, holder): self.all(part, key) for key, part in value.items()}
        return [self.all(part, holder) for part in value] if isinstance(value, list) else value

    def key(self, key: str, holder: str = "") -> str:
        return key if _is_own(key, holder) else self.text(key)

    def trial(self, record: Mapping[str, object]) -> dict[str, object]:
        return {name: value if name in AS_ASKED else self.all(value, name) for name, value in record.items()}

    def run(self, run: RunJson) -> dict[str, object]:
        kept = {key: value for key, value in run.items() if key not in PRIVATE}
        kept |= {key: PurePath(kept[key]).name for key in FILES if isinstance(kept.get(key), str)}
        return {self.key(key): value if key in OWN else self.all(value, key) for key, value in kept.items()}


def _write_lines(path: Path, records: Iterable[object]) -> None:
    with path.open("x") as file:
        file.writelines(json.dumps(record, allow_nan=False) + "\n" for record in records)
