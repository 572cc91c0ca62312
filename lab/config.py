"""hosts.ini and sweep files, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key
and what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep.
"""

from __future__ import annotations

import configparser
import math
import re
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails

from lab.errors import BadInput
from lab.values import (
    LARGEST,
    Absolute,
    AccountName,
    Address,
    HostName,
    Instance,
    Interface,
    PasswordSource,
    PlainFolder,
    Port,
    Seconds,
    ShareName,
    Size,
    TcpSpace,
    UserName,
    plain_account,
    plain_folder,
    plain_name,
)

MOST_TRIALS = 100_000  # a week at best; a plan of many more would not fit into memory
# what pydantic says of these is about Python
PLAIN_WORDS = {
    "tuple_type": "is not a list",
    "too_short": "is an empty list; it needs at least one level",
    "model_type": "is not a section",
}


class Model(BaseModel):
    """Frozen; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    _file: Path | None = None

    def model_post_init(self, context: Any) -> None:
        """Remember the file, which :func:`_validated` gives as context."""
        self._file = context

    @property
    def place(self) -> str:
        """How a message about it begins: its file and a colon; empty where it was not read from one."""
        return f"{self._file}: " if self._file else ""


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: HostName
    user: UserName | None = None
    port: Port | None = None
    identity: str | None = None
    known_hosts: str | None = None
    proxy_command: str | None = None
    sudo: Literal["nopasswd", "password", "none"] = "nopasswd"
    sudo_password: PasswordSource = "prompt"
    data_address: Address
    interface: Interface | None = None
    mount_base: PlainFolder = "/tmp"
    ram_disk: Size = 2 * 1024**3
    tune: Literal["yes", "no"] | None = None
    revert_after: Annotated[Seconds, Field(ge=5, le=3600)] = 60.0


class ShareConfig(Model):
    """The ``[share]`` section: what the server offers, and the account that may use it."""

    serve: Literal["lab", "existing"] = "existing"
    path: Absolute | None = None
    name: ShareName = "lab"
    account: AccountName
    password: PasswordSource = "prompt"

    @field_validator("path", "name", "account")
    @classmethod
    def _servers_of_the_lab_can_be_told(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Of a share that is there already, everything is taken that its server could be told."""
        if value is None or info.data.get("serve") != "lab":
            return value
        return {"path": plain_folder, "name": plain_name, "account": plain_account}[str(info.field_name)](value)


class LabConfig(Model):
    """The optional ``[lab]`` section: what stands under every figure, and which local lab these hosts belong to."""

    title: str = ""
    instance: Instance = None


class Hosts(Model):
    """A whole hosts file."""

    client: HostConfig
    server: HostConfig
    share: ShareConfig
    lab: LabConfig = LabConfig()

    def tuned(self, role: str) -> bool:
        """Whether MTU and TCP buffers of a host may be changed; those of a server that shares something anyway may not.

        ``tune`` in its section says otherwise.
        """
        said = getattr(self, role).tune
        return bool(said == "yes") if said else role == "client" or self.share.serve == "lab"

    @model_validator(mode="after")
    def _hosts_are_two(self) -> Self:
        if self.client.data_address.lower() == self.server.data_address.lower():
            raise ValueError(
                "[server] data_address: is that of [client] too; give each host the one that it has itself"
            )
        return self


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
    """A sweep file: what to vary, how often, in which seeded order, and when to stop.

    A transfer of fewer than ``slowest`` bytes a second counts as stuck.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    description: str = ""
    blocks: int = Field(3, ge=1, le=1000, strict=True)
    seed: int = Field(1, ge=0, lt=LARGEST, strict=True)
    time_cap: Seconds | None = None
    ceiling_seconds: Annotated[Seconds, Field(le=600)] = 1.0
    slowest: Size = 2_000_000
    workload: Workload
    factors: Factors

    @model_validator(mode="after")
    def _can_be_planned(self) -> Self:
        counts = {name: len(levels) for name, levels in self.factors}
        trials = self.blocks * math.prod(counts.values())
        if trials > MOST_TRIALS:
            levels = ", ".join(f"{name} {count}" for name, count in counts.items() if count > 1)
            said = f"{trials} trials are more than {MOST_TRIALS}"
            raise ValueError(f"[factors]: {said}: give fewer blocks ({self.blocks}) or fewer levels ({levels})")
        return self


def load_hosts(path: Path) -> Hosts:
    """Read a hosts file. Raises :class:`BadInput`."""
    text = _text(path, "copy the commented hosts.ini and fill it in, or run `lab local up`")
    for number, line in enumerate(text.split("\n"), 1):
        if "\0" in line:
            raise BadInput(f"{path}: line {number}: has a NUL character, which no value may have")
        if re.match(r"\s*\[[^]]*\]\s*[^\s#;]", line):  # the parser would take the section and forget the rest
            raise BadInput(f"{path}: line {number}: after [section] the line must end")
    parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=(";", "#"), default_section="\0")
    try:
        parser.read_string(text, str(path))
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
    return parse_sweep(read_sweep(path), path)


def read_sweep(path: Path) -> str:
    """The text of a sweep file. Raises :class:`BadInput`."""
    return _text(path, "sweeps/ holds the ones that come with the lab")


def parse_sweep(text: str, path: Path) -> Sweep:
    """The sweep written in ``text``; ``path`` is named in errors. Raises :class:`BadInput`."""
    try:
        content = tomllib.loads(text.removeprefix("\ufeff"))  # a run keeps the text of its sweep with it
    except (ValueError, RecursionError) as error:  # not every bad number or depth is a TOMLDecodeError
        raise BadInput(f"{path}: not valid TOML: {error}") from error
    return _validated(Sweep, content, path)


def _text(path: Path, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file; {remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from error


ModelT = TypeVar("ModelT", bound=Model)


def _validated(model: type[ModelT], content: dict[str, Any], path: Path) -> ModelT:
    try:
        return model.model_validate(content, context=path)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # a list whose only level is wrong is not an empty list too
        wrong = {problem["loc"][:-1] for problem in problems}
        problems = [each for each in problems if each["type"] != "too_short" or each["loc"] not in wrong]
        raise BadInput("\n".join(_explain(problem, path, model) for problem in problems)) from error


def _explain(problem: ErrorDetails, path: Path, model: type[Model]) -> str:
    """One line: file, section, key, what is wrong, and what would be right."""
    names = [part for part in problem["loc"] if isinstance(part, str)]
    said = PLAIN_WORDS.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    if not names:  # about the file as a whole, which is not shown: it is long, and may hold what is secret
        return f"{path}: {said}"
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
    found = _exposed(path) if "password" in names[-1] else f" (it is {_shown(problem['input'])})"
    return f"{where}: {said}{found}"


def _exposed(path: Path) -> str:
    """What else is to be done where a password may stand in a file that others can read."""
    try:
        open_to_others = path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
    except OSError:
        open_to_others = 0
    if not open_to_others:
        return ""
    chmod = shlex.join(["chmod", "600", str(path)])
    return f"; others can read this file: `{chmod}`, and change a password that stood here"


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return "a number of very many digits"
