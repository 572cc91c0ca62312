"""What to do after `lab init`: open points, and the next commands."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from lab.base import shipped
from lab.base.addresses import for_command
from lab.init.questions import Answers

SWEEP_OF_LAB, SWEEP_OF_SHARE = "macs", "share"  # that come with the lab


def describe(answers: Answers, path: Path, problems: bool) -> Iterator[str]:
    """The lines to print; ``problems``: whether `lab check` found any."""
    for point in _open_points(answers, path):
        yield f"to do: {point}"
    yield "next, once no problem is left:" if problems else "next:"
    for command in [*([_with_hosts("lab check", path)] if problems else []), *_measuring_commands(answers, path)]:
        yield f"  {command}"


def _open_points(answers: Answers, path: Path) -> Iterator[str]:
    """What only a person can do."""
    kind, _, where = answers.account.password.partition(":")
    if kind == "keyring":
        command = shlex.join(["keyring", "set", where, answers.account.name])
        yield f"`{command}` puts the share's password into the keyring"
    if kind == "env":
        yield f"the share's password is taken from the environment variable {where}"
    if answers.share.guessed:
        yield f"{path}: [share] path = {answers.share.path} is a guess: put in the share's folder on the server"
    if (answers.client.host or answers.server.host) and answers.share.protocol in ("nfs", "afp"):
        sweep = shipped.sweeps()[SWEEP_OF_SHARE]
        yield f'{sweep} measures SMB: give protocol = ["{answers.share.protocol}"] in a copy of it'
    if answers.sudo == "helper":
        yield f"`{_with_hosts('lab host install', path)}` puts the lab's helper there"


def _measuring_commands(answers: Answers, path: Path) -> Iterator[str]:
    """`lab measure` if this machine mounts an existing share; a sweep if the lab logs in to another machine."""
    share, server, source = answers.share, answers.server, answers.account.password
    if not answers.client.host and not share.by_lab:
        words = ["lab", "measure", share.mounted or _share_url(answers)]
        words += ["--server", f"{server.user}@{server.host}"] if server.host else []
        words += ["--password", source] if source != "prompt" and share.name else []
        yield shlex.join(words)
    if answers.client.host or server.host:
        sweep = SWEEP_OF_LAB if share.by_lab else SWEEP_OF_SHARE
        yield f"lab plan {sweep}"
        yield _with_hosts(f"lab run {sweep}", path)


def _share_url(answers: Answers) -> str:
    """The share as a URL."""
    share = answers.share
    address = for_command(answers.server.address)
    if share.protocol == "nfs":
        return f"nfs://{address}{quote(share.path)}"
    return f"{share.protocol}://{quote(answers.account.name)}@{address}/{quote(share.name)}"


def _with_hosts(command: str, path: Path) -> str:
    """The command with --hosts, unless the file is the default."""
    return command if path == Path("hosts.ini") else f"{command} --hosts {shlex.quote(str(path))}"
