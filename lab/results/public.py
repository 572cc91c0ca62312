"""A run as strangers may have it: whatever names a host, a person, a share or a folder is replaced, alike everywhere.

What is replaced are the names that the run notes of its hosts file, those of this machine and this account, and all
that looks like an address, a home or a serial number (:mod:`lab.base.masking`). Numbers stay, and so do the words that
the lab itself writes. In doubt a word is replaced.
"""

from __future__ import annotations

import getpass
import json
import shutil
import socket
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from lab.base import durable
from lab.base.errors import BadInput
from lab.base.masking import Masker
from lab.base.untrusted import from_json, read_lines
from lab.results.run_folder import RunFolder
from lab.results.run_json import read_run
from lab.results.trial import SCHEMA, WORDS, RunJson

# Names that tell nothing, for every lab has them: of roles, of what the lab serves and whoever logs in there
PLAIN = frozenset({"client", "server", "lab", "labram", "share", "link", "store", "ram", "disk", "none", "default"})
# Keys of run.json that say on whose machine a run was begun, and tell nobody else anything
PRIVATE = ("names", "seal", "hosts_digest")
FILES = ("hosts_file", "sweep_file")  # keys with the path of one: its name is enough
# Keys of run.json that the lab writes of itself
OWN = frozenset({"code_version", "started_at", "finished_at", "ordering", "id"})
# Fields of a trial that no host can fill: what the lab writes, and what a sweep asks for
AS_ASKED = frozenset({"trial_id", "case_id", "started_at", "workload", "store", "options", *WORDS})
_NUMBERS = frozenset({int, float})  # most of what is observed


