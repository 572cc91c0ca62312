"""JSON Schemas (draft 2020-12) of the files in a run folder and of what `lab export` writes."""

import dataclasses
import json
import types
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from lab.base.units import LARGEST
from lab.contribution import record
from lab.design.case import MOST_CASES
from lab.platforms import Facts
from lab.results import trial
from lab.results.json_object import JsonObject
from lab.results.run_keys import RunKeys
from lab.results.samples import SampleLine
from lab.schemas.columns import LINK, MORE, TIDY, entries
from lab.schemas.fields import descriptions, fields_of

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
COMMENT = "Made from the code by `lab export --schema`."
NAMES: dict[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null", dict: "object",
}  # fmt: skip
WORDS = {"text": "string", "integer": "integer", "number": "number", "true or false": "boolean"}  # of the dictionary


class Writer:
    """Makes the schema of a type; those of objects inside it stand in ``definitions``, each once."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a type."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin is types.UnionType:
            members = list(map(self.of, args))
            plain = all(list(member) == ["type"] for member in members)
            return {"type": [member["type"] for member in members]} if plain else {"anyOf": members}
        if hint is Any or hint is object:
            return {}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(args[1])}
        if origin is list or (origin is tuple and args[-1] is Ellipsis):
            return {"type": "array", "items": self.of(args[0])}
        if origin is tuple:
            return {"type": "array", "prefixItems": list(map(self.of, args)), "items": False, "minItems": len(args)}
        is_struct = isinstance(hint, type) and issubclass(hint, msgspec.Struct)
        if is_struct or typing.is_typeddict(hint) or dataclasses.is_dataclass(hint):
            return self.reference(hint)
        return {"type": NAMES[origin or hint]}

    def reference(self, owner: type) -> Schema:
        """A reference to the schema of an object."""
        if owner.__name__ not in self.definitions:
            self.definitions[owner.__name__] = {}
            self.definitions[owner.__name__] = self.object(owner)
        return {"$ref": f"#/$defs/{owner.__name__}"}

    def object(self, owner: type) -> Schema:
        """The schema of an object. Keys of other versions may stand in it; that of a trial alone has all its own."""
        about = descriptions(owner)
        properties = {
            name: {"description": _plain(about[name]), **self.of(hint)} for name, hint in fields_of(owner).items()
        }
        return {"description": _plain(owner.__doc__ or ""), "type": "object", "properties": properties} | _needed(owner)


def _needed(owner: type) -> Schema:
    """Which keys there have to be, and whether there may be others."""
    if issubclass(owner, msgspec.Struct):
        required = [field.name for field in msgspec.structs.fields(owner) if field.required]
        return {"required": required, "additionalProperties": not owner.__struct_config__.forbid_unknown_fields}
    if owner is trial.Trial:
        return {"required": list(trial.FIELDS), "additionalProperties": False}
    if typing.is_typeddict(owner) and vars(owner)["__total__"]:
        hints = typing.get_type_hints(owner, include_extras=True)  # Python 3.11 finds none in texts
        return {"required": [name for name, hint in hints.items() if typing.get_origin(hint) is not typing.NotRequired]}
    if dataclasses.is_dataclass(owner) and not issubclass(owner, JsonObject):
        fields = dataclasses.fields(owner)
        missing = dataclasses.MISSING
        return {"required": [field.name for field in fields if field.default is field.default_factory is missing]}
    return {}


def _plain(text: str) -> str:
    """The first paragraph of a text, on one line, without what only a page can have."""
    first = " ".join(text.partition("\n\n")[0].split())
    return LINK.sub(r"\1", first).replace("``", "`").replace("this page describes {schema}", f"{trial.SCHEMA} is this")


def trial_schema(writer: Writer) -> Schema:
    """The schema of a line of trials.jsonl, with the bounds that the reader holds to."""
    schema = writer.object(trial.Trial)
    for name, field in schema["properties"].items():
        if name == "options":
            field |= {"maxProperties": trial.MOST_OPTIONS, "propertyNames": {"maxLength": trial.LONGEST["tool"]}}
            field["additionalProperties"]["maxLength"] = trial.LONGEST["tool"]
        elif name == "tcp_space":
            words: Schema = {"enum": sorted(trial.WORDS[name])}
            field |= {"anyOf": [{"type": "integer", **_BOUNDS}, words]}
            del field["type"]
        elif name in trial.WORDS:
            field["enum"] = sorted(trial.WORDS[name])
        elif name in trial.LONGEST:
            field["maxLength"] = trial.LONGEST[name]
        elif trial.FIELDS[name] & {int, float}:
            field |= _BOUNDS
    schema["properties"]["started_at"]["format"] = "date-time"
    timed = {"properties": {"elapsed_s": {"type": "number", "exclusiveMinimum": 0}}}
    return schema | {"if": {"properties": {"status": {"const": "ok"}}}, "then": timed}


_BOUNDS: Schema = {"minimum": 0, "exclusiveMaximum": LARGEST}


def run_schema(writer: Writer) -> Schema:
    """The schema of run.json."""
    schema = writer.object(RunKeys) | {"required": ["schema"]}
    properties = schema["properties"]
    properties["schema"] |= {"minimum": 1, "maximum": trial.SCHEMA}
    properties["hosts"]["additionalProperties"] = writer.reference(Facts)
    for name in ("left_out", "closed", "caveats"):
        properties[name]["maxProperties"] = MOST_CASES
    return schema


def contribution_schema(writer: Writer) -> Schema:
    """The schema of contribution.json, with the form of its digests."""
    schema = writer.object(record.Contribution)
    properties, digest = schema["properties"], {"pattern": "^[0-9a-f]{64}$"}
    properties["schema"] = {**properties["schema"], "const": record.SCHEMA}
    for name in ("raw_trials_sha256", "measured_sha256"):
        properties[name] |= digest
    writer.definitions["FileDigest"]["properties"]["sha256"] |= digest
    writer.definitions["FileDigest"]["properties"]["bytes"] |= {"minimum": 0}
    return schema


def table_schema(_: Writer) -> Schema:
    """The schema of what `lab export --to json` writes, with and without --tidy."""
    columns = {
        entry.column: {
            "description": entry.plain_meaning, "type": WORDS[entry.type], "unit": entry.unit, "source": entry.source,
            "empty": entry.empty,
        }
        for entry in (*entries(), *TIDY[2:])
    }  # fmt: skip
    row: Schema = {"type": "object", "properties": columns, "required": ["trial_id"]}
    options = {"description": MORE[0].meaning, "type": "string"}
    others = {"description": MORE[-1].meaning, "type": "string"}
    row |= {"patternProperties": {"^option\\.": options}, "additionalProperties": others}
    kinds = {"type": "object", "additionalProperties": {"enum": list(WORDS.values())}}
    properties = {
        "schema": {"description": "That of the trials.", "const": trial.SCHEMA},
        "columns": {"description": "The type of each column.", **kinds},
        "rows": {"description": "A row a trial, without what it lacks.", "type": "array", "items": row},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


FILES: dict[str, tuple[str, Callable[[Writer], Schema]]] = {
    "run": ("run.json", run_schema),
    "trial": ("a line of trials.jsonl", trial_schema),
    "samples": ("a line of samples.jsonl", lambda writer: writer.object(SampleLine)),
    "table": ("lab export --to json", table_schema),
    "contribution": ("contribution.json of lab contribute", contribution_schema),
}


def schema_text(name: str) -> str:
    """The schema of one of FILES, as JSON that ends with a new line."""
    about, make = FILES[name]
    writer = Writer()
    version = record.SCHEMA if name == "contribution" else trial.SCHEMA
    about = f"file-share-lab, schema {version}: {about}"
    schema = {"$schema": DRAFT, "$comment": COMMENT, "title": about, **make(writer)}
    if writer.definitions:
        schema["$defs"] = dict(sorted(writer.definitions.items()))
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
