"""hosts.ini and sweep files, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key
and what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from lab.errors import BadInput

UNITS = {"": 1, "B": 1}
UNITS |= {f"{prefix}B": 1000 ** (power + 1) for power, prefix in enumerate("kMGT")}
UNITS |= {f"{prefix}iB": 1024 ** (power + 1) for power, prefix in enumerate("KMGT")}
SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600}
LARGEST = 2**63  # of seeds, sizes and times: what every file format and every tool below can still hold


def parse_size(value: Any) -> int:
    """Bytes of ``"64 MiB"``, ``"1.5 GB"`` or ``65536``; ValueError otherwise. KiB is 1024 bytes, kB 1000."""
    return round(_quantity(value, UNITS, "a size such as 64 KiB, 512 MiB or 4 GiB", least=1))


def parse_seconds(value: Any) -> float:
    """Seconds of ``"90 s"``, ``"5 min"``, ``"2 h"`` or ``300``; ValueError otherwise."""
    return _quantity(value, SECONDS, "a time such as 90 s, 5 min or 2 h", least=0.001)


def _quantity(value: Any, units: dict[str, int], expected: str, least: float) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value)) if not isinstance(value, bool) else None
    found = float(match[1]) * units.get(match[2], 0) if match else 0.0
    if not least <= found < LARGEST:
        raise ValueError(f"is not {expected}")
    return found


def _space(value: Any) -> int | str:
    return "default" if value == "default" else parse_size(value)


def _password(value: str) -> str:
    if not re.fullmatch(r"prompt|(env|file|keyring):.+", value):
        raise ValueError("is prompt, env:VARIABLE, file:PATH or keyring:SERVICE; a password itself never stands here")
    return value


Size = Annotated[int, BeforeValidator(parse_size)]
Seconds = Annotated[float, BeforeValidator(parse_seconds)]
TcpSpace = Annotated[int | Literal["default"], BeforeValidator(_space)]
Absolute = Annotated[str, Field(pattern=r"^(/|~/)[^\n\x00]*$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,63}$")]


class Model(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: str = Field(min_length=1)
    user: str | None = None
    port: int | None = Field(None, ge=1, le=65535)
    identity: str | None = None
    known_hosts: str | None = None
    proxy_command: str | None = None
    sudo: Literal["nopasswd", "password", "none"] = "nopasswd"
    sudo_password: Annotated[str, AfterValidator(_password)] = "prompt"
    data_address: str = Field(min_length=1)
    interface: str | None = None
    mount_base: Absolute = "/tmp"
    ram_disk: Size = 2 * 1024**3


class ShareConfig(Model):
    """The ``[share]`` section: what the server offers, and the account that may use it."""

    serve: Literal["lab", "existing"] = "existing"
    path: Absolute | None = None
    name: Name = "lab"
    account: str = Field(min_length=1, pattern=r"^[^\n:/;@]+$")
    password: Annotated[str, AfterValidator(_password)] = "prompt"


class LabConfig(Model):
    """The optional ``[lab]`` section: what stands under every figure, and which local lab these hosts belong to."""

    title: str = ""
    instance: str | None = None


class Hosts(Model):
    """A whole hosts file."""

    client: HostConfig
    server: HostConfig
    share: ShareConfig
    lab: LabConfig = LabConfig()


class Workload(Model):
    """What is moved. ``kind`` names a payload in ``lab/workloads``."""

    kind: str = "file"
    size: Size


class Factors(Model):
    """The levels that a sweep varies; their product, less what cannot be combined, is its cases."""

    protocol: tuple[str, ...] = Field(min_length=1)
    tool: tuple[str, ...] = Field(("cp",), min_length=1)
    direction: tuple[Literal["write", "read"], ...] = Field(("write", "read"), min_length=1)
    mtu: tuple[Annotated[int, Field(ge=576, le=65535, strict=True)], ...] = Field((1500,), min_length=1)
    tcp_space: tuple[TcpSpace, ...] = Field(("default",), min_length=1)
    store: tuple[Literal["ram", "disk"], ...] = Field(("ram",), min_length=1)

    @field_validator("*")
    @classmethod
    def _levels_are_unique(cls, levels: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(set(levels)) != len(levels):
            raise ValueError("has a level twice")
        return levels


class Sweep(Model):
    """A sweep file: what to vary, how often, in which seeded order, and when to stop."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    description: str = ""
    blocks: int = Field(3, ge=1, le=1000, strict=True)
    seed: int = Field(1, ge=0, lt=LARGEST, strict=True)
    time_cap: Seconds | None = None
    ceiling_seconds: Seconds = 1.0
    workload: Workload
    factors: Factors


def load_hosts(path: Path) -> Hosts:
    """Read a hosts file. Raises :class:`BadInput`."""
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"), default_section="\0")
    try:
        parser.read_string(_text(path, "copy the commented hosts.ini and fill it in, or run `lab local up`"), str(path))
    except configparser.ParsingError as error:
        # its own message would repeat the line, which may hold a password
        where = getattr(error, "lineno", None) or error.errors[0][0]
        raise BadInput(f"{path}: line {where}: neither [section] nor `key = value` inside a section") from None
    except configparser.Error as error:
        raise BadInput(f"{path}: {' '.join(str(error).split())}") from error
    content = {name: dict(parser[name]) for name in parser.sections()}
    for section, key in ((section, key) for section, keys in content.items() for key in keys):
        if "\n" in content[section][key]:  # an indented key would silently become part of the one above it
            raise BadInput(f"{path}: [{section}] {key}: goes on in the next line; a key must not be indented")
    return _validated(Hosts, content, path)


def load_sweep(path: Path) -> Sweep:
    """Read a sweep file. Raises :class:`BadInput`."""
    return parse_sweep(_text(path, "sweeps/ holds the ones that come with the lab"), path)


def parse_sweep(text: str, path: Path) -> Sweep:
    """The sweep written in ``text``; ``path`` is named in errors. Raises :class:`BadInput`."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # not every bad number or depth is a TOMLDecodeError
        raise BadInput(f"{path}: not valid TOML: {error}") from error
    return _validated(Sweep, content, path)


def _text(path: Path, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file; {remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


ModelT = TypeVar("ModelT", bound=Model)


def _validated(model: type[ModelT], content: dict[str, Any], path: Path) -> ModelT:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise BadInput("\n".join(_explain(problem, path, model) for problem in problems)) from error


def _explain(problem: ErrorDetails, path: Path, model: type[Model]) -> str:
    """One line: file, section, key, what is wrong, and what would be right."""
    names = [part for part in problem["loc"] if isinstance(part, str)]
    section = model
    for depth, name in enumerate(names):
        field = section.model_fields.get(name)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, Model)):
            names = names[: depth + 1]
            break
        section = field.annotation
    where = ": ".join([str(path), " ".join([*(f"[{name}]" for name in names[:-1]), names[-1]])])
    is_table = problem["type"] == "extra_forbidden" and isinstance(problem["input"], dict)
    if len(names) == 1 and (section is not model or is_table):
        where = f"{path}: [{names[-1]}]"
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown; what may stand here is {', '.join(section.model_fields)}"
    if problem["type"] == "missing":
        return f"{where}: missing"
    found = "" if "password" in names[-1] else f" (it is {_shown(problem['input'])})"
    return f"{where}: {problem['msg'].removeprefix('Value error, ')}{found}"


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return "a number of very many digits"