class Public(RunFolder):
    """The copy of a run that strangers may have, in a temporary folder that goes with this object.

    ``replaced`` are the kind, the name and the mask of all that was replaced; with a ``masker`` that copies share, in
    any of those before, too. Raises BadInput where the run cannot be read, or has too many names.
    """

    def __init__(self, run: RunFolder, masker: Masker | None = None):
        folder = Path(tempfile.mkdtemp(prefix="lab-public-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        masker = masker or Masker()
        self.replaced = copy(run, folder / "run", masker)
        super().__init__(folder / "run")
        self._label = _public_label(run, masker)

    @property
    def label(self) -> str:
        """See :attr:`RunFolder.label`: the name of what it was copied from, masked too."""
        return self._label

    def copy_to(self, folder: Path) -> None:
        """Write it into a new folder, to keep. Raises BadInput where something is there already."""
        try:
            shutil.copytree(self.path, folder)
        except FileExistsError as error:
            raise BadInput(f"{folder}: is there already", "name a new folder") from error


def public_copies(runs: Sequence[RunFolder], masker: Masker | None = None) -> list[Public]:
    """Copies of runs that belong together: a name of any has the same mask in all. Raises BadInput as Public."""
    masker = masker or Masker()
    for run in runs:
        _teach_all(run, masker)
    return [Public(run, masker) for run in runs]


class PublicRecords:
    """The trials and run.json of a run as strangers may have them, in memory. Raises BadInput as :class:`Public`."""

    def __init__(self, run: RunFolder, masker: Masker):
        records, _ = _teach_all(run, masker)
        mask = _Masks(masker)
        self.label = _public_label(run, masker)
        self.run = mask.run(run.run)
        self._records = list(map(mask.trial, records))

    def records(self) -> list[dict[str, Any]]:
        """See :meth:`RunFolder.records`."""
        return self._records


def _public_label(run: RunFolder, masker: Masker) -> str:
    return masker.mask(run.path.name if run.label == str(run.path) else run.label)


def _teach_all(run: RunFolder, masker: Masker) -> tuple[list[dict[str, Any]], list[object]]:
    """The trials of a run and their courses, all of whose names the masker knows then."""
    trials, samples = run.records(), list(_samples_of(run.samples_path))
    _teach(masker, run, [run.run, run.label, *trials, *samples])
    return trials, samples


def copy(run: RunFolder, to: Path, masker: Masker) -> list[tuple[str, str, str]]:
    """Write a copy into the new folder ``to``, and return the kind, the name and the mask of all that was replaced."""
    trials, samples = _teach_all(run, masker)
    mask = _Masks(masker)
    to.mkdir()
    _write_lines(to / "trials.jsonl", (mask.trial(trial) for trial in trials))
    if samples:
        _write_lines(to / "samples.jsonl", map(mask.sample, samples))
    described = mask.run(run.run)
    described = {**described, "schema": SCHEMA, "replaced": _count_replaced(masker)}
    durable.create(to / "run.json", json.dumps(described, indent=2, allow_nan=False).encode() + b"\n")
    return masker.replaced


def private_keys(run: RunJson) -> list[str]:
    """The keys of a run.json that no copy has, and those with a path, of which a copy has the file's name alone."""
    paths = [key for key in FILES if "/" in str(run.get(key, ""))]
    return [*(key for key in PRIVATE if key in run), *paths]


def names_left(
    run: RunFolder, trials: Sequence[tuple[int, Mapping[str, Any]]]
) -> Iterator[tuple[str, int | None, str, str]]:
    """The names that stand in a run that should have none: in which file, in which line, of what kind, and the name.

    Looked for is whatever a copy would have replaced, but for masks; nothing of this machine. ``trials`` are those of
    the run as they stand in their lines. Each name is told of once, where it stands first; no password is repeated.
    Raises BadInput as :class:`Public`.
    """
    samples, masker = list(enumerate(_samples_of(run.samples_path), 1)), Masker()
    whole = read_run(run.path / "run.json")  # with the passwords in it
    _teach(masker, run, [whole, *(trial for _, trial in trials), *(one for _, one in samples)], of_here=False)
    described = {key: value for key, value in whole.items() if key not in (*PRIVATE, *OWN, *FILES)}
    measured = [
        (line, {name: value for name, value in trial.items() if name not in AS_ASKED}) for line, trial in trials
    ]
    seen, told = set[str](), set[str]()  # most texts come again and again
    files = (("run.json", [(None, described)]), ("trials.jsonl", measured), ("samples.jsonl", samples))
    for file, records in files:
        for line, one in records:
            for text in (text for text in _texts(one) if text not in seen and text not in PLAIN):
                seen.add(text)
                for kind, name in masker.names_in(text):
                    if name not in told:
                        told.add(name)
                        yield file, line, kind, name


def masker_of(run: RunFolder, texts: Iterable[str]) -> Masker:
    """What replaces the names of a run, and those in texts that come from its hosts. Raises BadInput for too many."""
    masker = Masker()
    _teach(masker, run, [run.run, list(texts)])
    return masker


def kinds_replaced(masker: Masker) -> str:
    """How many names of each kind were replaced so far, in words; empty where none was."""
    return ", ".join(f"{count} {kind}" for kind, count in _count_replaced(masker).items())


def _count_replaced(masker: Masker) -> dict[str, int]:
    return dict(sorted(Counter(kind for kind, _, _ in masker.replaced).items()))


def _teach(masker: Masker, run: RunFolder, records: Iterable[object], *, of_here: bool = True) -> None:
    """Have it know every name of the run, and ``of_here``, of this machine. Raises BadInput for too many."""
    here = _of_this_machine() if of_here else ()
    try:
        for kind, names in [*_noted(run.run), *_of_hosts(run.run), *here]:
            masker.know(kind, *(name for name in names if name.casefold() not in PLAIN))
        for text in dict.fromkeys(text for record in records for text in _texts(record)):
            masker.learn(text)
    except ValueError as error:
        raise BadInput(f"{run.path}: {error}", "give away a run with fewer names, or none") from error


def _noted(run: RunJson) -> Iterator[tuple[str, list[str]]]:
    """The names of the hosts file, by kind: a run that is older than the key has none."""
    for kind, names in run.get("names", {}).items():
        yield kind, [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _of_hosts(run: RunJson) -> Iterator[tuple[str, list[str]]]:
    for facts in run.get("hosts", {}).values():
        yield "host", _list_of(facts.get("hostname"))
        yield "user", [*_list_of(facts.get("user")), *(PurePath(home).name for home in _list_of(facts.get("home")))]
    target = run.get("target", {})  # of a share that was measured alone
    yield "host", _list_of(target.get("server"))
    yield "share", _list_of(target.get("share"))


def _list_of(value: object) -> list[str]:
    return [value] if isinstance(value, str) else []


def _of_this_machine() -> Iterator[tuple[str, list[str]]]:
    """Its names: the run may have been begun here, and title and paths may name it."""
    yield "host", [socket.gethostname()]
    with suppress(OSError, KeyError):  # of an account without a name
        yield "user", [getpass.getuser(), Path.home().name]


def _samples_of(path: Path) -> Iterator[object]:
    """The lines of samples.jsonl, as far as they can be read: no number rests on them."""
    with suppress(OSError):
        for line in read_lines(path):
            with suppress(ValueError):
                yield from_json(line.decode())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            if type(part) not in _NUMBERS:
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            if type(part) not in _NUMBERS:
                yield from part if isinstance(part, dict) else ()
                yield from _texts(part)


class _Masks:
    """Masks records; a text that comes again, as most do, is looked at once."""

    def __init__(self, masker: Masker) -> None:
        self._masker, self._known = masker, dict[str, str]()

    def text(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = text if text in PLAIN else self._masker.mask(text)
        return self._known[text]

    def all(self, value: object) -> object:
        """The same with every text in it masked; keys are the lab's own words."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.all(part) for key, part in value.items()}
        return list(map(self.all, value)) if isinstance(value, list) else value

    def sample(self, value: object, in_list: bool = False) -> object:
        """The same of the course of a trial, in whose lists keys are names of processes."""
        if isinstance(value, dict):
            return {self.text(key) if in_list else key: self.sample(part) for key, part in value.items()}
        return [self.sample(part, True) for part in value] if isinstance(value, list) else self.all(value)

    def trial(self, record: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value if name in AS_ASKED else self.all(value) for name, value in record.items()}

    def run(self, run: RunJson) -> dict[str, Any]:
        kept = {key: value for key, value in run.items() if key not in PRIVATE}
        kept |= {key: PurePath(kept[key]).name for key in FILES if isinstance(kept.get(key), str)}
        return {key: value if key in OWN else self.all(value) for key, value in kept.items()}


def _write_lines(path: Path, records: Iterable[object]) -> None:
    with path.open("x") as file:
        file.writelines(json.dumps(record, allow_nan=False) + "\n" for record in records)
