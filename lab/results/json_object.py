"""Dataclasses that are JSON objects in a file: a field is a key, and a field that is None is an absent key."""

import functools
import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Self, TypeAlias

Hint: TypeAlias = type | types.UnionType
RunJson: TypeAlias = Mapping[str, typing.Any]  # the content of run.json


@dataclass(frozen=True, kw_only=True)
class JsonObject:
    """A JSON object whose keys are the fields of a dataclass, in their order; every field is optional.

    ``other`` maps keys without a field, such as those of another version of the lab, and keys whose value has another
    type than their field. It is written last, unless a class names it among its own fields.
    """

    other: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> Self:
        """The object in a file. Nothing in it is lost."""
        other: dict[str, object] = {}
        values: dict[str, object] = {}
        types_of = _types(cls)  # type: ignore[arg-type]
        for key, value in record.items():
            kinds = types_of.get(key, frozenset())
            nested = [kind for kind in kinds if issubclass(kind, JsonObject)]
            if nested and isinstance(value, dict):
                values[key] = nested[0].from_json(value)
            elif tuple in kinds and (items := _items(cls, key, value)) is not None:
                values[key] = items
            elif value is not None and type(value) in kinds:
                values[key] = value
            else:
                other[key] = value
        return cls(**values, other=other)

    def to_json(self) -> dict[str, object]:
        """The object as in a file."""
        record: dict[str, object] = {}
        for name in dict.fromkeys([*type(self).__annotations__, "other"]):
            value = getattr(self, name)
            if name == "other":
                record |= value
            elif isinstance(value, JsonObject):
                record[name] = value.to_json()
            elif isinstance(value, tuple):
                record[name] = [item.to_json() if isinstance(item, JsonObject) else item for item in value]
            elif value is not None:
                record[name] = value
        return record


def _items(cls: type[JsonObject], key: str, value: object) -> tuple[object, ...] | None:
    """The items of a list of the field's type; None for another value."""
    if not isinstance(value, list):
        return None
    kind = _item_types(cls)[key]  # type: ignore[arg-type]
    if issubclass(kind, JsonObject):
        return tuple(kind.from_json(item) for item in value) if all(isinstance(item, dict) for item in value) else None
    return tuple(value) if all(isinstance(item, kind) for item in value) else None


@functools.cache
def _item_types(cls: Hashable) -> dict[str, type]:
    return {
        name: typing.get_args(member)[0]
        for name, hint in typing.get_type_hints(cls).items()
        for member in _members(hint)
        if typing.get_origin(member) is tuple
    }


@functools.cache
def _types(cls: Hashable) -> dict[str, frozenset[type]]:
    return {name: json_types(hint) for name, hint in typing.get_type_hints(cls).items() if name != "other"}


def json_types(hint: Hint) -> frozenset[type]:
    """The JSON types of an annotated field. An int is a valid float."""
    plain = {typing.get_origin(member) or member for member in _members(hint)}
    return frozenset(plain | {int} if float in plain else plain)


def _members(hint: Hint) -> tuple[type, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
