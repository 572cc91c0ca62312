"""Operations: every way in which the lab changes a host's state; and settings, which apply them.

A journal names the kind of an operation and its parameters, never a command: this code makes the commands from checked
parameters. A kind is a subclass of :class:`Operation`, beside the code that makes settings of it;
`lab.run.restore.vocabulary` finds them all.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import ClassVar, TypeAlias

from lab.base.errors import LabFailure
from lab.hosts.command import Command
from lab.hosts.mounts import is_mounted, is_mounted_on_mac
from lab.settings.parameters import OwnPath, check_fields


@dataclass(frozen=True)
class Operation(ABC):
    """One piece of a host's state: how to read it, and how to restore an old value. Its fields are parameters.

    ``kind`` is its permanent name in files, ``label_format`` its short name for people, with parameters in braces.
    ``values`` is a pattern of possible values. A ``volatile`` change ends with a restart of the host. A change that
    ``holds`` what later ones need is put back after them, except for one that ``stands_alone``. A change that
    ``may_cut_off`` the controller is undone by the host itself, unless the controller reaches the host again. One that
    ``is_private`` has an unguessable place, and disturbs no other run. ``if_it_hangs`` is the remedy if its commands do
    not end, ``may_stay`` what may stay elsewhere once it is gone here. Raises LabFailure for parameters out of range.
    """

    kind: ClassVar[str]
    label_format: ClassVar[str]
    values: ClassVar[str]
    volatile: ClassVar[bool] = True
    holds: ClassVar[bool] = False
    stands_alone: ClassVar[bool] = False
    may_cut_off: ClassVar[bool] = False
    is_private: ClassVar[bool] = False
    if_it_hangs: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_fields(self, self.kind)

    @property
    def may_stay(self) -> str:
        return ""

    @property
    def label(self) -> str:
        """A short name for people."""
        return self.label_format.format(**vars(self))

    @abstractmethod
    def read(self) -> Command:
        """The command that prints the present value."""

    @abstractmethod
    def _undo(self, old: str) -> tuple[Command, ...]:
        """``old`` is checked already."""

    def explain(self, value: str) -> str:
        """Why it stays at this value, and a remedy; empty if the commands of :meth:`undo` are the remedy."""
        return ""

    def undo(self, old: str) -> tuple[Command, ...]:
        """The commands that restore an old value, safe to repeat. Raises LabFailure for an impossible value."""
        self.check(old)
        return self._undo(old)

    def check(self, value: str) -> None:
        """Raise LabFailure for an impossible value, because values become parts of commands."""
        if not re.fullmatch(self.values, value):
            raise LabFailure(f"{self.label}: {value!r:.100} is no value that it can have")

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind, **asdict(self)}


Kinds: TypeAlias = Mapping[str, type[Operation]]


def parse_operation(content: object, kinds: Kinds) -> Operation:
    """The operation in a journal. Raises ValueError for an unknown kind or key, LabFailure for wrong parameters."""
    if not isinstance(content, dict):
        raise ValueError("operation is no object")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"operation.kind {kind!r:.60} is none that this lab knows")
    parameters = {key: value for key, value in content.items() if key != "kind"}
    check_keys(parameters, {field.name for field in fields(kinds[kind])}, "operation.")
    return kinds[kind](**parameters)


def check_keys(content: Mapping[str, object], names: set[str], where: str = "") -> None:
    """Raise ValueError if an object has other keys than these."""
    for name in sorted(names - content.keys()):
        raise ValueError(f"{where}{name} is missing")
    for name in sorted(content.keys() - names):
        raise ValueError(f"{where}{name!r:.60} is no key of it")


@dataclass(frozen=True)
class Mounted(Operation):
    """A file system, mounted."""

    label_format = "mount {path}"
    is_private = True
    values = "absent|mounted"

    path: OwnPath
    """Where it is mounted, without links."""


class MountedOnLinux(Mounted):
    """A file system mounted on a Linux host."""

    def read(self) -> Command:
        return is_mounted(self.path)


class MountedOnMac(Mounted):
    """A file system mounted on a Mac."""

    def read(self) -> Command:
        return is_mounted_on_mac(self.path)


@dataclass(frozen=True)
class Setting:
    """One piece of a host's state that the lab changes by ``apply`` to the value ``wanted``.

    ``host`` is a role; ``operation`` reads the value and restores an old one. ``remedy`` says what to do if the host
    refuses. ``before`` replaces reading the old value, for something new whose name must be in no command yet.
    """

    host: str
    operation: Operation
    wanted: str
    apply: tuple[Command, ...]
    remedy: str = ""
    before: str = ""

    @property
    def name(self) -> str:
        return self.operation.label

    @property
    def read(self) -> Command:
        return self.operation.read()
