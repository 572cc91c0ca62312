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
            elif tuple in kinds and isinstance(value, list) and all(isinstance(item, str) for item in value):
                values[key] = tuple(value)
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
                record[field.name] = list(value) if isinstance(value, tuple) else value
        return record


@functools.cache
def _types(cls: Hashable) -> dict[str, frozenset[type]]:
    """The types that the JSON value of each field may have."""
    return {name: json_types(hint) for name, hint in typing.get_type_hints(cls).items() if name != "other"}


def json_types(hint: object) -> frozenset[type]:
    """The types that a value of an annotated field may have; an int is a good float, and null is none."""
    members = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    plain = {typing.get_origin(member) or member for member in members}
    return frozenset(plain | {int} if float in plain else plain)
