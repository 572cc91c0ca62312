"""A trial and run.json as a run folder holds them: their types, and reading them with care."""

import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from lab.base import untrusted
from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.units import LARGEST
from lab.base.untrusted import from_json, listing
from lab.design.blocks import Ordering
from lab.design.case import MOST_CASES
from lab.design.factors import FACTORS
from lab.results.effective import Effective
from lab.results.json_object import Hint, JsonObject, RunJson, json_types
from lab.results.observed import Observed
from lab.results.run_keys import RunKeys, is_load

SCHEMA = 2
# The fields that a schema added, each with its value for a file of the schema before
ADDED: dict[int, dict[str, object]] = {2: {"anchor": False, "observed": {}}}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One timed transfer (schema 2): what was asked, what was in effect, raw counters and seconds.

    None means not measured; the file has ``null``.
    """

    trial_id: str  #: Unique in a run, and the same when it is resumed: ``b002-0014`` is block 2, position 14.
    case_id: str  #: The combination of levels; the same in every run.
    block: int  #: From 1.
    position: int  #: In the block, from 1; 0 is a ceiling.
    started_at: str  #: ISO 8601, UTC, by the controller's clock.
    protocol: str  #: The share's protocol; ``link`` is the iperf3 ceiling, ``store`` the server's store by itself.
    tool: str
    """The command that copied; ``iperf3`` for the link's ceiling; for the store's ``dd`` (in older runs ``disk``),
    ``memory`` (dd without the disk), ``fio`` and ``bonnie++``."""
    direction: str  #: As the client sees it: ``write`` is client to server.
    workload: str  #: The payload, by its name; ``stream`` for the link; ``names of`` a payload if only names move.
    store: str  #: Where the files are on the server.
    mtu: int  #: Asked for, in bytes.
    tcp_space: int | str  #: Asked for, in bytes; ``default`` leaves the hosts as they are.
    options: dict[str, str]
    """The level, as text, of each other factor, and of each option of mount, tool and store that the sweep names."""
    size_bytes: int
    """The payloads of all clients. If only names move, their characters, which are at least a byte each."""
    files: int  #: Files in the payloads of all clients.
    elapsed_s: float | None = None
    """By the client's own clock, flush included; with the tool ``metadata`` only its calls. With several clients, from
    the first start to the last end."""
    client_cpu_s: float | None = None  #: CPU seconds in use on the client meanwhile.
    server_cpu_s: float | None = None  #: CPU seconds in use on the server meanwhile.
    wire_tx_bytes: int | None = None  #: Sent by the client's data interface meanwhile.
    wire_rx_bytes: int | None = None  #: Received by the client's data interface meanwhile.
    retransmits: int | None = None  #: TCP segments sent again, on both hosts together.
    ceiling_bytes_per_s: float | None = None
    """What iperf3 measured in this direction before the trials of the block with the same MTU and TCP buffers. The
    ceiling is the larger of this and the one after them."""
    effective: Effective = field(default_factory=Effective)  #: What was in effect, as read back.
    verified: bool = False  #: Whether every byte was compared, outside the measured time.
    status: str  #: ``ok`` counts; a ``void`` trial contradicts what it claims; a ``failed`` one did not end well.
    reason: str = ""  #: Why it is void or failed.
    anchor: bool = False  #: Whether it repeats a case of its block; it is in no summary and no effect.
    observed: Observed = field(default_factory=Observed)
    """What both hosts counted meanwhile; empty for the link's ceiling and failed trials."""

    @classmethod
    def from_json(cls, record: Mapping[str, typing.Any]) -> Self:
        """The trial of a record in which :func:`problem` finds nothing wrong."""
        effective, observed = Effective.from_json(record["effective"]), Observed.from_json(record["observed"])
        return cls(**{**record, "effective": effective, "observed": observed})

    def to_json(self) -> dict[str, object]:
        """The trial as a line of trials.jsonl holds it."""
        values = {name: getattr(self, name) for name in FIELDS}
        return {name: value.to_json() if isinstance(value, JsonObject) else value for name, value in values.items()}


