"""Dataclasses that are JSON objects in a file: a field is a key, and a field that is None is a key that is absent."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class JsonObject:
    """A JSON object whose keys are the fields of a dataclass, in their order.

    Every field is optional, but for one, ``other``: it maps the keys for which there is no field, such as those of
    another version of the lab, and those whose value has another type than the field.
    """

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> Self:
        """The object that a file holds; nothing in it is lost, whatever it is."""
        other: dict[str, object] = {}
        values: dict[str, Any] = {"other": other}
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
        return cls(**values)

    def to_json(self) -> dict[str, object]:
        """The object as a file holds it."""
        record: dict[str, object] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "other":
                record |= value
            elif isinstance(value, JsonObject):
                record[field.name] = value.to_json()
            elif value is not None:
                record[field.name] = list(map(_item_to_json, value)) if isinstance(value, tuple) else value
        return record


def _item_to_json(item: object) -> object:
    return item.to_json() if isinstance(item, JsonObject) else item


def _items(cls: type[JsonObject], key: str, value: object) -> tuple[object, ...] | None:
    """The items of a list, of the type that the field's have; None where one is of another, or it is no list."""
    if not isinstance(value, list):
        return None
    kind = _item_types(cls)[key]  # type: ignore[arg-type]
    if issubclass(kind, JsonObject):
        return tuple(kind.from_json(item) for item in value) if all(isinstance(item, dict) for item in value) else None
    return tuple(value) if all(isinstance(item, kind) for item in value) else None


@functools.cache
def _item_types(cls: Hashable) -> dict[str, type]:
    """The type of the items of each field that is a tuple."""
    found: dict[str, type] = {}
    for name, hint in typing.get_type_hints(cls).items():
        members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        tuples = [member for member in members if typing.get_origin(member) is tuple]
        if tuples:
            found[name] = typing.get_args(tuples[0])[0]
    return found


@functools.cache
def _types(cls: Hashable) -> dict[str, frozenset[type]]:
    """The types that the JSON value of each field may have."""
    return {name: json_types(hint) for name, hint in typing.get_type_hints(cls).items() if name != "other"}


def json_types(hint: object) -> frozenset[type]:
    """The types that a value of an annotated field may have; an int is a good float, and null is none."""
    members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = {typing.get_origin(member) or member for member in members}
    return frozenset(plain | {int} if float in plain else plain)
