"""Operations: all that the lab ever does to a host's state, each of a kind that stands in the code.

A journal names the kind and its parameters, never a command: what reads a value and what brings an old one back is made
by the code here, from parameters that were checked. A kind is a subclass of :class:`Operation` beside the code that
makes settings of it; `lab.run.restore.vocabulary` finds them all.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, TypeAlias

from lab.base.errors import LabFailure
from lab.hosts.command import Command
from lab.settings.parameters import check_fields


@dataclass(frozen=True)
class Operation(ABC):
    """One piece of a host's state: how it is read, and how an old value is brought back. Its fields are parameters.

    ``kind`` names it in files and stays as it is for good; ``values`` is a pattern of the values that it can have. A
    ``volatile`` one does not outlive a restart of the host; one that ``holds`` what later ones need is not put back
    before they are, but for one that ``stands_alone``, which needs nothing. One that ``may_cut_off`` the controller is
    taken back by the host itself, unless the controller has reached it again.

    Raises LabFailure for parameters out of their ranges.
    """

    kind: ClassVar[str]
    values: ClassVar[str]
    volatile: ClassVar[bool] = True
    holds: ClassVar[bool] = False
    stands_alone: ClassVar[bool] = False
    may_cut_off: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_fields(self, self.kind)

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is, in a few words for people."""

    @abstractmethod
    def read(self) -> Command:
        """The command that prints the present value."""

    @abstractmethod
    def _undo(self, old: str) -> tuple[Command, ...]:
        """See :meth:`undo`; ``old`` has been checked."""

    def explain(self, value: str) -> str:
        """Why it stays at this value, and what helps; empty where the commands of :meth:`undo` say what to do."""
        return ""

    def undo(self, old: str) -> tuple[Command, ...]:
        """The commands that bring an old value back, safe to repeat. Raises LabFailure for one that it cannot have."""
        self.check(old)
        return self._undo(old)

    def check(self, value: str) -> None:
        """Raise LabFailure for a value that it cannot have: a value becomes part of a command."""
        if not re.fullmatch(self.values, value):
            raise LabFailure(f"{self.label}: {value!r:.100} is no value that it can have")

    def as_json(self) -> dict[str, Any]:
        """As a journal has it."""
        return {"kind": self.kind, **asdict(self)}


Kinds: TypeAlias = Mapping[str, type[Operation]]


def parse_operation(content: object, kinds: Kinds) -> Operation:
    """The operation that a journal names. Raises ValueError for another kind or key, LabFailure for parameters."""
    if not isinstance(content, dict):
        raise ValueError("operation is no object")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"operation.kind {kind!r:.60} is none that this lab knows")
    parameters = {key: value for key, value in content.items() if key != "kind"}
    check_keys(parameters, {field.name for field in fields(kinds[kind])}, "operation.")
    return kinds[kind](**parameters)


def check_keys(content: Mapping[str, Any], names: set[str], where: str = "") -> None:
    """Raise ValueError where an object has other keys than these."""
    for name in sorted(names - content.keys()):
        raise ValueError(f"{where}{name} is missing")
    for name in sorted(content.keys() - names):
        raise ValueError(f"{where}{name!r:.60} is no key of it")
