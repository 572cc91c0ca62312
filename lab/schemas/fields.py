"""The fields of a class for JSON: their types, and what the text beside or below each says."""

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


@functools.cache
def descriptions(owner: type) -> dict[str, str]:
    """The text of each field, on one line: beside it, after ``#:``, or a string below it. Raises LookupError."""
    source = textwrap.dedent(inspect.getsource(owner))
    definition = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    lines, texts = source.splitlines(), dict[str, str]()
    for statement, below in itertools.pairwise([*definition.body, None]):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name), lineno=line), _ if "  #: " in lines[line - 1]:
                texts[name] = lines[line - 1].partition("  #: ")[2]
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
            case ast.AnnAssign(target=ast.Name(id=name)), _ if not name.startswith("_"):
                raise LookupError(f"{owner.__name__}.{name} has no description beside or below it")
    return texts


def fields_of(owner: type) -> dict[str, Any]:
    """The type of each field as JSON has it: a None of a :class:`JsonObject` is an absent key, and no null."""
    hints = typing.get_type_hints(owner, include_extras=True)
    if not issubclass(owner, JsonObject):
        absent = typing.NotRequired
        return {
            name: typing.get_args(hint)[0] if typing.get_origin(hint) is absent else hint
            for name, hint in hints.items()
        }
    return {
        name: functools.reduce(operator.or_, [kind for kind in typing.get_args(hint) if kind is not types.NoneType])
        if isinstance(hint, types.UnionType)
        else hint
        for name, hint in hints.items()
        if name != "other"
    }