def _json_types(hint: Hint) -> frozenset[type]:
    """The types that the JSON value of a trial's field may have."""
    return frozenset(dict if issubclass(kind, JsonObject) else kind for kind in json_types(hint))


FIELDS = {name: _json_types(hint) for name, hint in typing.get_type_hints(Trial).items()}
# The protocols of rows that moved no file of a share: iperf3's, and those of the server's store
STORE_PROTOCOL = "store"
CEILINGS = ("link", STORE_PROTOCOL)
# The tools of rows of the store: dd on its disk ("disk" in older runs), and in the server's memory
DD, DISK, MEMORY = "dd", "disk", "memory"
# The words that a field can be; other text fields can be any text
WORDS = {factor.name: set(factor.words) for factor in FACTORS if factor.column and factor.words}
WORDS["status"] = {"ok", "void", "failed"}
# The most characters of what names a case in tables and figures; other texts have no limit
LONGEST = {"case_id": 2000, **dict.fromkeys(("protocol", "tool", "workload", "store", "tcp_space"), 500)}
MOST_OPTIONS = 40
_MOST_KEYS = 100  # of run.json, and of a host's facts
_LONGEST_TITLE = 2000
LEAST = 1e-9  # of a measured time: no clock is finer
_RUN_TYPES = {name: _json_types(hint) for name, hint in typing.get_type_hints(RunKeys).items()}


def has_second_shots(run: RunJson) -> bool:
    """Whether the link was also measured after the trials of each network in a block; older runs only did before."""
    return int(run.get("ceiling_shots", 1)) > 1


EMULATED = "emulated Mac, not a measurement of a Mac"


def emulated(run: RunJson) -> str:
    """The warning for a run with an emulated Mac, as each Mac of a local lab is; empty for any other run."""
    macs = [facts for facts in run.get("hosts", {}).values() if facts.get("platform") == "macos"]
    is_local = run.get("instance") is not None
    return EMULATED if any(is_local or str(facts.get("cpu")).startswith("EMULATED") for facts in macs) else ""


def problem(record: object) -> str:
    """Why a record is no trial of this schema; empty if it is one."""
    if not isinstance(record, dict):
        return f"not a trial: {record!r:.60}"
    if record.keys() != FIELDS.keys():
        return f"not a trial of schema {SCHEMA}: unknown or missing: {listing(sorted(record.keys() ^ FIELDS.keys()))}"
    for name, kinds in FIELDS.items():
        if type(record[name]) not in kinds or not _fits(name, record[name]):
            return f"{name} cannot be {record[name]!r:.60}"
    if record["status"] == "ok" and not record["elapsed_s"]:
        return f"elapsed_s cannot be {record['elapsed_s']} where status is ok"
    return ""


def lacking_fields(schema: int) -> dict[str, object]:
    """The fields that a schema lacks, each with its value there."""
    return {name: value for since, fields in ADDED.items() if since > schema for name, value in fields.items()}


def read_line(line: bytes, lacking: Mapping[str, object]) -> tuple[dict[str, typing.Any], str]:
    """The fields of a trial in one line, with those that its schema lacks, and why it is no trial, or empty."""
    try:
        record = from_json(line.decode())
    except ValueError as error:
        return {}, f"not a trial: {error}"
    if lacking and isinstance(record, dict):
        record = {**lacking, **record}
    return record, problem(record)


def read_time(text: str) -> datetime:
    """The time of an ISO 8601 text, in UTC; without a zone it is UTC. Raises ValueError."""
    at = datetime.fromisoformat(text)
    try:
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def is_valid(read: Callable[[], object]) -> bool:
    """Whether this raises no ValueError."""
    try:
        read()
    except ValueError:
        return False
    return True


