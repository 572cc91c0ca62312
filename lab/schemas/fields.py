"""The fields of a class for JSON: their types, and what the string below each says."""

import ast
import functools
import inspect
import itertools
import operator
import textwrap
import types
import typing
from typing import Any

from lab.results.json_object import JsonObject


def descriptions(owner: type) -> dict[str, str]:
    """The string below each field of a class, on one line. Raises LookupError for a field that has none."""
    source = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    definition = next(node for node in source.body if isinstance(node, ast.ClassDef))
    texts: dict[str, str] = {}
    for statement, below in itertools.pairwise([*definition.body, None]):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
            case ast.AnnAssign(target=ast.Name(id=name)), _ if not name.startswith("_"):
                raise LookupError(f"{owner.__name__}.{name} has no description below it")
    return texts


def fields_of(owner: type) -> dict[str, Any]:
    """The type of each field of a dataclass or TypedDict, as JSON has it.

    A field of a :class:`JsonObject` that is None is a key that is absent, so its type names no null.
    """
    hints = typing.get_type_hints(owner, include_extras=True)
    if not issubclass(owner, JsonObject):
        absent = typing.NotRequired
        return {
            name: typing.get_args(hint)[0] if typing.get_origin(hint) is absent else hint
            for name, hint in hints.items()
        }
    return {name: without_null(hint) for name, hint in hints.items() if name != "other"}


def without_null(hint: Any) -> Any:
    """A type less None."""
    members = [member for member in typing.get_args(hint) if member is not type(None)]
    return functools.reduce(operator.or_, members) if isinstance(hint, types.UnionType) else hint
