"""Trials as columns; texts of ``observed`` stay in their file."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from lab.results.trial import FIELDS

SHARED = ("options", "effective")  # objects whose text repeats from line to line
_OWN = ("trial_id", "started_at", "observed")  # fields that differ in every line
WORDED = tuple(name for name, kinds in FIELDS.items() if name not in _OWN and kinds & {str, dict})
NUMBERS: dict[str, type] = {
    name: float if float in kinds else bool if bool in kinds else int
    for name, kinds in FIELDS.items()
    if name not in (*_OWN, *WORDED)
}
Numbers: TypeAlias = npt.NDArray[Any]  # of float64, int64 or bool


@dataclass
class Columns:
    """Lines as columns, up to the first bad one; ``problem`` says what is wrong with the line after the last row.

    ``combinations`` is the number of each row in its :class:`Decoder`'s. ``numbers`` are float64 with NaN for null,
    bool, or int64 with 0 for null and a mask in ``nulls``. ``started_at`` is UTC. ``observed`` are places of JSON texts
    in the file (:data:`lab.results.file_texts.Places`), or in ``observed_texts``.
    """

    trial_ids: list[str] = field(default_factory=list)
    started_at: npt.NDArray[np.datetime64] = field(default_factory=lambda: np.empty(0, "M8[us]"))
    combinations: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    numbers: dict[str, Numbers] = field(default_factory=dict)
    nulls: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)
    observed: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))
    observed_texts: list[str] = field(default_factory=list)
    problem: str = ""

    def __len__(self) -> int:
        return len(self.trial_ids)

    def place_observed(self, start: int, lines: bytes, ends: npt.NDArray[np.int64], texts: Sequence[bytes]) -> None:
        """Note each text of ``observed`` in ``lines``, which begin at byte ``start`` of the file. Raises ValueError."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = ends - 1 - lengths  # as the lab writes it: before the last bracket of the line
        self.observed = np.column_stack((starts, starts + lengths)) + start
        if all(map(lines.startswith, texts, starts.tolist())):
            are_objects = bool((np.frombuffer(lines, np.uint8)[starts] == ord("{")).all())
        else:
            are_objects = all(text.startswith(b"{") for text in texts)
            self.list_observed(text.decode() for text in texts)
        if not are_objects:
            raise ValueError("observed is no object")

    def list_observed(self, texts: Iterable[str]) -> None:
        """Keep texts of ``observed`` in memory, because the file does not have them in this form."""
        self.observed_texts = list(texts)
        rows = np.arange(len(self.observed_texts))
        self.observed = np.column_stack((np.full_like(rows, -1), rows))


def join(parts: Sequence[Columns]) -> Columns:
    """Concatenate columns. The problem is the last one's."""
    whole = Columns(list(itertools.chain.from_iterable(part.trial_ids for part in parts)))
    for part in parts:
        whole.problem = part.problem
        if part.observed_texts:
            part.observed[:, 1] += len(whole.observed_texts)
            whole.observed_texts += part.observed_texts
    if parts:
        whole.observed = np.concatenate([part.observed for part in parts])
        whole.started_at = np.concatenate([part.started_at for part in parts])
        whole.combinations = np.concatenate([part.combinations for part in parts])
        whole.numbers = {name: np.concatenate([part.numbers[name] for part in parts]) for name in NUMBERS}
        for name in {name for part in parts for name in part.nulls}:
            whole.nulls[name] = np.concatenate([part.nulls.get(name, np.zeros(len(part), bool)) for part in parts])
    return whole
