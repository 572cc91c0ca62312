"""What the code says of itself, as tables of Markdown: fields with their texts, and their types in words."""

import dataclasses
import types
import typing
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from lab.base import units, validation
from lab.design import sweep_file
from lab.fleet import fleet_file
from lab.hosts import fields
from lab.hosts.command import Command
from lab.schemas.columns import TYPES
from lab.schemas.fields import descriptions, fields_of
from lab.settings import parameters

# What a value of these types looks like in a file; a type is known by the function that reads it
NOTATIONS = {
    validation.Size: "size, such as `64 MiB` or `64M`",
    validation.Seconds: "time, such as `90 s` or `5 min`",
    validation.Share: 'share, such as `0.25` or `"1/4"`',
    sweep_file.TcpSpace: "`default`, or a size, such as `512 KiB`",
    fleet_file.TimeWindow: "window of time, such as `22:00-06:00` or `Mon-Fri 20:00-06:00`",
    fields.Port: "port",
    fields.Address: "IP address",
    fields.Absolute: "full path; `~` is the home of the account",
    fields.PlainFolder: "full path; `~` is the home of the account",
    fields.HostName: "name or address of a host",
    fields.UserName: "account",
    fields.ShareName: "name of a share",
    fields.AccountName: "account",
    fields.SshAlgorithms: "names with spaces between them, such as `ssh-rsa`",
    fields.Interface: "interface, such as `eth0` or `en0`",
    fields.PasswordSource: "`prompt`, `env:VARIABLE`, `file:PATH` or `keyring:SERVICE`",
    fields.Instance: "`NAME/TOKEN`",
    parameters.OwnPath: "full path of, or in, a folder `file-share-lab-TOKEN`",
    parameters.OwnFolder: "full path of a folder `file-share-lab-TOKEN`",
    parameters.HostJournalFolder: "full path of a folder `file-share-lab`",
}
BY_READER = {typing.get_args(alias)[1]: words for alias, words in NOTATIONS.items()}
PLAIN: dict[Any, str] = {**TYPES, dict: "object", list: "list", type(None): "null", Command: "command", Any: "any"}


def notation(hint: Any, metadata: Iterable[Any] = ()) -> str:
    """How a value of this type is written; ``metadata`` is what Annotated says of it beside its type."""
    if typing.get_origin(hint) is typing.Annotated:
        hint, *more = typing.get_args(hint)
        metadata = [*metadata, *more]
    annotations = [part for item in metadata for part in (item.metadata if isinstance(item, FieldInfo) else [item])]
    words = next((BY_READER[part] for part in annotations if part in BY_READER), "")
    pattern = next((part.pattern for part in annotations if getattr(part, "pattern", None)), "")
    return (words or (f"text that matches `{pattern}`" if pattern else _of_type(hint))) + _bounds(annotations)


def _of_type(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{level}`" for level in args)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(map(notation, args))
    if origin in (list, tuple):
        items = [arg for arg in args if arg is not Ellipsis]
        return "list of: " * (len(items) == 1) + ", ".join(map(notation, items))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ", ".join(f"`{level.value}`" for level in hint)
    if (dataclasses.is_dataclass(hint) or typing.is_typeddict(hint)) and hint not in PLAIN:
        return "object"
    return PLAIN[origin or hint]


def _bounds(constraints: Sequence[Any]) -> str:
    """The limits of a number, such as ``, 5 to 3600``; one that is only there for the file formats is not told."""
    limits = {
        name: getattr(constraint, name)
        for constraint in constraints
        for name in ("gt", "ge", "lt", "le")
        if getattr(constraint, name, None) not in (None, units.LARGEST)
    }
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    if limits.keys() == {"ge", "le"}:
        return f", {limits['ge']} to {limits['le']}"
    return "".join(f", {words[name]} {limit}" for name, limit in limits.items())


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if units.parse_size in _readers(field) or units.parse_seconds in _readers(field):
        value = units.size_label(value) if isinstance(value, int) else value and f"{value:g} s"
    if value is None or value in ((), "") or isinstance(value, BaseModel):
        return "–"
    return ", ".join(f"`{item}`" for item in value) if isinstance(value, tuple) else f"`{value}`"


def _readers(field: FieldInfo) -> list[Any]:
    return [getattr(part, "func", None) for part in field.metadata]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; literals of reST become those of Markdown."""
    head, *body = (f"| {' | '.join(_escaped(line))} |\n".replace("``", "`") for line in (headings, *rows))
    return "".join((head, f"|{'---|' * len(headings)}\n", *body))


def _escaped(line: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in line]


def keys(model: type[BaseModel], without: Sequence[str] = ()) -> str:
    """A table of the keys of a section."""
    about = {name: field.description for name, field in model.model_fields.items() if field.description}
    about = about or descriptions(model)
    return table(
        ("key", "value", "default", "meaning"),
        [
            (f"`{name}`", _written(field), _default(field), about[name])
            for name, field in model.model_fields.items()
            if name not in without
        ],
    )


def _written(field: FieldInfo) -> str:
    members = [member for member in typing.get_args(field.annotation) if member is not type(None)]
    optional = isinstance(field.annotation, types.UnionType) or typing.get_origin(field.annotation) is typing.Union
    return notation(members[0] if optional and len(members) == 1 else field.annotation, field.metadata)


def record(owner: type) -> str:
    """A table of the fields of a dataclass or TypedDict as JSON has them; those of one type and meaning share a row."""
    about = descriptions(owner)
    names: dict[tuple[str, str], list[str]] = {}
    for name, hint in fields_of(owner).items():
        names.setdefault((notation(hint), about[name]), []).append(f"`{name}`")
    return table(("field", "type", "meaning"), [(", ".join(group), *rest) for rest, group in names.items()])
