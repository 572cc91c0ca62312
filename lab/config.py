"""hosts.ini and sweep files, read into frozen models.

Whatever is wrong ends here, before anything is touched, as one message that names the file, the section, the key
and what would be right. An unknown section or key is an error: a misspelt one must not silently change a sweep.
"""

from __future__ import annotations

import configparser
import re
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails

from lab.errors import BadInput
from lab.sweep_file import MOST_TRIALS as MOST_TRIALS
from lab.sweep_file import Factors as Factors
from lab.sweep_file import Model
from lab.sweep_file import Sweep as Sweep
from lab.values import (
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
    SshAlgorithms,
    UserName,
    plain_account,
    plain_folder,
    plain_name,
)

# what pydantic says of these is about Python
PLAIN_WORDS = {
    "tuple_type": "is not a list",
    "too_short": "is an empty list; it needs at least one level",
    "model_type": "is not a section",
}


class HostConfig(Model):
    """One ``[client]`` or ``[server]`` section: how to reach the host, and what the lab may use on it."""

    host: HostName
    user: UserName | None = None
    port: Port | None = None
    identity: str | None = None
    known_hosts: str | None = None
    proxy_command: str | None = None
    transport: Literal["paramiko", "openssh"] = "paramiko"
    ssh_algorithms: SshAlgorithms = ()
    sudo: Literal["nopasswd", "password", "none"] = "nopasswd"
    sudo_password: PasswordSource = "prompt"
    data_address: Address
    interface: Interface | None = None
    mount_base: PlainFolder = "/tmp"
    ram_disk: Size = 2 * 1024**3
    ram_disk_format: Literal["tmpfs", "ext4", "hfs", "hfs-case", "apfs"] | None = None
    tune: Literal["yes", "no"] | None = None
    revert_after: Annotated[Seconds, Field(ge=5, le=3600)] = 60.0

    @field_validator("ssh_algorithms")
    @classmethod
    def _only_openssh_has_old_ones(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if value and info.data.get("transport") == "paramiko":
            raise ValueError("is for transport = openssh: paramiko has only those that are safe")
        return value


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
    section, unknown = model, False
    for depth, name in enumerate(names):
        field = section.model_fields.get(name)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, Model)):
            names, unknown = names[: depth + 1], field is None
            break
        section = field.annotation
    where = ": ".join([str(path), " ".join([*(f"[{name}]" for name in names[:-1]), names[-1]])])
    is_table = problem["type"] == "extra_forbidden" and isinstance(problem["input"], dict)
    if len(names) == 1 and (section is not model or is_table):
        where = f"{path}: [{names[-1]}]"
    if unknown:
        return f"{where}: unknown; what may stand here is {', '.join(section.model_fields)}"
    if problem["type"] == "missing":
        return f"{where}: missing"
    found = _exposed(path) if "password" in names[-1] else f" (it is {shown(problem['input'])})"
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


def shown(value: Any) -> str:
    """What stands in a file, for a message: not all of it where it is long."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # Python refuses to write out integers of thousands of digits
        return "a number of very many digits"