def _fits(name: str, value: typing.Any) -> bool:
    """Whether a value of a type that this field can have is a known word, text, or a number in range."""
    if name == "started_at":
        return is_valid(lambda: read_time(value))
    if isinstance(value, str):
        return value in WORDS[name] if name in WORDS else _is_text(value) and is_short(name, value)
    if name == "options":
        return are_options(value)
    return value is None or isinstance(value, dict) or value == 0 or LEAST <= value < LARGEST


def is_level(name: str, value: object) -> bool:
    """Whether a factor or an option of a case can have this level."""
    if name not in FIELDS:
        return are_options({name: value}) and _is_text(str(value))
    return type(value) in FIELDS[name] and _fits(name, value)


def is_short(name: str, value: str) -> bool:
    """Whether a text is short enough for this field."""
    return name not in LONGEST or len(value) <= LONGEST[name]


def are_options(value: Mapping[typing.Any, typing.Any]) -> bool:
    """Whether these can be a case's options: few, with short names and levels of text."""
    return len(value) <= MOST_OPTIONS and all(
        isinstance(level, str) and len(level) <= LONGEST["tool"] and len(name) <= LONGEST["tool"]
        for name, level in value.items()
    )


def _is_text(value: str) -> bool:
    """Whether it can be encoded: JSON can name half a surrogate pair, which no file and no terminal can hold."""
    return is_valid(value.encode)


def run_problem(run: RunJson) -> str:
    """Why no lab wrote this run.json; empty if one may have."""
    if len(run) > _MOST_KEYS:
        return f"{len(run):,} keys: at most {_MOST_KEYS}"
    return next(filter(None, (_key_problem(key, value) for key, value in run.items())), "")


def _key_problem(key: str, value: typing.Any) -> str:
    if type(value) not in _RUN_TYPES.get(key, {type(value)}):
        return f"{key} cannot be {value!r:.60}"
    if key == "hosts" and (strange := [side for side, facts in value.items() if not isinstance(facts, dict)]):
        return f"hosts: {strange[0]!r:.60} cannot be {value[strange[0]]!r:.60}"
    if key == "hosts" and (len(value) > _MOST_KEYS or any(len(facts) > _MOST_KEYS for facts in value.values())):
        return f"hosts: more than {_MOST_KEYS} hosts, or facts of one"
    reasons = value.items() if key in ("left_out", "closed", "caveats") else ()
    if strange := [name for name, reason in reasons if not isinstance(reason, str)]:
        return f"{key}: {strange[0]!r:.60} cannot be {value[strange[0]]!r:.60}"
    if len(reasons) > MOST_CASES:
        return f"{key}: {len(value):,} cases: at most {MOST_CASES:,}"
    if key == "ordering" and value not in set(Ordering):
        return f"ordering cannot be {value!r:.60}"
    if key == "load" and not is_load(value):
        return "load is no list of blocks with their hosts' cores"
    if key in ("name", "title") and len(value or "") > _LONGEST_TITLE:
        return f"{key} has {len(value):,} characters: at most {_LONGEST_TITLE:,}"
    try:
        json.dumps({key: value}, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        return f"{key!r:.60} holds what cannot be written: {error}"
    return f"{key} holds a NUL character" if isinstance(value, str) and "\0" in value else ""


def read_run(path: Path) -> RunJson:
    """The content of a run.json, including passwords that a host printed. Raises BadInput for any other file."""
    try:
        run: RunJson = from_json(untrusted.read_file(path, untrusted.MOST_FILE_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BadInput(f"{path.parent}: not a run folder: it has no run.json") from error
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read: {reason_of(error)}") from error
    schema = run.get("schema") if isinstance(run, dict) else None
    if not isinstance(schema, int) or schema < 1:
        raise BadInput(f"{path}: not the run.json of a run: it names no schema")
    if schema > SCHEMA:
        raise BadInput(f"{path}: schema {schema} is newer than this lab's ({SCHEMA}): update the lab")
    if wrong := run_problem(run):
        raise BadInput(f"{path}: {wrong}")
    return run
